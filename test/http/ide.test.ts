import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/config.ts';
import { announce } from '../../src/process/run.ts';
import { startBoth } from '../kit/gateway.ts';
import { examples } from '../kit/schema.ts';
import { secretSigner } from '../kit/tokens.ts';

type Both = Awaited<ReturnType<typeof startBoth>>;
type Headers = Record<string, string>;

/** What browsers say they take when a person opens an address. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8' };
const PREFLIGHTED = { 'apollo-require-preflight': 'true' };
const HEADERS = '{\n  "authorization": "Bearer "\n}';
const QUERY = '/graphql?query={__typename}';

const folder = mkdtempSync(join(tmpdir(), 'ide-'));
const tokensFile = join(folder, 'tokens.json');
writeFileSync(tokensFile, '[]');
afterAll(() => rmSync(folder, { recursive: true }));

let development: Both;
let production: Both;
beforeAll(async () => {
  development = await startBoth();
  production = await startBoth({ NODE_ENV: 'production', ...secretSigner().env });
});
afterAll(async () => {
  await development.close();
  await production.close();
});

/** What a GET brings: status and kind of content, and the code of the error or the query's answer. */
async function get({ gateway }: Both, path: string, headers: Headers) {
  const response = await fetch(`${gateway.url}${path}`, { headers });
  const [kind] = (response.headers.get('content-type') ?? '').split(';');
  const text = await response.text();
  if (kind !== 'application/json') return [response.status, kind];
  const { data, errors } = JSON.parse(text);
  return [response.status, kind, data ?? errors[0].extensions.code];
}

const JSON_TYPE = 'application/json';
const NOT_FOUND = [404, JSON_TYPE, 'BAD_REQUEST'];
const ANSWER = [200, JSON_TYPE, { __typename: 'Query' }];

describe('in development', () => {
  test.each<[string, string, Headers, unknown[]]>([
    ['a browser at /graphql', '/graphql', BROWSER, [200, 'text/html']],
    ['a browser at /graphiql', '/graphiql', BROWSER, [200, 'text/html']],
    ['a browser at a mistyped /graphiq', '/graphiq', BROWSER, NOT_FOUND],
    ['a browser at a mistyped /graphiql/', '/graphiql/', BROWSER, NOT_FOUND],
    ['a browser at /', '/', BROWSER, [200, 'text/html']],
    ['a program at /', '/', { accept: '*/*' }, [200, 'text/html']],
    ['a program that asks for JSON, with a query', QUERY, { accept: JSON_TYPE, ...PREFLIGHTED }, ANSWER],
    ['a program that takes anything, with a query', QUERY, { accept: '*/*', ...PREFLIGHTED }, ANSWER],
    [
      'a program that asks for JSON, without a query',
      '/graphql',
      { accept: JSON_TYPE, ...PREFLIGHTED },
      [400, JSON_TYPE, 'BAD_REQUEST'],
    ],
    ['a page of another site that embeds a query', QUERY, { accept: '*/*' }, [400, JSON_TYPE, 'BAD_REQUEST']],
  ])('%s', async (_who, path, headers, expected) => {
    expect(await get(development, path, headers)).toEqual(expected);
  });

  test('/graphql embeds the Sandbox, with the first example, without telemetry', async () => {
    const response = await fetch(`${development.gateway.url}/graphql`, { headers: BROWSER });
    const config: unknown = JSON.parse(/\.\.\.(\{.*\}), initialEndpoint/.exec(await response.text())?.[1] ?? 'null');
    expect(config).toMatchObject({
      initialState: { document: examples[0]?.document, pollForSchemaUpdates: false },
      runTelemetry: false,
    });
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  test('/graphiql loads only its own script, which browsers keep and which has every example', async () => {
    const { url } = development.gateway;
    const response = await fetch(`${url}/graphiql`, { headers: BROWSER });
    const page = await response.text();
    const paths = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    expect(paths).toEqual(['data:,', expect.stringMatching(/^\/graphiql\/script\.js\?[0-9a-f]{16}$/)]);
    const script = await fetch(url + paths[1]);
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const code = await script.text();
    for (const { document, variables } of examples) {
      expect(code.includes(JSON.stringify(document))).toBe(true);
      expect(variables === undefined || code.includes(JSON.stringify(variables))).toBe(true);
    }
    // Every tab begins with a line for the token; this gateway wants none, so nothing is said of it.
    expect(code).toContain(JSON.stringify({ headers: HEADERS }).slice(1, -1));
    expect(page).not.toContain('needs a token');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'; ");
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('no example has a fixed idempotency key', () => {
    expect(JSON.stringify(examples)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  });
});

describe('in development with tokens', () => {
  test.each<[string, Record<string, string>, string]>([
    ['JWT_SECRET', secretSigner().env, 'npm run token -- --sub demo-player --recipe phone-app'],
    [
      'JWT_JWKS_URL',
      { JWT_JWKS_URL: 'http://127.0.0.1:9/keys', JWT_ISSUER: 'https://issuer.example', JWT_AUDIENCE: 'a' },
      'Tokens are issued by https://issuer.example.',
    ],
    ['CLIENT_TOKENS_FILE', { CLIENT_TOKENS_FILE: tokensFile }, 'npm run token -- --client my-tool --recipe support'],
  ])('%s: the start page and GraphiQL say how to get one', async (_setting, env, how) => {
    const both = await startBoth(env);
    for (const [path, accept] of [
      ['/', '*/*'],
      ['/', BROWSER.accept],
      ['/graphiql', BROWSER.accept],
    ] as const) {
      const text = await (await fetch(both.gateway.url + path, { headers: { accept } })).text();
      expect([path, text.includes(how)]).toEqual([path, true]);
    }
    await both.close();
  });

  test('the text at the start says so too; of an open gateway it says that it is open', () => {
    const urls = { gateway: 'http://127.0.0.1:1', rest: 'http://127.0.0.1:2', management: 'http://127.0.0.1:3' };
    const withTokens = announce(loadConfig(secretSigner().env), urls);
    expect(withTokens).toMatch(
      /TOKENS: every request needs one.*`npm run token -- --sub demo-player --recipe phone-app`/,
    );
    expect(withTokens).not.toContain('OPEN');
    const open = announce(loadConfig({}), urls);
    expect(open).toMatch(/OPEN: no token setting is given/);
    expect(open).not.toContain('npm run token');
  });

  test('the start page leads to everything that there is, and loads nothing', async () => {
    const { url } = development.gateway;
    const response = await fetch(`${url}/`, { headers: BROWSER });
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'");
    const paths = [...(await response.text()).matchAll(/href="([^"]+)"/g)].map(([, path]) => path);
    expect(paths).toEqual(['/graphql', '/graphiql', '/schema.graphql']);
    for (const path of paths) expect((await get(development, path ?? '', BROWSER))[0]).toBe(200);
  });
});

describe('in production there is no page', () => {
  test.each<[string, string, Headers, unknown[]]>([
    ['a browser at /graphql', '/graphql', BROWSER, [401, JSON_TYPE, 'UNAUTHENTICATED']],
    ['a browser at /graphql with a query', QUERY, { ...BROWSER, ...PREFLIGHTED }, [401, JSON_TYPE, 'UNAUTHENTICATED']],
    ['a browser at /graphiql', '/graphiql', BROWSER, NOT_FOUND],
    ['a browser at /', '/', BROWSER, NOT_FOUND],
  ])('%s', async (_who, path, headers, expected) => {
    expect(await get(production, path, headers)).toEqual(expected);
  });
});
