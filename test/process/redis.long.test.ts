import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { post } from '../kit/gateway.ts';
import { type GatewayProcess, startProcess } from '../kit/process.ts';
import { redisIsInstalled, startRedis, type TestRedis } from '../kit/redis.ts';
import { until } from '../kit/until.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

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

named('a gateway with a Redis of its own', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
    cleanUps.push(() => upstream.close());
  });

  async function start(env: Record<string, string> = {}): Promise<GatewayProcess> {
    const gateway = await startProcess({ REST_BASE_URL: upstream.url, REDIS_URL: redis.url, ...env });
    cleanUps.push(() => gateway.kill());
    return gateway;
  }
  const ask = async ({ url }: GatewayProcess) =>
    (await post(url, { query: '{ player(playerUniqueId: "p1") { id } }' })).status;

  test('logs one line when it is lost and one when it is back, and the metrics show it', async () => {
    const gateway = await start();
    await gateway.pageWhen('/metrics', ({ text }) => text.includes('\ngateway_redis_up 1'));
    await redis.kill();
    await gateway.pageWhen('/metrics', ({ text }) => text.includes('\ngateway_redis_up 0'));
    await gateway.logged(({ level, msg }) => level === 40 && /^Redis is not reachable/.test(msg));
    expect(await ask(gateway)).toBe(200);
    redis = await startRedis(redis.port);
    cleanUps.push(() => redis.kill());
    await gateway.logged(({ msg }) => msg === 'Redis is reachable again');
    await gateway.pageWhen('/metrics', ({ text }) => text.includes('\ngateway_redis_up 1'));
  });

  test('while Redis hangs, one operation a second waits for it, the process counts by itself', async () => {
    const gateway = await start({ MAX_SERVER_OPERATIONS_PER_SECOND: '10', MAX_SERVER_OPERATIONS_BURST: '1000' });
    const timesUntil = async (isOver: (times: number[]) => boolean) => {
      const times: number[] = [];
      while (!isOver(times)) {
        const sent = performance.now();
        expect([200, 429]).toContain(await ask(gateway));
        times.push(performance.now() - sent);
      }
      return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
    };
    const usual = await timesUntil(({ length }) => length === 20);
    redis.hang();
    const began = performance.now();
    const median = await timesUntil(() => performance.now() - began > 2_500);
    await gateway.logged(({ level, msg }) => level === 40 && /^Redis is not reachable/.test(msg));
    // If every operation waited, each would take 40 ms longer.
    expect(median).toBeLessThan(usual + 30);
    redis.resume();
    let isBack = false;
    const back = gateway
      .logged(({ msg }) => msg === 'Redis is reachable again')
      .then(() => {
        isBack = true;
      });
    await until(async () => {
      await ask(gateway);
      return isBack;
    });
    await back;
  });
});
