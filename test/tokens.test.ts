import { createHash, createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { startGateway, type TestGateway } from './kit/gateway.ts';
import { type RawAnswer, type RawRequest, raw, requestBytes } from './kit/raw.ts';
import {
  claims,
  header,
  type Json,
  keySigner,
  now,
  part,
  type Signer,
  secretSigner,
  signed,
  token,
  UNLIMITED,
} from './kit/tokens.ts';
import { startUpstream, type Upstream } from './kit/upstream.ts';

/*
 * Who forges a token gets nothing: 401, one sentence for every reason, and the REST service hears nothing. Every forgery is
 * tried against a key set, and the ones that depend on the key against every other kind of key.
 */

const QUERY = JSON.stringify({ query: '{ player(playerUniqueId: "p1") { id attributes { email } } }' });
const JSON_BODY = 'Content-Type: application/json';

const folder = mkdtempSync(join(tmpdir(), 'tokens-'));
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

let upstream: Upstream;
const open: TestGateway[] = [];
async function gatewayWith(env: Record<string, string>): Promise<TestGateway> {
  const gateway = await startGateway(upstream.url, { ...UNLIMITED, ...env });
  open.push(gateway);
  return gateway;
}

beforeAll(async () => {
  upstream = await startUpstream();
});
beforeEach(() => upstream.forget());
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  for (const gateway of open) await gateway.close();
  await upstream.close();
  rmSync(folder, { recursive: true });
});

const ask = (gateway: TestGateway, { headers = [], ...request }: RawRequest): Promise<RawAnswer> =>
  raw(gateway.url, requestBytes({ body: QUERY, ...request, headers: [JSON_BODY, ...headers] }));
const bearer = (gateway: TestGateway, jwt: string) => ask(gateway, { headers: [`Authorization: Bearer ${jwt}`] });

function expectRefused({ status, head, body }: RawAnswer): void {
  expect({ status, challenge: /\r\nwww-authenticate: bearer/.test(head), upstream: upstream.calls() }).toEqual({
    status: 401,
    challenge: true,
    upstream: [],
  });
  const { data, errors } = JSON.parse(body);
  expect(data).toBeUndefined();
  expect(errors).toEqual([
    {
      message: 'A valid bearer token is needed in the Authorization header.',
      extensions: expect.objectContaining({ code: 'UNAUTHENTICATED' }),
    },
  ]);
}

function expectLetIn({ status, body }: RawAnswer): void {
  expect({ status, ...JSON.parse(body) }).toMatchObject({
    status: 200,
    data: { player: { id: 'p1', attributes: { email: 'p1@example.com' } } },
  });
}

/** A forgery: what is sent instead of an honest token. */
type Forgery = (signer: Signer) => RawRequest;

const withToken =
  (make: (signer: Signer) => string): Forgery =>
  (signer) => ({
    headers: [`Authorization: Bearer ${make(signer)}`],
  });
const withHeader = (more: Json) => withToken((signer) => signed(signer, header(signer, more), claims()));
const withClaims = (more: Json) => withToken((signer) => token(signer, more));
const without = (name: string) =>
  withToken((signer) => {
    const { [name]: _, ...rest } = claims();
    return signed(signer, header(signer), rest);
  });
const hmac = (key: string | Buffer, alg = 'HS256') =>
  withToken((signer) =>
    signed(
      {
        sign: (input) =>
          createHmac(`sha${alg.slice(2)}`, key)
            .update(input)
            .digest(),
      },
      header(signer, { alg }),
      claims(),
    ),
  );
const split = (jwt: string) => jwt.split('.') as [string, string, string];
const stranger: Record<string, Signer> = {
  HS256: secretSigner(),
  RS256: keySigner('RS256', 'first'),
  ES256: keySigner('ES256', 'first'),
  EdDSA: keySigner('EdDSA', 'first'),
};

