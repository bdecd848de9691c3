import { once } from 'node:events';
import { createServer } from 'node:http';
import { beforeEach, expect, test } from '@jest/globals';
import { atEnd } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { raw } from '../kit/raw.ts';
import { AUDIENCE, bearer, ISSUER, keySigner, secretSigner } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';
import { startUpstream } from '../kit/upstream.ts';

/* Issue 46 on the built program, with default settings: what one caller does, no other one feels. */

const signer = secretSigner();
const upstream = await startUpstream();
const gateway = await startProcess({ ...signer.env, REST_BASE_URL: upstream.url, TRUST_PROXY: '1' });
beforeEach(() => upstream.reset());

const as = (sub: string, scope = '') => bearer(signer, { sub, scope: `players:read ${scope}` });
const ask = (query: string, headers: Record<string, string>) => post(gateway.url, { query }, headers);
/** The statuses of requests on one connection, which closes after the last response. */
const pipelined = async (
  count: number,
  lineOf: (n: number) => string,
  query: (n: number) => Record<string, string>,
) => {
  const requests = Array.from({ length: count }, (_, n) => {
    const head = `GET /graphql?${new URLSearchParams(query(n))} HTTP/1.1\r\nHost: gateway.test\r\n${lineOf(n)}\r\n`;
    return `${head}Apollo-Require-Preflight: 1\r\n${n === count - 1 ? 'Connection: close\r\n' : ''}\r\n`;
  });
  return (await raw(gateway.url, requests.join(''))).statuses;
};

test('row 9, slots: one token has 875 of 1,000 in flight, and 0 of 20 operations of others are refused', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream.on('GET /player', () => released.then(() => 'usual' as const));
  const server = as('shop', 'any-player');
  // A token that is being verified counts as a failure of its address until then.
  expect((await ask('{ __typename }', server)).status).toBe(200);
  const query = '{player(playerUniqueId:"p1"){referralLink}}';
  const answers = pipelined(
    875,
    () => `Authorization: ${server.authorization}`,
    () => ({ query }),
  );
  await gateway.pageWhen('/metrics', ({ text }) => text.includes('gateway_operations_active 875\n'));
  expect((await ask('{ __typename }', server)).codes).toEqual(['OVERLOADED']);
  const others = Array.from({ length: 20 }, async (_, n) => (await ask('{ __typename }', as(`p${n}`))).status);
  expect(await Promise.all(others)).toEqual(Array(20).fill(200));
  release();
  expect(await answers).toEqual(Array(875).fill(200));
});

test('a job whose events fail for every player of it: 0 of 40 events of another server, and of players, are refused', async () => {
  upstream.on('POST /event', ({ body }) => (JSON.stringify(body).includes('broken') ? { status: 500 } : 'usual'));
  const send = (id: string, name: string, headers: Record<string, string>) => {
    const query = `mutation { trackEvents(input: { playerUniqueId: "${id}", events: [{ name: "${name}" }] }) { eventNames } }`;
    return ask(query, headers);
  };
  const [job, shop] = [as('job', 'any-player events:write'), as('shop', 'any-player events:write')];
  const codes = [];
  for (let n = 0; n < 20; n += 1) {
    await Promise.all([0, 1, 2].map((more) => send(`of-job-${3 * n + more}`, 'broken', job)));
    codes.push(...(await send(`of-shop-${n}`, 'visit', shop)).codes);
    codes.push(...(await send(`player-${n}`, 'visit', as(`player-${n}`, 'events:write'))).codes);
  }
  expect(codes).toEqual([]);
  // The breaker of the job is open: one trial a second is sent.
  const sent = upstream.requests.filter(({ body }) => JSON.stringify(body).includes('broken'));
  expect(sent.length).toBeLessThan(40);
});

test('connections: while 120 coupon reads of one server hang, another server and players read coupons', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream.on('GET /coupon', async ({ path }) => {
    if (path.includes('/heavy-')) await released;
    return 'usual' as const;
  });
  const scope = 'coupons:read any-player';
  const ids = (from: number) => JSON.stringify(Array.from({ length: 40 }, (_, n) => `heavy-${from + n}`));
  const job = [0, 40, 80].map((from) =>
    ask(`{ players(playerUniqueIds: ${ids(from)}) { coupons { code } } }`, as('job', scope)),
  );
  // All of its share: 56 of 64 connections.
  await upstream.received(56);
  const read = (id: string, headers: Record<string, string>) =>
    ask(`{ player(playerUniqueId: "${id}") { coupons { code } } }`, headers);
  for (let n = 0; n < 20; n += 1) {
    const both = [read('p1', as('shop', scope)), read(`own-${n}`, as(`own-${n}`, 'coupons:read'))];
    expect((await Promise.all(both)).map(({ codes }) => codes)).toEqual([[], []]);
  }
  expect(upstream.calls().filter((call) => call.includes('/heavy-'))).toHaveLength(56);
  release();
  await Promise.all(job);
});

