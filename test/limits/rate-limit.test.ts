import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, jest, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { loadConfig } from '../../src/config/config.ts';
import { clientAddress, createAddressKeys } from '../../src/limits/addresses.ts';
import { createRateLimits, createWindows } from '../../src/limits/rate-limits.ts';
import { createRedisTimeout } from '../../src/redis-timeout.ts';
import { atEnd, newFile } from '../kit/at-end.ts';
import { startBoth, startGateway } from '../kit/gateway.ts';
import { post } from '../kit/post.ts';
import { redisIsInstalled, startRedis } from '../kit/redis.ts';
import { AUDIENCE, bearer, ISSUER, keySigner, secretSigner, sha256 } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';

const signer = secretSigner();

const player = (sub: string, scope = 'players:read coupons:read referrals:read') => bearer(signer, { sub, scope });
/** Seven units: `me`, a page of 200 friends, and 12 fields for each. */
const COSTLY = `{ me { id referredFriends(limit: 200) { nodes { ${'status '.repeat(12)} } a: count b: count } } }`;

type Both = Awaited<ReturnType<typeof startBoth>>;
/** The statuses of operations that one player sends at once. */
const sendAll = async ({ gateway }: Both, operations: string[], sub: string, scope?: string) => {
  const answers = await Promise.all(operations.map((operation) => gateway.query(operation, {}, player(sub, scope))));
  return answers.map(({ status }) => status).sort((one, other) => one - other);
};
const times = (count: number, status: number) => Array<number>(count).fill(status);
const readPlayer = (id: string, selection = 'id') => `{ player(playerUniqueId: "${id}") { ${selection} } }`;

test.each([
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['fe80::1:2%eth0', '65152:0:0:0'],
  ['2001:DB8:1:2::1', '8193:3512:1:2'],
  ['203.0.113.7:51123', '203.0.113.7'],
  ['[2001:db8:1:2::1]:443', '8193:3512:1:2'],
  ['x'.repeat(1_000), 'x'.repeat(64)],
  ['64:ff9b::cb00:7107', '203.0.113.7'],
  ['64:ff9b:1:fffe::203.0.113.7', '203.0.113.7'],
  [undefined, ''],
])('the client at %s is %s', (address, client) => {
  expect(clientAddress(address)).toBe(client);
});