const forgeries: [name: string, forgery: Forgery][] = [
  ['no Authorization header', () => ({})],
  ['an empty Authorization header', () => ({ headers: ['Authorization: '] })],
  ['a scheme alone', () => ({ headers: ['Authorization: Bearer'] })],
  ['a scheme and white space', () => ({ headers: ['Authorization: Bearer    '] })],
  ...['none', 'None', 'NONE', 'nOnE', ''].map((alg): [string, Forgery] => [
    `the algorithm "${alg}" without a signature`,
    withToken((signer) => `${part(header(signer, { alg }))}.${part(claims())}.`),
  ]),
  ['the algorithm none with a signature', withHeader({ alg: 'none' })],
  ['an algorithm that is a list', withHeader({ alg: ['none'] })],
  ['no algorithm', withToken((signer) => signed(signer, { typ: 'JWT' }, claims()))],
  ['an unknown algorithm', withHeader({ alg: 'HS1' })],
  [
    'another algorithm of the same family',
    withToken((s) => signed(s, header(s, { alg: `${s.alg.slice(0, 2)}512` }), claims())),
  ],
  ['an HMAC with no key', hmac('')],
  ['an HMAC with a guessed key', hmac('secret')],
  ['an HMAC with the issuer as key', hmac('https://login.example', 'HS512')],
  ['the signature of another key', withToken((s) => signed(stranger[s.alg] ?? s, header(s), claims()))],
  [
    'the signature of another kind of key',
    withToken((s) => signed(stranger['EdDSA'] ?? s, header(s, { alg: 'RS256' }), claims())),
  ],
  [
    'a signature of zeros',
    withToken((s) => `${part(header(s))}.${part(claims())}.${Buffer.alloc(64).toString('base64url')}`),
  ],
  ['a stripped signature', withToken((s) => token(s).replace(/[^.]+$/, ''))],
  ['a truncated signature', withToken((s) => token(s).slice(0, -6))],
  ['a signature with one bit changed', withToken((s) => flipped(token(s)))],
  ['two parts', withToken((s) => token(s).replace(/\.[^.]+$/, ''))],
  ['one part', withToken((s) => part(header(s)))],
  ['four parts', withToken((s) => `${token(s)}.e30`)],
  ['five parts, as an encrypted token has', withToken((s) => `${token(s)}.e30.e30`)],
  ['a leading dot', withToken((s) => `.${token(s)}`)],
  ['a header that is not JSON', withToken((s) => signed(s, 'alg', claims()))],
  ['a header that is a list', withToken((s) => signed(s, '[]', claims()))],
  ['a payload that is not JSON', withToken((s) => signed(s, header(s), 'sub'))],
  ['a payload that is a list', withToken((s) => signed(s, header(s), [claims()]))],
  ['a payload that is null', withToken((s) => signed(s, header(s), 'null'))],
  [
    'a truncated payload',
    withToken((s) => token(s).replace(/\.([^.]+)\./, (_, payload) => `.${payload.slice(0, -4)}.`)),
  ],
  [
    'another payload under a remembered signature',
    withToken((s) => {
      const [head, , signature] = split(honest.get(s) ?? '');
      return `${head}.${part(claims({ sub: 'p2', scope: 'any-player players:read' }))}.${signature}`;
    }),
  ],
  [
    'another header under a remembered signature',
    withToken((s) => {
      const [, payload, signature] = split(honest.get(s) ?? '');
      return `${part(header(s, { more: 1 }))}.${payload}.${signature}`;
    }),
  ],
  ['another issuer', withClaims({ iss: 'https://evil.example' })],
  ['an issuer with a slash more', withClaims({ iss: 'https://login.example/' })],
  ['a list of issuers', withClaims({ iss: ['https://login.example'] })],
  ['no issuer', without('iss')],
  ['another audience', withClaims({ aud: 'another-service' })],
  ['the audience in capitals', withClaims({ aud: 'REFERRAL-GATEWAY' })],
  ['a list of other audiences', withClaims({ aud: ['one', 'two'] })],
  ['an empty list of audiences', withClaims({ aud: [] })],
  ['no audience', without('aud')],
  ['an expiry a minute and a bit ago', withClaims({ exp: now() - 65 })],
  ['an expiry long ago', withClaims({ exp: 1 })],
  ['an expiry of 0', withClaims({ exp: 0 })],
  ['a negative expiry', withClaims({ exp: -1 })],
  ['an expiry as text', withClaims({ exp: String(now() + 3_600) })],
  ['an expiry of true', withClaims({ exp: true })],
  ['an expiry of null', withClaims({ exp: null })],
  [
    'an expiry without end',
    withToken((s) => signed(s, header(s), JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e999'))),
  ],
  ['no expiry', without('exp')],
  ['a beginning in the future', withClaims({ nbf: now() + 120 })],
  ['a beginning as text', withClaims({ nbf: 'soon' })],
  ['a time of issue as text', withClaims({ iat: 'now' })],
  ['no subject', without('sub')],
  ['a subject that is a fraction', withClaims({ sub: 1.5 })],
  ['a subject that is null', withClaims({ sub: null })],
  ['a subject that is a list', withClaims({ sub: ['p1'] })],
  ['an empty subject', withClaims({ sub: '' })],
  ['a subject of two dots', withClaims({ sub: '..' })],
  ['a subject with a NUL', withClaims({ sub: 'p1\0' })],
  ['a subject with a line break', withClaims({ sub: 'p1\r\nAPIKey: x' })],
  ['a subject of 1,025 bytes', withClaims({ sub: 'p'.repeat(1_025) })],
  ['an unknown critical member', withHeader({ crit: ['exp2'], exp2: 1 })],
  ['an empty list of critical members', withHeader({ crit: [] })],
  ['critical members that are no list', withHeader({ crit: 'b64' })],
  ['an unencoded payload', withHeader({ crit: ['b64'], b64: false })],
  ['an unencoded payload that is not critical', withHeader({ b64: false })],
  ['a key set of its own (jku)', withHeader({ jku: 'https://evil.example/keys' })],
  ['a certificate of its own (x5u)', withHeader({ x5u: 'https://evil.example/cert' })],
  ['a certificate inside (x5c)', withHeader({ x5c: ['MIIB'] })],
  [
    'its own key inside (jwk), by which it is signed',
    withToken((s) => {
      const { jwk, ...evil } = stranger[s.alg === 'HS256' ? 'RS256' : s.alg] ?? s;
      return signed(evil, { ...header(evil), jwk }, claims());
    }),
  ],
  [
    'a key id that is a path',
    withToken((s) => signed(stranger['HS256'] ?? s, { alg: 'HS256', kid: '../../../../dev/null' }, claims())),
  ],
  ['a token of 9,000 characters', withClaims({ more: 'x'.repeat(9_000) })],
  ['another scheme (Basic)', (s) => ({ headers: [`Authorization: Basic ${token(s)}`] })],
  ['another scheme (Token)', (s) => ({ headers: [`Authorization: Token ${token(s)}`] })],
  ['another scheme (JWT)', (s) => ({ headers: [`Authorization: JWT ${token(s)}`] })],
  ['a scheme with a letter more', (s) => ({ headers: [`Authorization: Bearers ${token(s)}`] })],
  ['no scheme', (s) => ({ headers: [`Authorization: ${token(s)}`] })],
  ['a token in quotes', (s) => ({ headers: [`Authorization: Bearer "${token(s)}"`] })],
  ['two tokens in one header', (s) => ({ headers: [`Authorization: Bearer ${token(s)}, Bearer ${token(s)}`] })],
  ['two tokens with white space', (s) => ({ headers: [`Authorization: Bearer ${token(s)} ${token(s)}`] })],
  [
    'the header twice, the honest one first',
    (s) => ({ headers: [`Authorization: Bearer ${token(s)}`, 'Authorization: Bearer x'] }),
  ],
  [
    'the header twice, the honest one last',
    (s) => ({ headers: ['Authorization: Bearer x', `authorization: Bearer ${token(s)}`] }),
  ],
  ['the header twice with the same token', (s) => ({ headers: Array(2).fill(`Authorization: Bearer ${token(s)}`) })],
  ['a token with letters that are not ASCII', (s) => ({ headers: [`Authorization: Bearer ${token(s)}\u00e9`] })],
  ['a token that begins with a no-break space', (s) => ({ headers: [`Authorization: Bearer \u00a0${token(s)}`] })],
  ['a token with a blank in its signature', withToken((s) => token(s).replace(/.{5}$/, ' $&'))],
  ['a token with a tab in its signature', withToken((s) => token(s).replace(/.{5}$/, '\t$&'))],
  ['a token with a blank before its signature', withToken((s) => token(s).replace(/\.(?=[^.]*$)/, '. '))],
  ['a token in the query', (s) => ({ target: `/graphql?access_token=${token(s)}` })],
  ["a token in the query under the header's name", (s) => ({ target: `/graphql?authorization=Bearer%20${token(s)}` })],
  ['a token in the body', (s) => ({ body: JSON.stringify({ ...JSON.parse(QUERY), access_token: token(s) }) })],
  [
    "a token in the operation's extensions",
    (s) => ({ body: JSON.stringify({ ...JSON.parse(QUERY), extensions: { authorization: `Bearer ${token(s)}` } }) }),
  ],
  ['a token in a cookie', (s) => ({ headers: [`Cookie: authorization=Bearer ${token(s)}; token=${token(s)}`] })],
  [
    'a token in another header',
    (s) => ({ headers: [`X-Authorization: Bearer ${token(s)}`, `Proxy-Authorization: Bearer ${token(s)}`] }),
  ],
  [
    "the REST service's own keys",
    () => ({ headers: ['APIKey: api-key-for-tests', 'secretKey: secret-key-for-tests'] }),
  ],
];

/** An honest token of each signer, which the gateway has accepted before. */
const honest = new Map<Signer, string>();

function flipped(jwt: string): string {
  const [head, payload, signature] = split(jwt);
  const bytes = Buffer.from(signature, 'base64url');
  bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5);
  return `${head}.${payload}.${bytes.toString('base64url')}`;
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const signers = [
  secretSigner(),
  keySigner('RS256'),
  keySigner('ES256'),
  keySigner('EdDSA'),
  { ...keySigner('RS256', 'first'), name: 'a key set' },
];

/** The forgeries that depend on the kind of key. */
const BY_KEY = [
  'the algorithm "none" without a signature',
  'the algorithm none with a signature',
  'another algorithm of the same family',
  'an HMAC with no key',
  'the signature of another key',
  'the signature of another kind of key',
  'a stripped signature',
  'a signature with one bit changed',
  'another payload under a remembered signature',
  'its own key inside (jwk), by which it is signed',
];

describe.each(signers)('with $name', (signer) => {
  let gateway: TestGateway;
  let keys: Keys;
  beforeAll(async () => {
    keys = await serveKeys(signer.jwk ? [signer.jwk] : []);
    gateway = await gatewayWith(
      signer.name === 'a key set' ? { ...signer.env, JWT_PUBLIC_KEY: '', JWT_JWKS_URL: keys.url } : signer.env,
    );
    const jwt = token(signer);
    honest.set(signer, jwt);
    expectLetIn(await bearer(gateway, jwt));
  });
  afterAll(() => keys.close());

  test.each<[string, string]>([
    ['an honest token', token(signer)],
    ['a list of audiences with ours', token(signer, { aud: ['another', 'referral-gateway'] })],
    ['an expiry within the leeway', token(signer, { exp: now() - 40 })],
    ['a beginning within the leeway', token(signer, { nbf: now() + 40 })],
    ['unknown claims and scopes', token(signer, { roles: ['admin'], scope: `${claims()['scope']} sudo` })],
  ])('%s is let in', async (_name, jwt) => {
    expectLetIn(await bearer(gateway, jwt));
    upstream.forget();
    expectLetIn(await bearer(gateway, jwt));
  });

  test('a token has one spelling: Bearer, one space, canonical base64url', async () => {
    const jwt = token(signer);
    const spare = jwt.replace(/.$/, (last) => BASE64URL.at(BASE64URL.indexOf(last) + 1) ?? '');
    const spellings = ['bearer ', 'BEARER ', 'Bearer  ', 'Bearer\t'].map((scheme) => `${scheme}${jwt}`);
    const unused = jwt.split('.').at(-1)?.length ?? 0;
    for (const one of [...spellings, `Bearer ${jwt}=`, `Bearer ${jwt}==`]) {
      expectRefused(await ask(gateway, { headers: [`Authorization: ${one}`] }));
    }
    if (unused % 4 !== 0) expectRefused(await bearer(gateway, spare));
    expect(await gateway.metrics()).not.toContain('{reason="signature"} 6');
  });

  test('scopes are a text of words or a list of texts', async () => {
    for (const scope of ['players:read,any-player', 'PLAYERS:READ', '', []]) {
      const { status, body } = await bearer(gateway, token(signer, { scope }));
      expect({ status, code: JSON.parse(body).errors[0].extensions.code }).toEqual({ status: 200, code: 'FORBIDDEN' });
    }
    for (const scope of [{ 'players:read': true }, null, 1, true, ['players:read', 1]]) {
      expectRefused(await bearer(gateway, token(signer, { scope })));
    }
    expectLetIn(await bearer(gateway, token(signer, { scope: ['players:read', 'contacts:read'] })));
  });

  const tried = signer.name === 'a key set' ? forgeries : forgeries.filter(([name]) => BY_KEY.includes(name));
  test.each(tried)('%s is refused', async (_name, forge) => {
    expectRefused(await ask(gateway, forge(signer)));
  });

  test('its own key text is no key for an HMAC', async () => {
    if (signer.alg === 'HS256') return;
    const texts = [signer.verifying, signer.verifying.trimEnd(), signer.verifying.replace(/-----.*?-----|\n/g, '')];
    for (const text of [...texts, JSON.stringify(signer.jwk)]) {
      for (const alg of ['HS256', 'HS384', 'HS512']) expectRefused(await ask(gateway, hmac(text, alg)(signer)));
    }
  });
});

interface Keys {
  url: string;
  /** Answered requests so far. */
  fetched(): number;
  serve(answer: RequestListener | Signer['jwk'][]): void;
  close(): void;
}

/** An identity provider's key set. */
async function serveKeys(keys: Signer['jwk'][] = []): Promise<Keys> {
  const keySet =
    (list: Signer['jwk'][]): RequestListener =>
    (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ keys: list }));
    };
  let listener = keySet(keys);
  let fetched = 0;
  const server = createServer((request, response) => {
    fetched += 1;
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    fetched: () => fetched,
    serve: (answer) => {
      listener = typeof answer === 'function' ? answer : keySet(answer);
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

describe('a key set', () => {
  const first = keySigner('RS256', 'first');
  const second = keySigner('ES256', 'second');
  const provider = { JWT_ISSUER: 'https://login.example', JWT_AUDIENCE: 'referral-gateway' };
  let keys: Keys;
  beforeEach(async () => {
    keys = await serveKeys([first.jwk]);
  });
  afterEach(() => keys.close());

  const later = (ms: number) => {
    const then = Date.now() + ms;
    jest.spyOn(Date, 'now').mockReturnValue(then);
  };

  test('is fetched once for many tokens', async () => {
    const gateway = await gatewayWith({ ...provider, JWT_JWKS_URL: keys.url });
    for (const sub of ['p1', 'p2', 'p3']) expect((await bearer(gateway, token(first, { sub }))).status).toBe(200);
    expect(keys.fetched()).toBe(1);
  });

  test('a new key is taken up after the cooldown, and the one it replaced is refused from then on', async () => {
    const gateway = await gatewayWith({ ...provider, JWT_JWKS_URL: keys.url });
    const old = token(first);
    expectLetIn(await bearer(gateway, old));
    keys.serve([second.jwk]);
    upstream.forget();
    expectRefused(await bearer(gateway, token(second)));
    expect(keys.fetched()).toBe(1);
    later(31_000);
    expectLetIn(await bearer(gateway, token(second)));
    upstream.forget();
    expectRefused(await bearer(gateway, old));
    expect(keys.fetched()).toBe(2);
  });

  test('a key that was taken out is refused after ten minutes, remembered token or not', async () => {
    const gateway = await gatewayWith({ ...provider, JWT_JWKS_URL: keys.url });
    const old = token(first);
    expectLetIn(await bearer(gateway, old));
    keys.serve([second.jwk]);
    later(9 * 60_000);
    expectLetIn(await bearer(gateway, old));
    later(2 * 60_000);
    upstream.forget();
    expectRefused(await bearer(gateway, old));
  });

  test('made-up key ids do not make the gateway hammer the provider', async () => {
    const gateway = await gatewayWith({ ...provider, JWT_JWKS_URL: keys.url });
    for (let n = 0; n < 10; n += 1)
      expectRefused(await bearer(gateway, signed(second, header(second, { kid: `k${n}` }), claims())));
    expect(keys.fetched()).toBe(1);
  });

  test('a symmetric key in it is no key', async () => {
    const shared = { ...secretSigner(), kid: 'shared' };
    keys.serve([{ kty: 'oct', kid: 'shared', alg: 'HS256', k: Buffer.from(shared.verifying).toString('base64url') }]);
    const gateway = await gatewayWith({ ...provider, JWT_JWKS_URL: keys.url });
    expectRefused(await bearer(gateway, token(shared)));
  });

  const broken: [string, RequestListener][] = [
    ['answers 500', (_, response) => response.writeHead(500).end()],
    ['answers with text', (_, response) => response.end('keys')],
    ['answers without keys', (_, response) => response.end('{}')],
    ['redirects', (_, response) => response.writeHead(302, { location: 'https://evil.example/' }).end()],
    ['cuts the connection', (_, response) => response.destroy()],
    ['never answers', () => {}],
  ];
  test.each(broken)('answers 503 while the provider %s, and recovers', async (_name, listener) => {
    keys.serve(listener);
    const gateway = await gatewayWith({ ...provider, JWT_JWKS_URL: keys.url });
    const { status, head, body } = await bearer(gateway, token(first));
    expect({ status, upstream: upstream.calls() }).toEqual({ status: 503, upstream: [] });
    expect(head).toMatch(/\r\nretry-after: \d/);
    expect(JSON.parse(body).errors[0].extensions).toMatchObject({ code: 'OVERLOADED', retryable: true });
    expect(gateway.logged()).toContain(`the keys for tokens cannot be fetched from ${keys.url}: `);
    keys.serve([first.jwk]);
    const fetched = keys.fetched();
    expect((await bearer(gateway, token(first))).status).toBe(503);
    expect(keys.fetched()).toBe(fetched);
    later(31_000);
    expectLetIn(await bearer(gateway, token(first)));
  });

  test('a discovery document says what to use instead, a closed port says so', async () => {
    keys.serve((_, response) =>
      response.end('{"issuer":"https://login.example","jwks_uri":"https://login.example/k"}'),
    );
    const gateway = await gatewayWith({ ...provider, JWT_JWKS_URL: keys.url });
    await bearer(gateway, token(first));
    expect(gateway.logged()).toContain(`from ${keys.url}: if it is a discovery document, use its jwks_uri`);
    keys.close();
    const closed = await gatewayWith({ ...provider, JWT_JWKS_URL: keys.url });
    await bearer(closed, token(first));
    expect(closed.logged()).toMatch(/cannot be fetched from http:.*: fetch failed \(.+\)/);
  });

  test('the last good keys are used for one hour while the provider fails, remembered tokens too', async () => {
    const gateway = await gatewayWith({ ...provider, JWT_JWKS_URL: keys.url });
    expectLetIn(await bearer(gateway, token(first)));
    const begin = Date.now();
    keys.serve((_, response) => response.writeHead(500).end());
    const at = (minutes: number) => jest.spyOn(Date, 'now').mockReturnValue(begin + minutes * 60_000);
    at(11);
    const jwt = token(first);
    expectLetIn(await bearer(gateway, jwt));
    at(59);
    expectLetIn(await bearer(gateway, token(first, { more: 1 })));
    at(61);
    expect((await bearer(gateway, token(first, { more: 1 }))).status).toBe(503);
    expect((await bearer(gateway, jwt)).status).toBe(503);
    keys.serve([first.jwk]);
    at(62);
    await bearer(gateway, token(first));
    expectLetIn(await bearer(gateway, token(first)));
  });

  test('keys that cannot be imported are left out with one warning; tokens of them are 401 and count', async () => {
    const odd = [
      { ...second.jwk, kid: 'coordinates', x: second.jwk?.y },
      { kty: 'RSA', kid: 'modulus', alg: 'RS256', e: 'AQAB' },
      { kty: 'EC', kid: 'curve', crv: 'P-999', x: 'AA', y: 'AA' },
    ];
    keys.serve([...odd, first.jwk] as Signer['jwk'][]);
    const gateway = await gatewayWith({ ...provider, JWT_JWKS_URL: keys.url });
    for (const { kid } of odd) {
      for (const signer of [first, second]) {
        expectRefused(await bearer(gateway, signed(signer, header(signer, { kid }), claims())));
      }
    }
    expectLetIn(await bearer(gateway, token(first)));
    expect(gateway.logged().match(/3 keys of .* cannot be imported and are left out/g)).toHaveLength(1);
    expect(gateway.logged()).not.toContain('request failed');
    expect(await gateway.metrics()).toContain('gateway_authentication_failures_total{reason="signature"} 6');
  });

  test('a token without a key id is tried with every key that fits', async () => {
    const other = keySigner('RS256', 'other');
    keys.serve([first.jwk, other.jwk]);
    const gateway = await gatewayWith({ ...provider, JWT_JWKS_URL: keys.url });
    const anonymous = (signer: Signer) => signed(signer, { alg: 'RS256', typ: 'JWT' }, claims());
    for (const signer of [first, other]) {
      upstream.forget();
      expectLetIn(await bearer(gateway, anonymous(signer)));
    }
    upstream.forget();
    expectRefused(await bearer(gateway, anonymous(keySigner('RS256'))));
  });
});

describe('client tokens', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const [app, other, old] = [randomBytes(32), randomBytes(32), randomBytes(32)].map((bytes) =>
    bytes.toString('base64url'),
  ) as [string, string, string];
  const everything = ['players:read', 'contacts:read', 'any-player'];
  const list = (...entries: object[]) => JSON.stringify(entries);
  const appEntry = { name: 'app', sha256: sha256(app), scopes: everything };

  test('name a caller that is no player and may do what its scopes say', async () => {
    const gateway = await gatewayWith({
      CLIENT_TOKENS_FILE: file(
        'clients',
        list(appEntry, { name: 'poor', sha256: sha256(other).toUpperCase(), scopes: ['players:read'] }),
      ),
    });
    expectLetIn(await bearer(gateway, app));
    const answer = await gateway.query(
      '{ me { id } player(playerUniqueId: "p1") { id } }',
      {},
      { authorization: `Bearer ${other}` },
    );
    expect(answer.data).toEqual({ me: null, player: null });
    expect(answer.errors.map(({ path, extensions }) => [path, extensions['code']])).toEqual([
      [['player'], 'FORBIDDEN'],
    ]);
  });

  test.each<[string, () => string]>([
    ['the SHA-256 itself', () => sha256(app)],
    ['a part of the token', () => app.slice(0, -1)],
    ['the token and one letter more', () => `${app}a`],
    ['the token in capitals', () => app.toUpperCase()],
    ['the name', () => 'app'],
    ['an expired token', () => old],
    ['a JWT, where none is configured', () => token(secretSigner())],
  ])('%s is refused', async (_name, make) => {
    const expired = { name: 'old', sha256: sha256(old), scopes: everything, expiresAt: '2020-01-01T00:00:00Z' };
    const gateway = await gatewayWith({ CLIENT_TOKENS_FILE: file('refused', list(appEntry, expired)) });
    expectRefused(await bearer(gateway, make()));
  });

  test('are of the form that bearer tokens have, whatever the file says', async () => {
    const padded = randomBytes(32).toString('base64');
    const odd = ['to ken', 'to\tken', 'a, Bearer b', 'x"y', '(x)', 'a=b', '=='];
    const entries = [padded, ...odd].map((text) => ({ name: sha256(text), sha256: sha256(text), scopes: everything }));
    const gateway = await gatewayWith({ CLIENT_TOKENS_FILE: file('odd', list(...entries)) });
    expectLetIn(await bearer(gateway, padded));
    upstream.forget();
    for (const text of odd) expectRefused(await bearer(gateway, text));
  });

  test('end when their time has come', async () => {
    const entry = { ...appEntry, expiresAt: new Date(Date.now() + 60_000).toISOString() };
    const gateway = await gatewayWith({ CLIENT_TOKENS_FILE: file('ending', list(entry)) });
    expectLetIn(await bearer(gateway, app));
    upstream.forget();
    const then = Date.now() + 61_000;
    jest.spyOn(Date, 'now').mockReturnValue(then);
    expectRefused(await bearer(gateway, app));
  });

  test('are read at the start: a change has no effect, a broken file refuses to start', async () => {
    const path = file('changing', list(appEntry));
    const gateway = await gatewayWith({ CLIENT_TOKENS_FILE: path });
    for (const broken of ['[{', '', '{}', list({ ...appEntry, scopes: ['everything'] })]) {
      writeFileSync(path, broken);
      await expect(gatewayWith({ CLIENT_TOKENS_FILE: path })).rejects.toThrow(/CLIENT_TOKENS_FILE: /);
    }
    rmSync(path);
    await expect(gatewayWith({ CLIENT_TOKENS_FILE: path })).rejects.toThrow(/CLIENT_TOKENS_FILE: /);
    expectLetIn(await bearer(gateway, app));
  });

  test('stand beside JWTs', async () => {
    const signer = secretSigner();
    const gateway = await gatewayWith({ ...signer.env, CLIENT_TOKENS_FILE: file('beside', list(appEntry)) });
    expectLetIn(await bearer(gateway, app));
    expectLetIn(await bearer(gateway, token(signer)));
  });
});