test('row 11, labels of metrics: a screen of five players has one after 1,000 names of one token', async () => {
  const send = (operationName: string, query: string, headers: Record<string, string>) =>
    post(gateway.url, { query, operationName }, headers);
  const names = Array.from({ length: 1_000 }, (_, n) => `Tool${n}`);
  const { authorization } = as('tool', 'any-player');
  const statuses = await pipelined(
    1_000,
    () => `Authorization: ${authorization}`,
    (n) => {
      const document = names.slice(n - (n % 50), n - (n % 50) + 50).map((name) => `query ${name} { __typename }`);
      return { query: document.join(' '), operationName: names[n] ?? '' };
    },
  );
  // A slow machine may reject some of a thousand at once.
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(500);
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  for (const sub of ['ada', 'bob', 'eve', 'kim', 'sam']) await send('Wallet', 'query Wallet { me { id } }', as(sub));
  await send('Alone', 'query Alone { me { id } }', as('ada'));
  const { text } = await gateway.page('/metrics');
  for (const metric of ['gateway_operations_total', 'gateway_operation_duration_seconds_count']) {
    const series = [...text.matchAll(new RegExp(`^${metric}\\{operation="(\\w+)",type="query"`, 'gm'))];
    const labels = new Set(series.map(([, name = '']) => name));
    expect([labels.has('Wallet'), labels.has('Alone'), labels.has('other')]).toEqual([true, false, true]);
    expect([...labels].filter((name) => !/^(?:other|anonymous)$/.test(name))).toHaveLength(100);
  }
});

test('row 20, new users: 20 of 20 get in beside 50,800 requests without a token from one IPv6 network', async () => {
  const inNetwork = (n: number) => `2001:db8:5:${n.toString(16)}::1`;
  const flood = await pipelined(
    50_800,
    (n) => `X-Forwarded-For: ${inNetwork(n)}`,
    () => ({}),
  );
  expect([flood.length, new Set(flood)]).toEqual([50_800, new Set([401, 429])]);
  // On a busy machine the flood makes the event loop late, and for a moment all requests get 503.
  await until(async () => (await ask('{ me { id } }', as('known'))).status === 200);
  // Half of them are in the same network.
  const addressOf = (n: number) => (n % 2 ? inNetwork(50_800 + n) : `203.0.113.${n}`);
  const users = Array.from({ length: 20 }, async (_, n) => {
    const headers = { ...as(`new-${n}`), 'x-forwarded-for': addressOf(n) };
    return (await ask('{ me { id } }', headers)).status;
  });
  expect(await Promise.all(users)).toEqual(Array(20).fill(200));
  // A bad token has its own address's limit.
  expect((await ask('{ me { id } }', { ...bearer('guess'), 'x-forwarded-for': '203.0.113.99' })).status).toBe(401);
});

test('row 22, keys: beside tokens with invented key ids a new key is accepted, or its users are told to wait', async () => {
  const [first, second, third] = ['first', 'second', 'third'].map((kid) => keySigner('ES256', kid));
  const published = [first];
  const server = createServer((_request, response) => {
    response.end(JSON.stringify({ keys: published.map((key) => key?.jwk) }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => server.close().closeAllConnections());
  const JWT_JWKS_URL = `http://127.0.0.1:${Object(server.address()).port}/keys`;
  const env = { REST_BASE_URL: upstream.url, JWT_JWKS_URL, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };
  const { url } = await startProcess(env);
  const send = (key = keySigner('ES256')) => post(url, { query: '{ me { id } }' }, bearer(key));
  const invent = async (kid: string) => (await send(keySigner('ES256', kid))).status;
  expect([(await send(first)).status, await invent('a')]).toEqual([200, 401]);
  published.push(second);
  expect((await send(second)).status).toBe(200);
  expect([await invent('b'), await invent('c'), await invent('d')]).toEqual([401, 401, 401]);
  // Five look-ups in 30 s.
  published.push(third);
  expect(await send(third)).toMatchObject({
    status: 503,
    errors: [{ extensions: { retryable: true, retryAfterMs: expect.any(Number) } }],
  });
  expect([(await send(second)).status, (await send(first)).status]).toEqual([200, 200]);
});