test('more than 50,000 addresses in one window share one key', () => {
  const keyOf = createAddressKeys(60_000);
  for (let i = 0; i < 50_000; i += 1) keyOf(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  expect(keyOf('10.0.0.1')).toEqual({ key: '10.0.0.1', isShared: false });
  for (const late of ['203.0.113.7', '2001:db8::1']) expect(keyOf(late)).toEqual({ key: 'others', isShared: true });
});

test('a network of IPv6 with more than 500 clients is one address, and leaves room for others', () => {
  const keyOf = createAddressKeys(60_000);
  const inNetwork = (i: number) => keyOf(`2001:db8:7:${i.toString(16)}::1`);
  const keys = Array.from({ length: 65_536 }, (_, i) => inNetwork(i));
  expect(keys.filter(({ isShared }) => !isShared)).toHaveLength(500);
  expect(new Set(keys.slice(500).map(({ key }) => key))).toEqual(new Set([inNetwork(3).key]));
  for (const other of ['2001:db8:8::1', '203.0.113.7', '64:ff9b::1.2.3.4']) expect(keyOf(other).isShared).toBe(false);
});

describe('operations', () => {
  test('over a player’s limit are refused with 429, tell when to come back, and reach nobody', async () => {
    const both = await startBoth({ ...signer.env, MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '2' });
    const read = (id: string) => both.gateway.query(readPlayer(id), {}, player(id));
    const answers = await Promise.all(Array.from({ length: 20 }, () => read('p1')));
    const refused = answers.filter(({ status }) => status === 429);
    // A window ends after two seconds, which a busy machine may need.
    expect(refused.length).toBeGreaterThanOrEqual(12);
    expect(both.upstream.calls()).toHaveLength(20 - refused.length);
    for (const { errors, headers, data } of refused) {
      expect(data).toBeUndefined();
      const { retryAfterMs, ...extensions } = errors[0]?.extensions ?? {};
      expect(extensions).toEqual({ code: 'RATE_LIMITED', retryable: true });
      expect(retryAfterMs).toBeGreaterThan(0);
      expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    expect(await read('p2')).toMatchObject({ status: 200, data: { player: { id: 'p2' } } });
  });

  test('have a window that begins with a player’s first one, and ends for nobody else', async () => {
    let at = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => at);
    atEnd(() => clock.mockRestore());
    const begin = at;
    const { gateway } = await startBoth({ ...signer.env, MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '10' });
    const send = async (sub: string, seconds: number) => {
      at = begin + seconds * 1_000;
      return (await gateway.query('{ __typename }', {}, player(sub))).status;
    };
    for (let count = 0; count < 10; count += 1) expect(await send('late', 9)).toBe(200);
    expect(await send('late', 9)).toBe(429);
    // Windows that have ended are removed now.
    expect([await send('other', 10.5), await send('late', 10.5), await send('late', 18.9)]).toEqual([200, 429, 429]);
    for (let count = 0; count < 10; count += 1) expect(await send('late', 19)).toBe(200);
    expect(await send('late', 19)).toBe(429);
  });

  test('of a player that never stops are allowed again when its window ends', async () => {
    const redis = redisIsInstalled ? [{ REDIS_URL: (await startRedis()).url }] : [];
    for (const store of [{}, ...redis]) {
      const limits = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '3' };
      const { gateway } = await startBoth({ ...signer.env, ...store, ...limits });
      const send = async () => (await gateway.query('{ __typename }', {}, player('p1'))).status;
      await until(async () => (await send()) === 429);
      await until(async () => (await send()) === 200);
    }
  });

  test('of a client and of a player with its name are counted apart, and servers have a limit of their own', async () => {
    const client = { name: 'p1', sha256: sha256('client-token'), scopes: ['players:read'] };
    const file = newFile('clients.json', [client]);
    const limits = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '1' };
    const redis = redisIsInstalled ? [{ REDIS_URL: (await startRedis()).url }] : [];
    for (const store of [{}, ...redis]) {
      const both = await startBoth({ ...signer.env, ...limits, ...store, CLIENT_TOKENS_FILE: file });
      const send = async (headers: Record<string, string>) =>
        (await both.gateway.query('{ __typename }', {}, headers)).status;
      const exhaust = (headers: Record<string, string>) => Promise.all(Array.from({ length: 10 }, () => send(headers)));
      expect(await exhaust(player('p1'))).toContain(429);
      expect(await send(bearer('client-token'))).toBe(200);
      expect(await exhaust(bearer('client-token'))).toContain(429);
      expect(new Set(await exhaust(player('p1', 'players:read any-player')))).toEqual(new Set([200]));
      await exhaust(player('p2', 'players:read any-player'));
      expect(await send(player('p2'))).toBe(200);
    }
  });

  test('cost as much as their complexity says', async () => {
    // A window of 10 seconds, so that none ends during the test.
    const env = { ...signer.env, MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '10' };
    const both = await startBoth(env);
    expect(await sendAll(both, Array(11).fill('{ me { id } }'), 'cheap')).toEqual([...times(10, 200), 429]);
    // 7 of 10 points, so the second is refused. It has consumed one, and the cheap ones get the other two.
    expect(await sendAll(both, [COSTLY, COSTLY], 'costly')).toEqual([200, 429]);
    expect(await sendAll(both, Array(3).fill('{ me { id } }'), 'costly')).toEqual([200, 200, 429]);
    // Large bodies that come together take their units before one of their operations is executed.
    const large = await startBoth({ ...env, MAX_OPERATIONS_BURST: '60' });
    const unused = { unused: 'x'.repeat(250_000) };
    const six = Array.from({ length: 6 }, () => large.gateway.query('{ me { id } }', unused, player('large')));
    expect((await Promise.all(six)).map(({ status }) => status).sort()).toEqual([...times(5, 200), 429]);
    expect(large.upstream.calls()).toHaveLength(5);
    // Never more than the whole burst.
    const small = await startBoth({ ...env, MAX_OPERATIONS_BURST: '2' });
    expect(await sendAll(small, [COSTLY], 'p1')).toEqual([200]);
  });

  test('are counted when the gateway refuses what was sent too, and over the limit no body is read', async () => {
    const redis = redisIsInstalled ? [{ REDIS_URL: (await startRedis()).url }] : [];
    for (const store of [{}, ...redis]) {
      const env = { ...signer.env, ...store, MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '60' };
      const { gateway } = await startBoth(env);
      const bodies: [body: unknown, status: number][] = [
        [[{ query: '{ me { id } }' }], 400],
        [{ query: '{ me {' }, 400],
        [{ query: '{ me { nothing } }' }, 400],
        [{ query: '{ me { id } }', operationName: 'Missing' }, 400],
        [{ extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } }, 200],
        [{ id: 'unknown' }, 400],
        [{ query: '{ me { id } }', variables: Array(501).fill(1) }, 400],
        ['x'.repeat(300_000), 413],
      ];
      for (const [body, status] of bodies)
        expect(await post(gateway.url, body, player('p1'))).toMatchObject({ status });
      const sent = await post(gateway.url, { query: '{ me { id } }' }, player('p1'));
      expect(sent.headers.get('ratelimit')).toMatch(/^"operations";r=51;t=\d+$/);
      while ((await post(gateway.url, [], player('p1'))).status === 400);
      // It is not even found to be too large.
      expect(await post(gateway.url, 'x'.repeat(300_000), player('p1'))).toMatchObject({ status: 429 });
      expect((await post(gateway.url, { query: '{ me { id } }' }, player('p2'))).data).toEqual({ me: { id: 'p2' } });
    }
  });

  test('tell in every response to a caller what is left, never more than it may spend, and no other', async () => {
    const redis = redisIsInstalled ? [{ REDIS_URL: (await startRedis()).url }] : [];
    const env = { ...signer.env, MAX_OPERATIONS_PER_SECOND: '10', MAX_OPERATIONS_BURST: '300' };
    for (const store of [{}, ...redis]) await announce({ ...env, ...store, MAX_CONCURRENT_OPERATIONS: '1600' });
  });

  async function announce(env: Record<string, string>): Promise<void> {
    const { gateway } = await startBoth(env);
    const ask = (query: string, headers = player('p1')) => gateway.query(query, {}, headers);
    const leftIn = ({ headers }: { headers: Headers }) => Number(/;r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]);
    const first = await ask('{ me { id } }');
    expect(first.headers.get('ratelimit-policy')).toBe('"operations";q=300;w=30');
    expect(first.headers.get('ratelimit')).toMatch(/^"operations";r=299;t=30$/);
    // So many at once that most are under way while the first ones are answered.
    const many = await Promise.all(
      Array.from({ length: 100 }, (_, index) => ask(index % 4 ? '{ me { id } }' : COSTLY)),
    );
    expect(many.map(({ status }) => status)).toEqual(times(100, 200));
    const spent = 1 + 75 + 25 * 7;
    for (const left of many.map(leftIn)) expect(left).toBeGreaterThanOrEqual(300 - spent);
    // The one that was answered last.
    expect(Math.min(...many.map(leftIn))).toBe(300 - spent);
    for (let left = 300 - spent; left > 0; left -= 1) expect((await ask('{ __typename }')).status).toBe(200);
    const over = await ask('{ __typename }');
    expect([over.status, leftIn(over)]).toEqual([429, 0]);
    expect(leftIn(await ask('{ me {', player('p2')))).toBe(299);
    // A body of 100 KB costs four units more, refused or not, even if the operation does not use what is in it.
    expect(leftIn(await ask(`{ me { ${' '.repeat(100_000)}`, player('p3')))).toBe(295);
    const unused = await gateway.query('{ __typename }', { unused: 'x'.repeat(100_000) }, player('p4'));
    expect([unused.status, leftIn(unused)]).toEqual([200, 295]);
    const stranger = await post(gateway.url, { query: '{ me { id } }' });
    expect([stranger.status, stranger.headers.get('ratelimit')]).toEqual([401, null]);
  }

  test('that cost more than was left when they began make the window longer, in memory and in Redis', async () => {
    const url = redisIsInstalled ? (await startRedis()).url : '';
    for (const store of [{}, ...(url ? [{ REDIS_URL: url }] : [])]) {
      const env = { ...signer.env, ...store, MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '2' };
      const both = await startBoth(env);
      // Another replica knows only what Redis says.
      const other = url && 'REDIS_URL' in store ? await startGateway(both.upstream.url, env) : both.gateway;
      const sent = await both.gateway.query(`{ me { ${' '.repeat(250_000)}`, {}, player('p1'));
      // 11 units of a limit of one a second.
      expect([sent.status, sent.headers.get('ratelimit')]).toEqual([400, '"operations";r=0;t=11']);
      const refused = await other.query('{ __typename }', {}, player('p1'));
      expect([refused.status, refused.codes]).toEqual([429, ['RATE_LIMITED']]);
      expect(Number(refused.errors[0]?.extensions['retryAfterMs'])).toBeGreaterThan(2_000);
      // A refused operation does not make it longer.
      const again = await other.query('{ __typename }', {}, player('p1'));
      expect(Number(again.errors[0]?.extensions['retryAfterMs'])).toBeLessThanOrEqual(11_000);
      expect((await other.query('{ __typename }', {}, player('p2'))).status).toBe(200);
    }
  });

  test('lock nobody out for more than a minute, whatever they cost afterwards, in memory and in Redis', async () => {
    const clients = redisIsInstalled ? [new Redis((await startRedis()).url)] : [];
    for (const redis of [undefined, ...clients]) {
      if (redis) atEnd(() => redis.disconnect());
      const shared = redis && { redis, withTimeout: createRedisTimeout(1_000) };
      const [own, other] = [createWindows('w', 2, 2_000, shared), createWindows('w', 2, 2_000, shared)];
      for (let operation = 0; operation < 100; operation += 1) own.change('p1', 45);
      expect(own.left('p1').ms).toBeLessThanOrEqual(60_000);
      if (!redis) continue;
      await until(async () => !(await other.consume('p1', 1)) && other.left('p1').ms > 50_000);
      expect([own, other].map(({ left }) => left('p1').ms <= 60_000)).toEqual([true, true]);
    }
  });

  (redisIsInstalled ? test : test.skip)(
    'have no longer window when the clock of Redis is set back by an hour',
    async () => {
      const redis = new Redis((await startRedis()).url);
      atEnd(() => redis.disconnect());
      const shared = { redis, withTimeout: createRedisTimeout(1_000) };
      const [before, after, long] = [2_000, 2_000, 90_000].map((ms, at) => createWindows(`w${at >> 1}`, 2, ms, shared));
      expect([await before?.consume('p1', 2), await long?.consume('p1', 2)]).toEqual([true, true]);
      for (const key of await redis.keys('*')) await redis.pexpire(key, 3_600_000);
      expect([await after?.consume('p1', 1), await long?.consume('p1', -1)]).toEqual([false, true]);
      expect(after?.left('p1').ms).toBeLessThanOrEqual(60_000);
      expect(long?.left('p1').ms).toBeLessThanOrEqual(90_000);
    },
  );

  (redisIsInstalled ? test : test.skip)('of a busy caller begin from zero in each window of Redis', async () => {
    const redis = new Redis((await startRedis()).url);
    atEnd(() => redis.disconnect());
    const windows = createWindows('w', 1_000, 20, { redis, withTimeout: createRedisTimeout(1_000) });
    // Some of them arrive in the last millisecond of a window.
    for (let operation = 0; operation < 5_000; operation += 1) expect(await windows.consume('server', 1)).toBe(true);
  });

  test('that are refused for their large body consume one unit, and say when the rest is there', async () => {
    const { gateway } = await startBoth({ ...signer.env, MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '5' });
    expect((await gateway.query('{ __typename }', {}, player('p1'))).status).toBe(200);
    const refused = await gateway.query('{ __typename }', { unused: 'x'.repeat(250_000) }, player('p1'));
    expect([refused.status, refused.headers.get('ratelimit')]).toEqual([429, expect.stringMatching(/r=3;t=[45]$/)]);
    expect((await gateway.query('{ __typename }', {}, player('p1'))).status).toBe(200);
  });

  test('have windows of whole seconds, long enough for the burst', async () => {
    for (const [perSecond, burst, window] of [
      ['2', '5', 3],
      ['10', '10', 1],
    ]) {
      const limits = { MAX_OPERATIONS_PER_SECOND: `${perSecond}`, MAX_OPERATIONS_BURST: `${burst}` };
      const { gateway } = await startBoth({ ...signer.env, ...limits });
      const { headers } = await gateway.query('{ __typename }', {}, player('p1'));
      expect(headers.get('ratelimit-policy')).toBe(`"operations";q=${burst};w=${window}`);
    }
  });

  test('tell their cost to a client that asks for it, in production too', async () => {
    const { gateway } = await startBoth({ ...signer.env, NODE_ENV: 'production' });
    const ask = (headers: Record<string, string>) => gateway.query(COSTLY, {}, { ...player('p1'), ...headers });
    expect((await ask({})).extensions).toEqual({ requestId: expect.any(String) });
    const cost = { complexity: expect.any(Number), depth: 4, operations: 7 };
    expect((await ask({ 'x-operation-cost': 'true' })).extensions).toEqual({ requestId: expect.any(String), cost });
  });

  test('that were not seen before are limited for each caller, 50 in 5 s; known and listed ones are not', async () => {
    const texts = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => `query ${name}${i} { me { id } }`);
    // Too long to be remembered, so that only the manifest knows them.
    const listed = texts('Listed', 60).map((text) => `${text} #${'x'.repeat(16_384)}`);
    const file = { PERSISTED_OPERATIONS_FILE: newFile('manifest.json', { ...listed }) };
    const both = await startBoth({ ...signer.env, ...file, MAX_CONCURRENT_OPERATIONS: '1000' });
    expect(await sendAll(both, texts('New', 51), 'p1')).toEqual([...times(50, 200), 429]);
    expect(await sendAll(both, [...texts('New', 1), ...listed], 'p3')).toEqual(times(61, 200));
    expect(await sendAll(both, texts('Server', 60), 'shop', 'players:read any-player')).toEqual(times(60, 200));
    // The longest that is kept.
    const longest = `${texts('Longest', 1)} #`.padEnd(16_384, 'x');
    for (const _ of times(52, 200)) expect(await sendAll(both, [longest], 'p4')).toEqual([200]);
    // An operation that is not valid is new each time.
    const invalid = Array(60).fill('{ me { nothing } }');
    expect(await sendAll(both, invalid, 'p2')).toEqual([...times(50, 400), ...times(10, 429)]);
  });
});

