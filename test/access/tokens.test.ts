import { createHash, createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../kit/gateway.ts';
import { type RawAnswer, type RawRequest, raw, requestBytes } from '../kit/raw.ts';
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
} from '../kit/tokens.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

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

/** An honest token of each signer, which the gateway has accepted before. */
const honest = new Map<Signer, string>();
const split = (jwt: string) => jwt.split('.') as [string, string, string];
const make = (signer: Signer, more: Json, key: Pick<Signer, 'sign'> = signer) =>
  signed(key, header(signer, more), claims());
const hmac = (signer: Signer, key: string | Buffer, alg = 'HS256') => {
  const sign = (input: string) =>
    createHmac(`sha${alg.slice(2)}`, key)
      .update(input)
      .digest();
  return make(signer, { alg }, { sign });
};
const stranger: Record<string, Signer> = {
  HS256: secretSigner(),
  RS256: keySigner('RS256', 'first'),
  ES256: keySigner('ES256', 'first'),
  EdDSA: keySigner('EdDSA', 'first'),
};

/** Forgeries that depend on the kind of key: they are tried with every kind. */
const BY_KEY: Record<string, (signer: Signer) => string> = {
  'the algorithm none without a signature': (s) => `${part(header(s, { alg: 'none' }))}.${part(claims())}.`,
  'the algorithm none with a signature': (s) => make(s, { alg: 'none' }),
  'another algorithm of the same family': (s) => make(s, { alg: `${s.alg.slice(0, 2)}512` }),
  'an HMAC with no key': (s) => hmac(s, ''),
  'the signature of another key': (s) => make(s, {}, stranger[s.alg]),
  'the signature of another kind of key': (s) => make(s, { alg: 'RS256' }, stranger['EdDSA']),
  'a stripped signature': (s) => token(s).replace(/[^.]+$/, ''),
  'a signature with one bit changed': (s) => {
    const [head, payload, signature] = split(token(s));
    const bytes = Buffer.from(signature, 'base64url');
    bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5);
    return `${head}.${payload}.${bytes.toString('base64url')}`;
  },
  'another payload under a remembered signature': (s) => {
    const [head, , signature] = split(honest.get(s) ?? '');
    return `${head}.${part(claims({ sub: 'p2', scope: 'any-player players:read' }))}.${signature}`;
  },
  'its own key inside (jwk), by which it is signed': (s) => {
    const { jwk, ...evil } = stranger[s.alg === 'HS256' ? 'RS256' : s.alg] ?? s;
    return signed(evil, { ...header(evil), jwk }, claims());
  },
};

