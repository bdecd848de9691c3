import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse, validate } from 'graphql';
import { loadConfig } from '../../src/config/config.ts';
import { announce } from '../../src/process/run.ts';
import { newFile } from '../kit/at-end.ts';
import { startGateway, type TestGateway } from '../kit/gateway.ts';
import { examples, schema } from '../kit/schema.ts';
import { secretSigner } from '../kit/tokens.ts';

type Headers = Record<string, string>;

/** What browsers accept when a person opens an address. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8' };
const PREFLIGHTED = { 'apollo-require-preflight': 'true' };
const QUERY = '/graphql?query={__typename}';
const PROGRAM = { accept: 'application/json', ...PREFLIGHTED };
const BAD_REQUEST = [400, 'application/json', 'BAD_REQUEST'];
const NOT_FOUND = [404, 'application/json', 'BAD_REQUEST'];
const REFUSED = [401, 'application/json', 'UNAUTHENTICATED'];
const ANSWER = [200, 'application/json', { __typename: 'Query' }];
const PAGE = [200, 'text/html'];

const NO_SERVICE = 'http://127.0.0.1:9';
const development = await startGateway(NO_SERVICE);
const production = await startGateway(NO_SERVICE, { NODE_ENV: 'production', ...secretSigner().env });

const read = (path: string) => readFileSync(new URL(`../..${path}`, import.meta.url), 'utf8');

/** Status and type of the response to a GET, and the code of the error or the data. */
async function get({ url }: TestGateway, path: string, headers: Headers) {
  const response = await fetch(url + path, { headers });
  const [type] = (response.headers.get('content-type') ?? '').split(';');
  const text = await response.text();
  if (type !== 'application/json') return [response.status, type];
  const { data, errors } = JSON.parse(text);
  return [response.status, type, data ?? errors[0].extensions.code];
}

test.each<[string, string, Headers, unknown[]]>([
  ['a browser at /graphql', '/graphql', BROWSER, PAGE],
  ['a browser at /graphiql', '/graphiql', BROWSER, PAGE],
  ['a browser at a mistyped /grahpiql', '/grahpiql', BROWSER, NOT_FOUND],
  ['a browser at /', '/', BROWSER, PAGE],
  ['a browser at a file that the start page does not link', '/docs/benchmarks.json', BROWSER, NOT_FOUND],
  ['a program at /', '/', { accept: '*/*' }, PAGE],
  ['a program that asks for JSON, with a query', QUERY, PROGRAM, ANSWER],
  ['a program that takes anything, with a query', QUERY, { accept: '*/*', ...PREFLIGHTED }, ANSWER],
  ['a program that asks for JSON, without a query', '/graphql', PROGRAM, BAD_REQUEST],
  ['a page of another site that embeds a query', QUERY, { accept: '*/*' }, BAD_REQUEST],
])('in development: %s', async (_who, path, headers, expected) => {
  expect(await get(development, path, headers)).toEqual(expected);
});

test.each<[string, string, Headers, unknown[]]>([
  ['a browser at /graphql', '/graphql', BROWSER, REFUSED],
  ['a browser at /graphql with a query', QUERY, { ...BROWSER, ...PREFLIGHTED }, REFUSED],
  ['a browser at /graphiql', '/graphiql', BROWSER, NOT_FOUND],
  ['a browser at /', '/', BROWSER, NOT_FOUND],
  ['a browser at /docs/clients.md', '/docs/clients.md', BROWSER, NOT_FOUND],
])('in production, without any page: %s', async (_who, path, headers, expected) => {
  expect(await get(production, path, headers)).toEqual(expected);
});