describe('reads of coupons', () => {
  const env = { ...signer.env, MAX_COUPON_READS_PER_SECOND: '1', MAX_COUPON_READS_BURST: '1' };
  const server = { ...signer.env, MAX_SERVER_COUPON_READS_PER_SECOND: '1', MAX_SERVER_COUPON_READS_BURST: '3' };
  const couponCalls = ({ upstream }: Both) => upstream.calls().filter((call) => call.endsWith('/coupon'));

  test('over the limit are errors at their fields, beside the rest, and cause no call', async () => {
    // Enough calls for each player and its coupons, once.
    const both = await startBoth({ ...server, MAX_UPSTREAM_CALLS: '4' });
    const headers = player('server', 'players:read coupons:read any-player');
    const query = (ids: string) =>
      both.gateway.query(`{ players(playerUniqueIds: [${ids}]) { id referralLink coupons { code } } }`, {}, headers);
    expect((await query('"p1", "p2"')).errors).toEqual([]);
    both.upstream.forget();
    const { status, errors, data } = await query('"p3", "p4"');
    expect(status).toBe(200);
    const extensions = { code: 'RATE_LIMITED', retryable: true, retryAfterMs: expect.any(Number) };
    expect(errors).toMatchObject([0, 1].map((index) => ({ path: ['players', index, 'coupons'], extensions })));
    expect(data.players.map(({ id }: { id: string }) => id)).toEqual(['p3', 'p4']);
    expect(couponCalls(both)).toEqual([]);
  });

  test('of more players than the limit are allowed in one operation, which consumes all of it', async () => {
    const both = await startBoth(server);
    const headers = player('server', 'players:read coupons:read any-player');
    const query = (ids: string) =>
      both.gateway.query(`{ players(playerUniqueIds: [${ids}]) { coupons { code } } }`, {}, headers);
    expect((await query('"p1", "p2", "p3", "p4", "p5"')).errors).toEqual([]);
    expect(couponCalls(both)).toHaveLength(5);
    expect((await query('"p6"')).codes).toEqual(['RATE_LIMITED']);
  });

  test('take one of the allowance for a player, however often its coupons stand in the operation', async () => {
    const operation =
      '{ me { coupons { code } } me { coupons { code } } player(playerUniqueId: "p1") { a: coupons { code } b: coupons { code } } }';
    const both = await startBoth(env);
    const refused = await both.gateway.query(readPlayer('p2', 'coupons { code }'), {}, player('p1'));
    // What access refuses takes nothing.
    expect(refused.codes).not.toContain('RATE_LIMITED');
    expect((await both.gateway.query(operation, {}, player('p1'))).errors).toEqual([]);
    expect(couponCalls(both)).toHaveLength(1);
  });
});

