import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createKeySet } from '../../src/access/key-set.ts';
import type { Json } from '../../src/json.ts';
import { atEnd, newFile } from '../kit/at-end.ts';
import { startGateway, type TestGateway } from '../kit/gateway.ts';
import { type RawAnswer, type RawRequest, raw, requestBytes } from '../kit/raw.ts';
import {
  claims,
  header,
  keySigner,
  now,
  part,
  type Signer,
  secretSigner,
  sha256,
  signed,
  token,
  UNLIMITED,
} from '../kit/tokens.ts';
import { until } from '../kit/until.ts';
import { startUpstream } from '../kit/upstream.ts';

/* A forged token is 401 with one sentence for every reason, and the REST service hears nothing. */

const QUERY = JSON.stringify({ query: '{ player(playerUniqueId: "p1") { id attributes { email } } }' });
const upstream = await startUpstream();
const gatewayWith = (env: Record<string, string>) => startGateway(upstream.url, { ...UNLIMITED, ...env });
beforeEach(() => upstream.forget());
afterEach(() => void jest.restoreAllMocks());

const ask = (gateway: TestGateway, { headers = [], ...request }: RawRequest): Promise<RawAnswer> =>
  raw(gateway.url, requestBytes({ body: QUERY, ...request, headers: ['Content-Type: application/json', ...headers] }));
const bearer = (gateway: TestGateway, jwt: string) => ask(gateway, { headers: [`Authorization: Bearer ${jwt}`] });

async function expectRefused(answer: Promise<RawAnswer>): Promise<void> {
  upstream.forget();
  const { status, head, body } = await answer;
  const { data, errors } = JSON.parse(body);
  const message = 'A valid bearer token is needed in the Authorization header.';
  const error = { message, extensions: expect.objectContaining({ code: 'UNAUTHENTICATED' }) };
  expect([status, data, errors, upstream.calls()]).toEqual([401, undefined, [error], []]);
  expect(head).toMatch(/\r\nwww-authenticate: bearer/);
}

async function expectLetIn(answer: Promise<RawAnswer>): Promise<void> {
  const { status, body } = await answer;
  expect([status, JSON.parse(body).data]).toMatchObject([200, { player: { attributes: { email: 'p1@example.com' } } }]);
}

/** Moves both clocks; of the gateway too, which is in this process. */
const later = (ms: number) => {
  const [then, moment] = [Date.now() + ms, performance.now() + ms];
  jest.spyOn(Date, 'now').mockReturnValue(then);
  jest.spyOn(performance, 'now').mockReturnValue(moment);
};

