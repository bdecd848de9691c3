import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { Secret } from '../src/config/secret.ts';
import { createBuckets, createSharedBuckets, type RateLimit } from '../src/limits/buckets.ts';
import { connectRedis, type SharedState } from '../src/process/redis.ts';
import { type GatewayProcess, startProcess } from './kit/process.ts';
import { redisIsInstalled, startRedis, type TestRedis } from './kit/redis.ts';
import { startUpstream, type Upstream } from './kit/upstream.ts';

/* A Redis that is there, gone, or hangs: connected and silent. */

jest.setTimeout(60_000);
const named = redisIsInstalled ? describe : describe.skip;
if (!redisIsInstalled) process.stderr.write('redis-server is not installed: the tests with a Redis are skipped.\n');

let redis: TestRedis;
const cleanUps: (() => unknown)[] = [];
beforeEach(async () => {
  if (!redisIsInstalled) return;
  redis = await startRedis();
  cleanUps.push(() => redis.kill());
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

named('a gateway with Redis', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
    cleanUps.push(() => upstream.close());
  });

  async function start(): Promise<GatewayProcess> {
    const gateway = await startProcess({
      REST_BASE_URL: upstream.url,
      REDIS_URL: redis.url,
      MAX_SERVER_OPERATIONS_PER_SECOND: '1000000',
    });
    cleanUps.push(() => gateway.kill());
    return gateway;
  }

  test('the log tells once when Redis is gone and once when it is back', async () => {
    const gateway = await start();
    await redis.kill();
    await gateway.logged(({ level, msg }) => level === 40 && /^Redis is not reachable/.test(msg));
    redis = await startRedis(redis.port);
    await gateway.logged(({ msg }) => msg === 'Redis is reachable again');
  });

  test('the metrics tell whether Redis is up', async () => {
    const gateway = await start();
    await gateway.pageWhen('/metrics', ({ text }) => text.includes('\ngateway_redis_up 1'));
    await redis.kill();
    await gateway.pageWhen('/metrics', ({ text }) => text.includes('\ngateway_redis_up 0'));
  });
});

named('shared buckets', () => {
  async function connect(): Promise<SharedState> {
    const url = new Secret(redis.url);
    const shared = await connectRedis(url, pino({ level: 'silent' }));
    cleanUps.push(() => shared.close());
    return shared;
  }
  const bucketsOf = (shared: SharedState, limit: RateLimit, local = limit) =>
    createSharedBuckets({ name: 'test', limit, shared, local: createBuckets(local) });

  test('a rotated URL that is none does not end the process, and the connection comes back', async () => {
    const url = new Secret(redis.url);
    const shared = await connectRedis(url, pino({ level: 'silent' }));
    cleanUps.push(() => shared.close());
    url.change('redis://default:ab/cd100%@127.0.0.1');
    const { port } = redis;
    await redis.kill();
    const tooLong = AbortSignal.timeout(20_000);
    const turn = () => new Promise((resolve) => setImmediate(resolve)).then(() => tooLong.throwIfAborted());
    while (shared.isUp()) await turn();
    redis = await startRedis(port);
    cleanUps.push(() => redis.kill());
    while (!shared.isUp()) await turn();
    expect(await shared.get('a key that is not there')).toBeNull();
  });

  test('two processes together give out the burst and then the rate', async () => {
    const limit = { perSecond: 20, burst: 50 };
    const both = [bucketsOf(await connect(), limit), bucketsOf(await connect(), limit)];
    const began = performance.now();
    let taken = 0;
    while (performance.now() - began < 500) {
      const waits = await Promise.all(both.flatMap((buckets) => [buckets.take('a'), buckets.take('a')]));
      taken += waits.filter((wait) => wait === 0).length;
    }
    const seconds = (performance.now() - began) / 1_000;
    expect(taken).toBeGreaterThanOrEqual(50);
    expect(taken).toBeLessThanOrEqual(50 + Math.ceil(20 * seconds));
  });

  test('a cost is taken whole or not at all, and one above the burst when the bucket is full', async () => {
    const buckets = bucketsOf(await connect(), { perSecond: 0.1, burst: 10 });
    expect(await buckets.take('a', 7)).toBe(0);
    expect(await buckets.take('a', 4)).toBeGreaterThan(5_000);
    expect(await buckets.take('a', 3)).toBe(0);
    expect(await buckets.take('a')).toBeGreaterThan(9_000);
    expect(await buckets.take('b', 99)).toBe(0);
    expect(await buckets.take('b')).toBeGreaterThan(9_000);
  });

  test('a debt is taken beyond empty, and this process knows of it without asking', async () => {
    const buckets = bucketsOf(await connect(), { perSecond: 1, burst: 2 });
    buckets.debt('a', 5);
    expect(await buckets.take('a')).toBeGreaterThan(3_000);
    expect(buckets.wait('a')).toBeGreaterThan(3_000);
    expect(buckets.wait('b')).toBe(0);
  });

  test('while Redis hangs one caller a second waits for it, and the local bucket decides', async () => {
    const shared = await connect();
    let asked = 0;
    const counted: SharedState = {
      ...shared,
      evaluate(...args) {
        asked += 1;
        return shared.evaluate(...args);
      },
    };
    const buckets = bucketsOf(counted, { perSecond: 1, burst: 1 }, { perSecond: 1, burst: 1_000_000 });
    expect(await buckets.take('a')).toBe(0);
    expect(await buckets.take('a')).toBeGreaterThan(0);
    // The first answer told that the bucket is empty now.
    expect(asked).toBe(1);
    redis.hang();
    const began = performance.now();
    for (let caller = 0; performance.now() - began < 2_500; caller += 1) {
      // Always five at once, of callers that were not here before.
      const waits = await Promise.all(['v', 'w', 'x', 'y', 'z'].map((name) => buckets.take(`${name}${caller}`)));
      expect(waits).toEqual([0, 0, 0, 0, 0]);
      await new Promise(setImmediate);
    }
    // The first five at once, and then one a second.
    expect(asked - 1).toBeGreaterThanOrEqual(6);
    expect(asked - 1).toBeLessThanOrEqual(5 + 2);
    redis.resume();
  });

  test('without Redis the local bucket decides', async () => {
    const buckets = bucketsOf(await connect(), { perSecond: 1, burst: 1 }, { perSecond: 1, burst: 3 });
    await redis.kill();
    const waits: number[] = [];
    for (let i = 0; i < 5; i += 1) waits.push(await buckets.take('a'));
    expect(waits.slice(0, 3)).toEqual([0, 0, 0]);
    expect(waits[4]).toBeGreaterThan(0);
  });
});

describe('buckets of one process', () => {
  test('take a cost whole or not at all, and a debt beyond empty', () => {
    let now = 0;
    const buckets = createBuckets({ perSecond: 1, burst: 10 }, () => now);
    expect([buckets.take('a', 7), buckets.take('a', 4), buckets.take('a', 3), buckets.take('a')]).toEqual([
      0, 1_000, 0, 1_000,
    ]);
    buckets.debt('a', 5);
    expect([buckets.wait('a'), buckets.take('a', 2)]).toEqual([6_000, 7_000]);
    now = 6_000;
    expect(buckets.take('a')).toBe(0);
    expect([buckets.take('b', 99), buckets.take('b')]).toEqual([0, 1_000]);
  });
});