describe('failed authentications', () => {
  const env = { ...signer.env, MAX_FAILED_AUTHENTICATIONS_PER_SECOND: '1', MAX_FAILED_AUTHENTICATIONS_BURST: '3' };
  /** Sends until a request is limited, twenty at most; the statuses. */
  const flood = async (url: string, headersOf: (index: number) => Record<string, string>, body: unknown = {}) => {
    const statuses: number[] = [];
    while (statuses.length < 20 && !statuses.includes(429)) {
      statuses.push((await post(url, body, headersOf(statuses.length))).status);
    }
    return statuses;
  };

  test('are limited by address, without a token too, and nobody learns whether a further token would have been right', async () => {
    const { gateway } = await startBoth({ ...env, TRUST_PROXY: 'true' });
    const from = (address: string, headers = {}) => ({ ...headers, 'x-forwarded-for': address });
    const guesses = await flood(gateway.url, () => from('203.0.113.7', bearer('guess')));
    expect([guesses.slice(0, 3), guesses.at(-1)]).toEqual([[401, 401, 401], 429]);
    expect((await post(gateway.url, {}, from('203.0.113.7', player('p1')))).status).toBe(429);
    // Addresses of one /64 are one client. With a token, a batch is refused as such.
    const missing = await flood(gateway.url, (i) => from(`2001:db8:1:2::${i}`), [{ query: '{ me { id } }' }]);
    expect([missing.slice(0, 3), missing.at(-1)]).toEqual([[401, 401, 401], 429]);
    expect(await gateway.metrics()).toContain(`{reason="missing"} ${missing.length}`);
    // Nor do alerts take them for operations of callers.
    expect(await gateway.metrics()).not.toContain('outcome="RATE_LIMITED"');
    const valid = await post(gateway.url, { query: '{ __typename }' }, from('203.0.113.9', player('p1')));
    expect(valid.status).toBe(200);
    expect(gateway.logged()).not.toContain('TRUST_PROXY');
  });

  test('are those of the client in front of trusted proxies, also of those that write a port behind an address', async () => {
    const { gateway } = await startBoth({ ...env, TRUST_PROXY: '127.0.0.1, 198.51.100.0/24, 2001:db8:f::/48' });
    const proxies = ['198.51.100.4', '198.51.100.5:50112', '2001:db8:f::6', '[2001:db8:f::7]', '[2001:db8:f::8]:443'];
    for (const [index, proxy] of proxies.entries()) {
      const from = (network: string) => ({
        ...bearer('guess'),
        'x-forwarded-for': `${network}.${index}:1717, ${proxy}`,
      });
      expect(await flood(gateway.url, () => from('203.0.113'))).toContain(429);
      expect([proxy, (await post(gateway.url, {}, from('192.0.2'))).status]).toEqual([proxy, 401]);
    }
  });

  (redisIsInstalled ? test : test.skip)('over their limit are answered from memory', async () => {
    const redis = await startRedis();
    const { gateway } = await startBoth({ ...env, REDIS_URL: redis.url });
    const client = new Redis(redis.url);
    atEnd(() => client.disconnect());
    expect(await flood(gateway.url, () => bearer('guess'))).toContain(429);
    const evaluations = async () => /cmdstat_eval:calls=(\d+)/.exec(await client.info('commandstats'))?.[1];
    const before = Number(await evaluations());
    const began = performance.now();
    for (let i = 0; i < 60; i += 1) await post(gateway.url, {}, bearer('guess'));
    expect(Number(await evaluations()) - before).toBeLessThanOrEqual(
      5 + 2 * Math.ceil((performance.now() - began) / 1_000),
    );
  });

  test('that are forgiven in a later window allow no more failures in it', async () => {
    const clients = redisIsInstalled ? [new Redis((await startRedis()).url)] : [];
    for (const redis of [undefined, ...clients]) {
      if (redis) atEnd(() => redis.disconnect());
      const rates = { ...loadConfig({}).rates, failedAuthentications: { perSecond: 1, burst: 10 } };
      const { failureOf } = createRateLimits(rates, redis && { redis, withTimeout: createRedisTimeout(1_000) });
      const { count, forgive } = failureOf('192.0.2.1');
      for (let forgiven = 0; forgiven < 5; forgiven += 1) forgive();
      const counted = await Promise.allSettled(Array.from({ length: 11 }, count));
      expect(counted.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    }
  });

  test('are not those of tokens that nobody can verify while the provider of the keys fails', async () => {
    const failing = createServer((_request, response) => void response.writeHead(500).end());
    await once(failing.listen(0, '127.0.0.1'), 'listening');
    atEnd(() => failing.close().closeAllConnections());
    const keys = `http://127.0.0.1:${Object(failing.address()).port}/keys`;
    const provider = { JWT_SECRET: '', JWT_JWKS_URL: keys, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };
    const { gateway } = await startBoth({ ...env, ...provider });
    const headers = bearer(keySigner('RS256', 'first'));
    for (let i = 0; i < 10; i += 1) expect((await post(gateway.url, {}, headers)).status).toBe(503);
  });

  test('are counted by the address of the connection unless a proxy is trusted, and not for valid tokens', async () => {
    const { gateway } = await startBoth(env);
    for (let i = 0; i < 20; i++) {
      expect((await post(gateway.url, { query: '{ __typename }' }, player(`p${i}`))).status).toBe(200);
    }
    // The proxy's own address, 127.0.0.1, is only a part of it.
    const guesses = (i: number) => ({ ...bearer('guess'), 'x-forwarded-for': `127.0.0.1${i % 100}` });
    expect(await flood(gateway.url, guesses)).toContain(429);
    expect(gateway.logged().match(/so all clients behind it count as one address: set TRUST_PROXY/g)).toHaveLength(1);
  });
});

test('an operation costs a unit for each ten REST calls, also for languages that the account does not have', async () => {
  const both = await startBoth({ ...signer.env, MAX_OPERATIONS_PER_SECOND: '10', MAX_OPERATIONS_BURST: '100' });
  both.upstream.on('GET /player', ({ headers }) => (headers['lang'] ? { status: 400, json: { code: 5 } } : 'usual'));
  const links = Array.from({ length: 12 }, (_, n) => `a${n}: referralLink(lang: "x${String.fromCharCode(97 + n)}")`);
  const send = (sub: string, query: string) => both.gateway.query(query, {}, player(sub));
  const left = ({ headers }: Awaited<ReturnType<typeof send>>) =>
    Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  const first = left(await send('p1', '{ me { id } }'));
  const { errors, extensions } = await send('p1', `{ me { ${links.join(' ')} } }`);
  // Twelve languages, and one read without.
  expect([errors, both.upstream.calls().length]).toEqual([[], 14]);
  expect(extensions['cost']).toMatchObject({ operations: 2 });
  expect(first - left(await send('p1', '{ me { id } }'))).toBe(3);
  expect(left(await send('p2', '{ me { id } }'))).toBe(first);
});