/** The key server of an identity provider, and how many requests came. */
async function serveKeys(keys: object[]) {
  let answer: RequestListener | object[] = keys;
  let fetched = 0;
  const server = createServer((request, response) => {
    fetched += 1;
    if (typeof answer === 'function') answer(request, response);
    else response.end(JSON.stringify({ keys: answer }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const serve = (next: RequestListener | object[]) => {
    answer = next;
  };
  return { url: `http://127.0.0.1:${port}/keys`, fetched: () => fetched, serve };
}

const make = (signer: Signer, more: Json, key: Pick<Signer, 'sign'> = signer) =>
  signed(key, header(signer, more), claims());
const hmac = (signer: Signer, key: string) =>
  make(signer, { alg: 'HS256' }, { sign: (input) => createHmac('sha256', key).update(input).digest() });
const unsigned = (signer: Signer) => `${part(header(signer, { alg: 'none' }))}.${part(claims())}.`;
const provider = { JWT_ISSUER: 'https://login.example', JWT_AUDIENCE: 'referral-gateway' };
const first = keySigner('RS256', 'first');
const second = keySigner('ES256', 'second');
const stranger = keySigner('RS256', 'first');
const edwards = keySigner('EdDSA', 'edwards');

const signers = [secretSigner(), keySigner('RS256'), keySigner('ES256'), keySigner('EdDSA')];
test.each(signers)('with $name a token of that key passes, and no other', async (signer) => {
  const gateway = await gatewayWith(signer.env);
  await expectLetIn(bearer(gateway, token(signer)));
  // A public key is no shared secret.
  const byPublicKey = signer.jwk ? [hmac(signer, signer.verifying)] : [];
  const forged = [unsigned(signer), make(signer, {}, stranger), hmac(signer, ''), ...byPublicKey];
  for (const jwt of forged) await expectRefused(bearer(gateway, jwt));
});

const { url: JWT_JWKS_URL } = await serveKeys([first.jwk ?? {}]);
const gateway = await gatewayWith({ ...provider, JWT_JWKS_URL });

describe('with a key set', () => {
  const honest = token(first);
  const [head = '', payload = '', signature = ''] = honest.split('.');
  beforeAll(() => expectLetIn(bearer(gateway, honest)));

  test.each<[string, string]>([
    ['a list of audiences with ours', token(first, { aud: ['another', 'referral-gateway'] })],
    ['an expiry within the leeway', token(first, { exp: now() - 20 })],
    ['a beginning within the leeway', token(first, { nbf: now() + 50 })],
    ['unknown claims and scopes', token(first, { roles: ['admin'], scope: `${claims()['scope']} sudo` })],
    ['the type of an access token', make(first, { typ: 'AT+jwt' })],
    ['a list of scopes', token(first, { scope: ['players:read', 'contacts:read'] })],
  ])('accepts %s', async (_name, jwt) => expectLetIn(bearer(gateway, jwt)));

  test.each<[string, string]>([
    ['the algorithm none', unsigned(first)],
    ['its own key inside (jwk)', make(first, { jwk: stranger.jwk }, stranger)],
    ['another payload under a remembered signature', `${head}.${part(claims({ sub: 'p2' }))}.${signature}`],
    ['another header under a remembered signature', `${part(header(first, { a: 1 }))}.${payload}.${signature}`],
    ['a payload that is not JSON', signed(first, header(first), 'sub')],
    ['a payload that is a list', signed(first, header(first), [claims()])],
    ['an expiry without end', signed(first, header(first), JSON.stringify(claims()).replace(/\d{9,}/, '1e999'))],
    ['an unknown critical member', make(first, { crit: ['exp2'], exp2: 1 })],
    ['a key set of its own (jku)', make(first, { jku: 'https://evil.example/keys' })],
    ['a certificate inside (x5c)', make(first, { x5c: ['MIIB'] })],
    ['another type', make(first, { typ: 'secevent+jwt' })],
    ['more than 8,192 characters', token(first, { more: 'x'.repeat(9_000) })],
    ['padding', `${honest}=`],
    ['unused bits in its last character', honest.replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1))],
  ])('refuses %s', async (_name, jwt) => expectRefused(bearer(gateway, jwt)));

  test.each<[string, readonly unknown[]]>([
    ['iss', ['https://evil.example', 'https://login.example/', ['https://login.example'], undefined]],
    ['aud', ['another-service', ['one', 'two'], [], undefined]],
    ['exp', [now() - 65, -1, String(now() + 3_600), true, null, undefined]],
    ['nbf', [now() + 300, 'soon']],
    ['iat', [now() + 300, 'now']],
    ['sub', [1.5, null, ['p1'], '', '..', 'p1\r\nAPIKey: x', 'p'.repeat(1_025), undefined]],
    ['scope', [{ 'players:read': true }, null, 1, ['players:read', 1]]],
  ])('refuses a wrong %s', async (claim, values) => {
    for (const value of values) await expectRefused(bearer(gateway, token(first, { [claim]: value })));
  });

  test.each([['players:read,contacts:read'], ['contacts:read  players:read'], [' players:read ,\tcontacts:read,']])(
    'reads the scopes of %j',
    async (scope) => expectLetIn(bearer(gateway, token(first, { scope }))),
  );

  test.each(['bearer', 'BEARER', 'bEARER', 'Bearer  '])('accepts the scheme %j', async (scheme) =>
    expectLetIn(ask(gateway, { headers: [`Authorization: ${scheme} ${honest}`] })),
  );

  test.each([['players:readcontacts:read'], ['PLAYERS:READ'], [['players:read contacts:read']], [[]]])(
    'reads no scope from %j',
    async (scope) => {
      const { status, body } = await bearer(gateway, token(first, { scope }));
      expect([status, JSON.parse(body).errors[0].extensions.code]).toEqual([200, 'FORBIDDEN']);
    },
  );

  test.each<[string, RawRequest]>([
    ['no header', {}],
    ...['Bearer', `Basic ${honest}`, honest, `Bearer${honest}`, `Bearer\t${honest}`].map(
      (value): [string, RawRequest] => [`the header "${value.slice(0, 8)}…"`, { headers: [`Authorization: ${value}`] }],
    ),
    ['two headers', { headers: [`Authorization: Bearer ${honest}`, 'Authorization: Bearer x'] }],
    ['a token in the query', { target: `/graphql?access_token=${honest}&authorization=Bearer%20${honest}` }],
    ['a token in the body', { body: JSON.stringify({ ...JSON.parse(QUERY), access_token: honest }) }],
    ['a token in a cookie', { headers: [`Cookie: authorization=Bearer ${honest}; token=${honest}`] }],
  ])('refuses %s', async (_name, request) => expectRefused(ask(gateway, request)));
});

test('with JWT_MAX_LIFETIME_S=0 a token may live long, and not without an end', async () => {
  const signer = secretSigner();
  const gateway = await gatewayWith({ ...signer.env, JWT_MAX_LIFETIME_S: '0' });
  await expectLetIn(bearer(gateway, token(signer, { exp: now() + 1e9 })));
  const endless = (name: string, value: string) =>
    JSON.stringify(claims({ iat: now() })).replace(new RegExp(`"${name}":\\d+`), `"${name}":${value}`);
  for (const text of [endless('exp', '1e999'), endless('iat', '-1e999')])
    await expectRefused(bearer(gateway, signed(signer, header(signer), text)));
});

test('a remembered token is refused once it has expired, with the leeway of a minute', async () => {
  const signer = secretSigner();
  const gateway = await gatewayWith(signer.env);
  const jwt = token(signer, { exp: now() + 60 });
  await expectLetIn(bearer(gateway, jwt));
  later(110_000);
  await expectLetIn(bearer(gateway, jwt));
  later(15_000);
  await expectRefused(bearer(gateway, jwt));
});

test.each([
  ['production', {}],
  ['development', { reason: 'expired' }],
])('in %s, the error of a token has its code and %j', async (environment, more) => {
  const signer = secretSigner();
  const gateway = await gatewayWith({ ...signer.env, NODE_ENV: environment });
  const { body } = await bearer(gateway, token(signer, { exp: now() - 100 }));
  const { extensions } = JSON.parse(body).errors[0];
  if (environment === 'production') expect(extensions).toEqual({ code: 'UNAUTHENTICATED' });
  else expect(extensions).toMatchObject({ code: 'UNAUTHENTICATED', ...more });
  // An alert on an old key set would never end.
  expect(await gateway.metrics()).not.toContain('gateway_key_set_age_seconds');
});

describe('a key set', () => {
  let keys: Awaited<ReturnType<typeof serveKeys>>;
  beforeEach(async () => {
    keys = await serveKeys([first.jwk ?? {}]);
  });
  const start = () => gatewayWith({ ...provider, JWT_JWKS_URL: keys.url });

  test('with a new key is fetched for its first token, and the key that it replaced is refused from then on', async () => {
    const gateway = await start();
    const old = token(first);
    await expectLetIn(bearer(gateway, old));
    await expectLetIn(bearer(gateway, token(first, { more: 1 })));
    expect(keys.fetched()).toBe(1);
    keys.serve([second.jwk ?? {}]);
    await expectLetIn(bearer(gateway, token(second)));
    await expectRefused(bearer(gateway, old));
    expect(keys.fetched()).toBe(3);
    await until(() => gateway.logged().includes('the key set has changed; its keys are [\\"second\\"]'));
  });

  test('is fetched once for a key id that it does not have, and at most five times in 30 s for several', async () => {
    const gateway = await start();
    const invented = (kid: string) => bearer(gateway, make(stranger, { kid }));
    for (const kid of ['k1', 'k1', 'k2', 'k1', 'k3', 'k4', 'k5']) await expectRefused(invented(kid));
    expect(keys.fetched()).toBe(6);
    keys.serve([first.jwk ?? {}, second.jwk ?? {}]);
    const { status, body } = await bearer(gateway, token(second));
    const extensions = { code: 'OVERLOADED', retryable: true, retryAfterMs: expect.any(Number) };
    expect([status, JSON.parse(body).errors]).toMatchObject([503, [{ extensions }]]);
    await expectRefused(invented('k5'));
    await expectLetIn(bearer(gateway, token(first)));
    later(JSON.parse(body).errors[0].extensions.retryAfterMs);
    await expectLetIn(bearer(gateway, token(second)));
    expect(keys.fetched()).toBe(7);
    const names = { reason: 'signature', claim: 'kid', expected: '["first"]', found: 'k3' };
    await until(() => gateway.logged().includes(JSON.stringify(names).slice(1, -1)));
  });

  test('is asked for a key id with characters that a terminal obeys: the log has them as JSON escapes', async () => {
    const gateway = await start();
    const kid = '\u009b2Jnobody\u202e\u2066\u2028\x7f';
    await expectRefused(bearer(gateway, make(stranger, { kid })));
    await until(() => gateway.logged().includes('"claim":"kid"'));
    expect(gateway.logged().match(/[^\n\x20-\x7e]/g)).toBeNull();
    const lines = gateway
      .logged()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.find(({ claim }) => claim === 'kid')).toMatchObject({ found: kid });
    expect(lines.find(({ msg }) => /^a token names the key/.test(msg)).msg).toContain(kid);
  });

  test('that is being fetched is fetched once more, for all tokens together that came meanwhile', async () => {
    const gateway = await start();
    await expectLetIn(bearer(gateway, token(first)));
    const held: (() => void)[] = [];
    keys.serve((_, response) => void held.push(() => response.end(JSON.stringify({ keys: [first.jwk] }))));
    const early = bearer(gateway, make(stranger, { kid: 'early' }));
    await until(() => held.length === 1);
    const late = ['one', 'two', 'three', 'four', 'five', 'six'].map((kid) => bearer(gateway, make(stranger, { kid })));
    const renewed = bearer(gateway, token(second));
    // By then, these have arrived too.
    for (const more of [1, 2]) await expectLetIn(bearer(gateway, token(first, { more })));
    keys.serve([second.jwk ?? {}]);
    for (const end of held) end();
    const answers = await Promise.all([early, ...late, renewed]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401, 401, 200]);
    expect(keys.fetched()).toBe(3);
  });

  test('whose server does not respond gives a new key 503 before the fetch ends, which then brings it', async () => {
    const gateway = await start();
    await expectLetIn(bearer(gateway, token(first)));
    let respond = () => {};
    keys.serve((_, response) => {
      respond = () => void response.end(JSON.stringify({ keys: [second.jwk] }));
    });
    const ask = async () => (await bearer(gateway, token(second))).status;
    expect([await ask(), await ask()]).toEqual([503, 503]);
    await expectLetIn(bearer(gateway, token(first, { more: 1 })));
    respond();
    await until(async () => (await ask()) === 200);
    expect(keys.fetched()).toBe(2);
  });

  test('is fetched again at once for a new key after a failed fetch, and after five minutes, for which nobody waits', async () => {
    const gateway = await start();
    await expectLetIn(bearer(gateway, token(first)));
    keys.serve((_, response) => response.writeHead(500).end());
    expect((await bearer(gateway, token(second))).status).toBe(503);
    keys.serve([first.jwk ?? {}, second.jwk ?? {}]);
    await expectLetIn(bearer(gateway, token(second)));
    keys.serve(() => {});
    later(301_000);
    await expectLetIn(bearer(gateway, token(first, { more: 1 })));
    await until(() => keys.fetched() === 4);
    expect(gateway.logged()).not.toContain('no response in time');
  });

  test('without a key that it had refuses its tokens after ten minutes, remembered or not', async () => {
    const gateway = await start();
    const old = token(first);
    await expectLetIn(bearer(gateway, old));
    keys.serve([second.jwk ?? {}]);
    later(4 * 60_000);
    await expectLetIn(bearer(gateway, old));
    later(7 * 60_000);
    await expectRefused(bearer(gateway, old));
  });

  test('does not verify by a symmetric key in it', async () => {
    const shared = { ...secretSigner(), kid: 'shared' };
    keys.serve([{ kty: 'oct', kid: 'shared', alg: 'HS256', k: Buffer.from(shared.verifying).toString('base64url') }]);
    await expectRefused(bearer(await start(), token(shared)));
  });

  test('says which keys it has to a token of a private key in it, and does not verify by that', async () => {
    keys.serve((_, response) => response.end(JSON.stringify({ keys: [first.jwk, { ...second.jwk, d: 'AQAB' }] })));
    const gateway = await start();
    await expectLetIn(bearer(gateway, token(first)));
    await expectRefused(bearer(gateway, token(second)));
    expect(gateway.logged()).toMatch(/a token names the key .*second.*; the key set has .*first/);
  });

  const set = JSON.stringify({ keys: [first.jwk] });
  const privateJwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  const redirect: RequestListener = ({ url }, response) =>
    url === '/moved' ? response.end(set) : response.writeHead(302, { location: '/moved' }).end();
  test.each<[string, RequestListener, RegExp]>([
    ['has status 500', (_, response) => response.writeHead(500).end(set), /responded with 500/],
    ['is text', (_, response) => response.end('keys'), /JSON/],
    ['has no key of a known kind', (_, response) => response.end('{"keys":[{"kty":"new"}]}'), /can be imported/],
    [
      'has private keys alone',
      (_, response) => response.end(JSON.stringify({ keys: [privateJwk] })),
      /none of its keys is a public key/,
    ],
    ['has no keys', (_, response) => response.end('{"keys":[]}'), /no JSON Web Key Set with keys/],
    ['is a discovery document', (_, response) => response.end('{"jwks_uri":"https://l.example"}'), /use its jwks_uri/],
    ['has more than 1 MB', (_, response) => response.end(set.padEnd(1_048_577)), /too large/],
    ['redirects to a server that works', redirect, /responded with 302/],
    ['is a cut connection', (_, response) => response.destroy(), /fetch failed \(.+\)/],
    ['never comes', () => {}, /no response in time/],
  ])('whose response %s leads to 503, is asked for again by itself, then works', async (_name, listener, reason) => {
    keys.serve(listener);
    const gateway = await start();
    const { status, head, body } = await bearer(gateway, token(first));
    expect([status, upstream.calls()]).toEqual([503, []]);
    expect(head).toMatch(/\r\nretry-after: \d/);
    expect(JSON.parse(body).errors[0].extensions).toMatchObject({ code: 'OVERLOADED', retryable: true });
    // A request does not wait for the end of a fetch.
    await until(() => gateway.logged().includes(`the keys for tokens cannot be fetched from ${keys.url}: `));
    expect(gateway.logged()).toMatch(reason);
    expect(gateway.status().reasons).toEqual(['no-keys']);
    keys.serve([first.jwk ?? {}]);
    await until(() => gateway.status().reasons.length === 0);
    await expectLetIn(bearer(gateway, token(first)));
  });

  test('that was never there is asked for again after 1, 2 and 4 s, and then every 5 s', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance', 'Date'] });
    atEnd(() => jest.useRealTimers());
    const pauses: number[] = [];
    let [now, failedAt] = [0, 0];
    keys.serve((_, response) => {
      pauses.push(now - failedAt);
      if (pauses.length === 6) response.end(JSON.stringify({ keys: [first.jwk] }));
      else response.writeHead(500).end();
    });
    const warn = () => {
      failedAt = now;
    };
    const set = createKeySet(new URL(keys.url), { log: { info: warn, warn } });
    // In steps of 50 ms, between which requests and responses arrive.
    await until(() => {
      now += 50;
      jest.advanceTimersByTime(50);
      return set.isReady();
    });
    expect(pauses.map((ms) => Math.floor(ms / 1_000))).toEqual([0, 1, 2, 4, 5, 5]);
  });

  test('that was good is used for one hour while the provider fails, for remembered tokens too', async () => {
    const gateway = await start();
    await expectLetIn(bearer(gateway, token(first)));
    keys.serve((_, response) => response.writeHead(500).end());
    const begin = Date.now();
    const at = (minutes: number) => later(begin + minutes * 60_000 - Date.now());
    at(11);
    await expectLetIn(bearer(gateway, token(first, { more: 1 })));
    const [, age] = /^gateway_key_set_age_seconds (\d+)/m.exec(await gateway.metrics()) ?? [];
    expect(Number(age)).toBeGreaterThanOrEqual(660);
    expect((await bearer(gateway, token(second))).status).toBe(503);
    at(59);
    const jwt = token(first);
    await expectLetIn(bearer(gateway, jwt));
    at(61);
    expect((await bearer(gateway, jwt)).status).toBe(503);
    keys.serve([first.jwk ?? {}]);
    at(62);
    await expectLetIn(bearer(gateway, jwt));
  });

  test('with keys that cannot be imported, or are no objects, works without them; their tokens are 401 and count', async () => {
    const odd = [
      { ...second.jwk, kid: 'coordinates', x: second.jwk?.y },
      { kty: 'RSA', kid: 'modulus', alg: 'RS256', e: 'AQAB' },
      { kty: 'EC', kid: 'curve', crv: 'P-999', x: 'AA', y: 'AA' },
    ];
    const set = { keys: [null, 'text', 7, [], ...odd, first.jwk] };
    keys.serve((_, response) => response.end(JSON.stringify(set)));
    const gateway = await start();
    for (const { kid } of odd) {
      for (const signer of [first, second]) await expectRefused(bearer(gateway, make(signer, { kid })));
    }
    await expectLetIn(bearer(gateway, token(first)));
    expect(gateway.logged()).not.toContain('request failed');
    expect(await gateway.metrics()).toContain('gateway_authentication_failures_total{reason="signature"} 6');
  });

  test('with null and empty values for what its keys do not have verifies by them', async () => {
    const empty = { alg: null, use: '', ext: null, d: null, oth: null, x5u: null, key_ops: [], x5c: [] };
    keys.serve((_, response) => response.end(JSON.stringify({ keys: [{ ...first.jwk, ...empty }] })));
    await expectLetIn(bearer(await start(), token(first)));
  });

  test.each<[string, Signer, Json, string]>([
    ['uses beside verifying', first, { key_ops: ['sign', 'verify'] }, first.alg],
    ['a text in ext', first, { ext: 'true' }, first.alg],
    ['the newer name of EdDSA', edwards, { alg: 'Ed25519' }, 'EdDSA'],
    ['the older name of Ed25519', edwards, { alg: 'EdDSA' }, 'Ed25519'],
  ])('with %s verifies by its key', async (_, signer, members, alg) => {
    keys.serve((_request, response) => response.end(JSON.stringify({ keys: [{ ...signer.jwk, ...members }] })));
    const gateway = await start();
    await expectLetIn(bearer(gateway, token({ ...signer, alg })));
    await expectRefused(bearer(gateway, token({ ...stranger, alg })));
  });

  test('with a key that is for signing alone does not verify by it', async () => {
    const other = { ...first.jwk, key_ops: ['sign'] };
    keys.serve((_, response) => response.end(JSON.stringify({ keys: [other, second.jwk] })));
    await expectRefused(bearer(await start(), token(first)));
  });

  test('whose keys have no ids verifies tokens with one; beside a key with an id, their id must be known', async () => {
    const unnamed = { ...first.jwk, kid: undefined };
    keys.serve([unnamed]);
    const gateway = await start();
    await expectLetIn(bearer(gateway, token(first)));
    await expectRefused(bearer(gateway, token(stranger)));
    keys.serve([unnamed, second.jwk ?? {}]);
    const mixed = await start();
    await expectRefused(bearer(mixed, token(first)));
    await expectLetIn(bearer(mixed, token(second)));
  });

  test.each([{ kid: 'first' }, { kid: undefined }])(
    'whose key is replaced by another one with the key id $kid is fetched for its first token, five times in 30 s at most',
    async ({ kid }) => {
      const [old, renewed] = [keySigner('ES256', 'first'), keySigner('ES256', 'first')];
      keys.serve([{ ...old.jwk, kid }]);
      const gateway = await start();
      await expectLetIn(bearer(gateway, token(old)));
      keys.serve([{ ...renewed.jwk, kid }]);
      for (const more of [1, 2]) await expectLetIn(bearer(gateway, token(renewed, { more })));
      await expectRefused(bearer(gateway, token(old)));
      expect(keys.fetched()).toBe(3);
      for (const more of [1, 2, 3, 4, 5]) await expectRefused(bearer(gateway, token(old, { more })));
      expect(keys.fetched()).toBe(6);
      later(31_000);
      await expectRefused(bearer(gateway, token(old)));
      expect(keys.fetched()).toBe(7);
    },
  );

  test('whose key is replaced while the provider fails: its tokens get 503, because their key may be new', async () => {
    const [old, renewed] = [keySigner('ES256', 'first'), keySigner('ES256', 'first')];
    keys.serve([old.jwk ?? {}]);
    const gateway = await start();
    await expectLetIn(bearer(gateway, token(old)));
    keys.serve((_, response) => response.writeHead(500).end());
    const { status, body } = await bearer(gateway, token(renewed));
    expect([status, JSON.parse(body).errors[0].extensions]).toMatchObject([
      503,
      { code: 'OVERLOADED', retryable: true },
    ]);
    keys.serve([renewed.jwk ?? {}]);
    await expectLetIn(bearer(gateway, token(renewed)));
    await expectRefused(bearer(gateway, token(old)));
  });

  test('that a proxy has changed on its way, which it says with 203, verifies too', async () => {
    keys.serve((_, response) => response.writeHead(203).end(JSON.stringify({ keys: [first.jwk] })));
    await expectLetIn(bearer(await start(), token(first)));
  });

  test('with several keys that fit a token without a key id is tried with each', async () => {
    const other = keySigner('RS256', 'other');
    keys.serve([first.jwk ?? {}, other.jwk ?? {}]);
    const gateway = await start();
    for (const signer of [first, other]) await expectLetIn(bearer(gateway, make(signer, { kid: undefined })));
    await expectRefused(bearer(gateway, make(stranger, { kid: undefined })));
  });
});