/** The other forgeries are tried with a key set. */
const TOKENS: Record<string, (signer: Signer) => string> = {
  ...Object.fromEntries(
    ['None', 'NONE', 'nOnE', ''].map((alg) => [
      `the algorithm "${alg}"`,
      (s: Signer) => `${part(header(s, { alg }))}.${part(claims())}.`,
    ]),
  ),
  'no algorithm': (s) => signed(s, { typ: 'JWT' }, claims()),
  'an unknown algorithm': (s) => make(s, { alg: 'HS1' }),
  'an HMAC with a guessed key': (s) => hmac(s, 'secret'),
  'a truncated signature': (s) => token(s).slice(0, -6),
  'two parts': (s) => token(s).replace(/\.[^.]+$/, ''),
  'five parts, as an encrypted token has': (s) => `${token(s)}.e30.e30`,
  'a header that is not JSON': (s) => signed(s, 'alg', claims()),
  'a payload that is not JSON': (s) => signed(s, header(s), 'sub'),
  'another header under a remembered signature': (s) => {
    const [, payload, signature] = split(honest.get(s) ?? '');
    return `${part(header(s, { more: 1 }))}.${payload}.${signature}`;
  },
  'an expiry without end': (s) => signed(s, header(s), JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e999')),
  'an unknown critical member': (s) => make(s, { crit: ['exp2'], exp2: 1 }),
  'an unencoded payload': (s) => make(s, { crit: ['b64'], b64: false }),
  'a key set of its own (jku)': (s) => make(s, { jku: 'https://evil.example/keys' }),
  'a certificate of its own (x5u)': (s) => make(s, { x5u: 'https://evil.example/cert' }),
  'a certificate inside (x5c)': (s) => make(s, { x5c: ['MIIB'] }),
  'a type that is another': (s) => make(s, { typ: 'secevent+jwt' }),
  'a key id that is a path': (s) =>
    signed(stranger['HS256'] ?? s, { alg: 'HS256', kid: '../../../dev/null' }, claims()),
  'a blank in its signature': (s) => token(s).replace(/.{5}$/, ' $&'),
  'letters that are not ASCII': (s) => `${token(s)}\u00e9`,
  'quotes around it': (s) => `"${token(s)}"`,
  'another token behind it': (s) => `${token(s)}, Bearer ${token(s)}`,
};

/** Claims that no token may have; `undefined` leaves one out. */
const CLAIMS: Record<string, Json[]> = {
  issuer: ['https://evil.example', 'https://login.example/', ['https://login.example'], undefined].map((iss) => ({
    iss,
  })),
  audience: ['another-service', 'REFERRAL-GATEWAY', ['one', 'two'], [], undefined].map((aud) => ({ aud })),
  expiry: [now() - 65, 1, 0, -1, String(now() + 3_600), true, null, undefined].map((exp) => ({ exp })),
  'beginning or time of issue': [
    {
      get nbf() {
        return now() + 120;
      },
    },
    { nbf: 'soon' },
    { iat: 'now' },
  ],
  subject: [1.5, null, ['p1'], '', '..', 'p1\0', 'p1\r\nAPIKey: x', 'p'.repeat(1_025), undefined].map((sub) => ({
    sub,
  })),
  length: [{ more: 'x'.repeat(9_000) }],
};

const REQUESTS: Record<string, Forgery> = {
  'no Authorization header': () => ({}),
  'an empty Authorization header': () => ({ headers: ['Authorization: '] }),
  'a scheme alone': () => ({ headers: ['Authorization: Bearer'] }),
  'a scheme and white space': () => ({ headers: ['Authorization: Bearer    '] }),
  ...Object.fromEntries(
    ['Basic ', 'Token ', 'JWT ', 'Bearers ', ''].map((scheme) => [
      `the scheme "${scheme}"`,
      (s: Signer) => ({ headers: [`Authorization: ${scheme}${token(s)}`] }),
    ]),
  ),
  'two headers, the honest one first': (s) => ({
    headers: [`Authorization: Bearer ${token(s)}`, 'Authorization: Bearer x'],
  }),
  'two headers, the honest one last': (s) => ({
    headers: ['Authorization: Bearer x', `authorization: Bearer ${token(s)}`],
  }),
  'two headers with the same token': (s) => ({ headers: Array(2).fill(`Authorization: Bearer ${token(s)}`) }),
  'a token in the query': (s) => ({ target: `/graphql?access_token=${token(s)}` }),
  "a token in the query under the header's name": (s) => ({ target: `/graphql?authorization=Bearer%20${token(s)}` }),
  'a token in the body': (s) => ({ body: JSON.stringify({ ...JSON.parse(QUERY), access_token: token(s) }) }),
  "a token in the operation's extensions": (s) => ({
    body: JSON.stringify({ ...JSON.parse(QUERY), extensions: { authorization: `Bearer ${token(s)}` } }),
  }),
  'a token in a cookie': (s) => ({ headers: [`Cookie: authorization=Bearer ${token(s)}; token=${token(s)}`] }),
  'a token in another header': (s) => ({
    headers: [`X-Authorization: Bearer ${token(s)}`, `Proxy-Authorization: Bearer ${token(s)}`],
  }),
  "the REST service's own keys": () => ({
    headers: ['APIKey: api-key-for-tests', 'secretKey: secret-key-for-tests'],
  }),
};

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const KEY_SET = { ...keySigner('RS256', 'first'), name: 'a key set' };

describe.each([secretSigner(), keySigner('RS256'), keySigner('ES256'), keySigner('EdDSA'), KEY_SET])(
  'with $name',
  (signer) => {
    let gateway: TestGateway;
    let keys: Keys;
    beforeAll(async () => {
      keys = await serveKeys(signer.jwk ? [signer.jwk] : []);
      const env = signer === KEY_SET ? { ...signer.env, JWT_PUBLIC_KEY: '', JWT_JWKS_URL: keys.url } : signer.env;
      gateway = await gatewayWith(env);
      const jwt = token(signer);
      honest.set(signer, jwt);
      expectLetIn(await bearer(gateway, jwt));
    });
    afterAll(() => keys.close());

    test.each<[string, () => string]>([
      ['an honest token', () => token(signer)],
      ['a list of audiences with ours', () => token(signer, { aud: ['another', 'referral-gateway'] })],
      ['an expiry within the leeway', () => token(signer, { exp: now() - 40 })],
      ['a beginning within the leeway', () => token(signer, { nbf: now() + 40 })],
      ['unknown claims and scopes', () => token(signer, { roles: ['admin'], scope: `${claims()['scope']} sudo` })],
      ['the type of an access token', () => make(signer, { typ: 'AT+jwt' })],
    ])('accepts %s', async (_name, issue) => {
      const jwt = issue();
      expectLetIn(await bearer(gateway, jwt));
      upstream.forget();
      expectLetIn(await bearer(gateway, jwt));
    });

    test('accepts one spelling of a token: Bearer, one space, canonical base64url', async () => {
      const jwt = token(signer);
      const spare = jwt.replace(/.$/, (last) => BASE64URL.at(BASE64URL.indexOf(last) + 1) ?? '');
      const spellings = ['bearer ', 'BEARER ', 'Bearer  ', 'Bearer\t'].map((scheme) => `${scheme}${jwt}`);
      if ((split(jwt)[2].length ?? 0) % 4 !== 0) spellings.push(`Bearer ${spare}`);
      for (const one of [...spellings, `Bearer ${jwt}=`, `Bearer ${jwt}==`]) {
        expectRefused(await ask(gateway, { headers: [`Authorization: ${one}`] }));
      }
      expect(await gateway.metrics()).not.toContain('{reason="signature"} 6');
    });

    test('reads scopes from a text of words or a list of texts', async () => {
      for (const scope of ['players:read,any-player', 'PLAYERS:READ', '', []]) {
        const { status, body } = await bearer(gateway, token(signer, { scope }));
        expect({ status, code: JSON.parse(body).errors[0].extensions.code }).toEqual({
          status: 200,
          code: 'FORBIDDEN',
        });
      }
      for (const scope of [{ 'players:read': true }, null, 1, true, ['players:read', 1]]) {
        expectRefused(await bearer(gateway, token(signer, { scope })));
      }
      expectLetIn(await bearer(gateway, token(signer, { scope: ['players:read', 'contacts:read'] })));
    });

    test.each(Object.entries(signer === KEY_SET ? { ...BY_KEY, ...TOKENS } : BY_KEY))(
      'refuses %s',
      async (_name, forge) => expectRefused(await bearer(gateway, forge(signer))),
    );

    test('refuses its own key text as key of an HMAC', async () => {
      if (signer.alg === 'HS256') return;
      const texts = [signer.verifying, signer.verifying.trimEnd(), signer.verifying.replace(/-----.*?-----|\n/g, '')];
      for (const text of [...texts, JSON.stringify(signer.jwk)]) {
        for (const alg of ['HS256', 'HS384', 'HS512']) expectRefused(await bearer(gateway, hmac(signer, text, alg)));
      }
    });

    if (signer !== KEY_SET) return;
    test.each(Object.entries(CLAIMS))('refuses a wrong %s', async (_name, wrong) => {
      for (const more of wrong) expectRefused(await bearer(gateway, token(signer, more)));
    });

    test.each(Object.entries(REQUESTS))('refuses %s', async (_name, forge) => {
      expectRefused(await ask(gateway, forge(signer)));
    });
  },
);

test('a fifth token of a caller evicts only that caller’s own', async () => {
  const signer = secretSigner();
  const gateway = await gatewayWith({
    ...signer.env,
    MAX_FAILED_AUTHENTICATIONS_PER_SECOND: '1',
    MAX_FAILED_AUTHENTICATIONS_BURST: '10',
  });
  const other = token(signer, { sub: 'p2' });
  const own = [1, 2, 3, 4, 5].map((jti) => token(signer, { jti }));
  for (const jwt of [other, ...own]) expect((await bearer(gateway, jwt)).status).toBe(200);
  // Only remembered tokens pass when the address has failed too often.
  for (let n = 0; n < 10; n += 1) await bearer(gateway, 'x');
  const statuses: number[] = [];
  for (const jwt of [other, ...own]) statuses.push((await bearer(gateway, jwt)).status);
  expect(statuses).toEqual([200, 429, 200, 200, 200, 200]);
});

const later = (ms: number) => {
  const then = Date.now() + ms;
  jest.spyOn(Date, 'now').mockReturnValue(then);
};

test('a remembered token is refused once it has expired, with the leeway of a minute', async () => {
  const signer = secretSigner();
  const gateway = await gatewayWith(signer.env);
  const jwt = token(signer, { exp: now() + 60 });
  expectLetIn(await bearer(gateway, jwt));
  later(110_000);
  expectLetIn(await bearer(gateway, jwt));
  upstream.forget();
  later(125_000 - 110_000);
  expectRefused(await bearer(gateway, jwt));
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

  const start = () => gatewayWith({ ...provider, JWT_JWKS_URL: keys.url });

  test('is fetched once for many tokens', async () => {
    const gateway = await start();
    for (const sub of ['p1', 'p2', 'p3']) expect((await bearer(gateway, token(first, { sub }))).status).toBe(200);
    expect(keys.fetched()).toBe(1);
  });

  test('a new key is taken up after the cooldown, and the one it replaced is refused from then on', async () => {
    const gateway = await start();
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
    const gateway = await start();
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
    const gateway = await start();
    for (let n = 0; n < 10; n += 1)
      expectRefused(await bearer(gateway, signed(second, header(second, { kid: `k${n}` }), claims())));
    expect(keys.fetched()).toBe(1);
  });

  test('a symmetric key in it is no key', async () => {
    const shared = { ...secretSigner(), kid: 'shared' };
    keys.serve([{ kty: 'oct', kid: 'shared', alg: 'HS256', k: Buffer.from(shared.verifying).toString('base64url') }]);
    const gateway = await start();
    expectRefused(await bearer(gateway, token(shared)));
  });

  const large = `{"keys":[${JSON.stringify(first.jwk)}],"more":"${'x'.repeat(1_048_576)}"}`;
  const broken: [string, RequestListener][] = [
    ['answers 500', (_, response) => response.writeHead(500).end()],
    ['answers with text', (_, response) => response.end('keys')],
    ['answers without keys', (_, response) => response.end('{}')],
    ['answers with more than 1 MB', (_, response) => response.end(large)],
    ['redirects to a server that works', redirect],
    ['cuts the connection', (_, response) => response.destroy()],
    ['never answers', () => {}],
  ];
  function redirect({ url }: IncomingMessage, response: ServerResponse) {
    if (url === '/moved') response.end(JSON.stringify({ keys: [first.jwk] }));
    else response.writeHead(302, { location: '/moved' }).end();
  }
  test.each(broken)('answers 503 while the provider %s, and recovers', async (_name, listener) => {
    keys.serve(listener);
    const gateway = await start();
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
    const gateway = await start();
    await bearer(gateway, token(first));
    expect(gateway.logged()).toContain('if it is a discovery document, use its jwks_uri');
    keys.close();
    const closed = await start();
    await bearer(closed, token(first));
    expect(closed.logged()).toMatch(/cannot be fetched from http:.*: fetch failed \(.+\)/);
  });

  test('the last good keys are used for one hour while the provider fails, remembered tokens too', async () => {
    const gateway = await start();
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
    const gateway = await start();
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
    const gateway = await start();
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
    later(61_000);
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