test('the start page leads to everything that there is, says that no token is needed, and asks only its gateway', async () => {
  const response = await fetch(development.url, { headers: BROWSER });
  const policy = /^default-src 'none'; .*connect-src 'self'.*script-src 'sha256-[^']+'$/;
  expect(response.headers.get('content-security-policy')).toMatch(policy);
  const page = await response.text();
  expect(page.length).toBeLessThan(15_000);
  expect(page).toMatch(/This gateway is open: no token is needed.*apollo-require-preflight/s);
  const paths = [...page.matchAll(/href="(\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(paths).toEqual(expect.arrayContaining(['/graphql', '/graphiql', '/schema.graphql']));
  expect(paths.filter((path) => path.includes('demo-throttled'))).toHaveLength(1);
  for (const path of paths) expect((await get(development, path, BROWSER))[0]).toBe(200);
  const pages = paths.filter((path) => path.endsWith('.md'));
  expect(pages).toEqual(expect.arrayContaining(['/docs/clients.md', '/docs/operations.md', '/CONTRIBUTING.md']));
  for (const path of pages) {
    const page = await fetch(development.url + path, { headers: BROWSER });
    expect([page.headers.get('content-type'), await page.text()]).toEqual(['text/plain; charset=utf-8', read(path)]);
  }
  const queries = paths.flatMap((path) => new URL(path, development.url).searchParams.get('query') ?? []);
  for (const query of queries) expect(validate(schema, parse(query))).toEqual([]);
});

test.each(['/', '/graphql', '/graphiql'])('%s may show its own icon', async (path) => {
  const response = await fetch(development.url + path, { headers: BROWSER });
  expect(await response.text()).toContain('<link rel="icon" href="data:,">');
  expect(response.headers.get('content-security-policy')).toContain('; img-src data:;');
});

test('/graphql embeds the Sandbox with the first example, without telemetry, beside a link to the IDE', async () => {
  const response = await fetch(`${development.url}/graphql`, { headers: BROWSER });
  const page = await response.text();
  expect(JSON.parse(/\.\.\.(\{.*\}), initialEndpoint/.exec(page)?.[1] ?? 'null')).toMatchObject({
    initialState: { document: examples[0]?.document, pollForSchemaUpdates: false },
    runTelemetry: false,
  });
  expect(page).toContain('<a href="/graphiql">The IDE</a>');
  expect(response.headers.get('cache-control')).toBe('no-store');
});

test('/graphiql loads only its own script, which browsers keep and which has every example', async () => {
  const response = await fetch(`${development.url}/graphiql`, { headers: BROWSER });
  const page = await response.text();
  const paths = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
  expect(paths).toEqual(['data:,', expect.stringMatching(/^\/graphiql\/script\.js\?[0-9a-f]{16}$/)]);
  const script = await fetch(development.url + paths[1]);
  expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  const code = await script.text();
  const parts = examples.flatMap(({ document, variables = [] }) => [document, variables].flat());
  expect(parts.filter((part) => !code.includes(JSON.stringify(part)))).toEqual([]);
  // Every tab begins with a line for the token; this gateway wants none, so nothing is said of it.
  expect(code).toContain("headers: JSON.stringify({ authorization: 'Bearer ' }, undefined, 2)");
  expect(page).not.toContain('needs a token');
  const policy = /^default-src 'none'; script-src 'self'; .*; img-src data:; connect-src 'self'; /;
  expect(response.headers.get('content-security-policy')).toMatch(policy);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});

test('no example has a fixed idempotency key', () => {
  expect(JSON.stringify(examples)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
});

describe('with tokens', () => {
  const provider = { JWT_JWKS_URL: `${NO_SERVICE}/keys`, JWT_ISSUER: 'https://issuer.example', JWT_AUDIENCE: 'a' };
  const clients = { CLIENT_TOKENS_FILE: newFile('tokens.json', []) };
  test.each<[string, Record<string, string>, string]>([
    ['JWT_SECRET', secretSigner().env, 'npm run token -- --sub demo-player --recipe phone-app'],
    ['JWT_JWKS_URL', provider, 'Tokens are issued by https://issuer.example.'],
    ['CLIENT_TOKENS_FILE', clients, 'npm run token -- --client my-tool --recipe support'],
  ])('%s: the start page and the IDE say how to get one', async (_setting, env, how) => {
    const gateway = await startGateway(NO_SERVICE, env);
    for (const path of ['/', '/graphiql']) expect(await (await fetch(gateway.url + path)).text()).toContain(how);
  });

  test('the text at the start says so too; of an open gateway it says that it is open', () => {
    const urls = { gateway: 'http://127.0.0.1:1', rest: 'http://127.0.0.1:2', management: 'http://127.0.0.1:3' };
    const withTokens = announce(loadConfig(secretSigner().env), urls);
    expect(withTokens).toMatch(/TOKENS: every request needs one.*`npm run token -- --sub demo-player/);
    expect(withTokens).not.toContain('OPEN');
    const open = announce(loadConfig({}), urls);
    expect(open).toMatch(/OPEN: no token setting is given/);
    expect(open).not.toMatch(/npm run token|GraphiQL/);
    expect(open).toMatch(/^ {2}IDE {14}http:\/\/127\.0\.0\.1:1\/graphiql /m);
    const listed = loadConfig({ PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_FILE: 'listed.json' });
    expect([announce(listed, urls), open].map((text) => text.includes('Try it'))).toEqual([false, true]);
  });
});