describe('client tokens', () => {
  const app = randomBytes(32).toString('base64url');
  const other = randomBytes(32).toString('base64url');
  const scopes = ['players:read', 'contacts:read', 'any-player'];
  const entry = { name: 'app', sha256: sha256(app), scopes };
  const withClients = (entries: object[]) => gatewayWith({ CLIENT_TOKENS_FILE: newFile('clients.json', entries) });

  test('name a caller that is no player and may do what its scopes say, also beside JWTs; the file is read once', async () => {
    const signer = secretSigner();
    const poor = { name: 'poor', sha256: sha256(other).toUpperCase(), scopes: ['players:read'] };
    const file = newFile('clients.json', [entry, poor]);
    const gateway = await gatewayWith({ ...signer.env, CLIENT_TOKENS_FILE: file });
    writeFileSync(file, JSON.stringify([{ ...entry, sha256: sha256('added') }]));
    await expectRefused(bearer(gateway, 'added'));
    await expectLetIn(bearer(gateway, app));
    await expectLetIn(bearer(gateway, token(signer)));
    const query = '{ me { id } player(playerUniqueId: "p1") { id } }';
    const { data, errors } = await gateway.query(query, {}, { authorization: `Bearer ${other}` });
    expect(data).toEqual({ me: null, player: null });
    expect(errors).toMatchObject([{ path: ['player'], extensions: { code: 'FORBIDDEN' } }]);
  });

  test('have at most 8,192 characters', async () => {
    const [longest, longer] = ['x'.repeat(8_192), 'x'.repeat(8_193)];
    const entries = [longest, longer].map((text) => ({ name: `${text.length}`, sha256: sha256(text), scopes }));
    const gateway = await withClients(entries);
    await expectLetIn(bearer(gateway, longest));
    await expectRefused(bearer(gateway, longer));
  });

  test('have scopes in a text too, with commas or spaces', async () => {
    const gateway = await withClients([{ ...entry, scopes: 'players:read, contacts:read any-player' }]);
    await expectLetIn(bearer(gateway, app));
  });

  test('are refused in any other form', async () => {
    const odd = ['to ken', 'a, Bearer b', 'x"y', 'a=b', '=='];
    const padded = randomBytes(32).toString('base64');
    const entries = [padded, ...odd].map((text, index) => ({ name: `${index}`, sha256: sha256(text), scopes }));
    const gateway = await withClients([entry, ...entries]);
    await expectLetIn(bearer(gateway, padded));
    const wrong = [sha256(app), app.slice(0, -1), `${app}a`, app.toUpperCase(), 'app', token(secretSigner())];
    for (const text of [...wrong, ...odd]) await expectRefused(bearer(gateway, text));
  });

  test('end when their time has come', async () => {
    const gateway = await withClients([{ ...entry, expiresAt: new Date(Date.now() + 60_000).toISOString() }]);
    await expectLetIn(bearer(gateway, app));
    later(61_000);
    await expectRefused(bearer(gateway, app));
  });
});
