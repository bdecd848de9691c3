import { describe, expect, test } from '@jest/globals';
import type { GatewayProcess } from '../kit/process.ts';
import { redisIsInstalled, startRedis } from '../kit/redis.ts';
import { until } from '../kit/until.ts';
import { ask, atEnd, start } from './setup.ts';

/* A Redis that is there, gone, or hangs: connected and silent. */

async function startBoth(env: Record<string, string> = {}) {
  const redis = await startRedis();
  atEnd(redis.kill);
  return { redis, gateway: await start({ REDIS_URL: redis.url, ...env }) };
}

const isLost = ({ level, msg }: { level: number; msg: string }) => level === 40 && /^Redis is not reachable/.test(msg);
const isBack = ({ msg }: { msg: string }) => msg === 'Redis is reachable again';
const metricIs = ({ pageWhen }: GatewayProcess, up: 0 | 1) =>
  pageWhen('/metrics', ({ text }) => text.includes(`\ngateway_redis_up ${up}`));

(redisIsInstalled ? describe : describe.skip)('a gateway with a Redis of its own', () => {
  test('logs one line when it is lost and one when it is back, and the metrics show it', async () => {
    const { redis, gateway } = await startBoth();
    await metricIs(gateway, 1);
    await redis.kill();
    await metricIs(gateway, 0);
    await gateway.logged(isLost);
    expect((await ask(gateway)).status).toBe(200);
    atEnd((await startRedis(redis.port)).kill);
    await gateway.logged(isBack);
    await metricIs(gateway, 1);
    expect([isLost, isBack].map((is) => gateway.log().filter(is).length)).toEqual([1, 1]);
  });

  test('while Redis hangs, one operation a second waits for it, the process counts by itself', async () => {
    const limits = { MAX_SERVER_OPERATIONS_PER_SECOND: '10', MAX_SERVER_OPERATIONS_BURST: '1000' };
    const { redis, gateway } = await startBoth(limits);
    const medianUntil = async (isOver: (times: number[]) => boolean) => {
      const times: number[] = [];
      while (!isOver(times)) {
        const sent = performance.now();
        expect([200, 429]).toContain((await ask(gateway)).status);
        times.push(performance.now() - sent);
      }
      return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
    };
    const usual = await medianUntil(({ length }) => length === 20);
    redis.hang();
    const began = performance.now();
    const median = await medianUntil(() => performance.now() - began > 2_500);
    await gateway.logged(isLost);
    // If every operation waited, each would take 40 ms longer.
    expect(median).toBeLessThan(usual + 30);
    redis.resume();
    await until(async () => {
      await ask(gateway);
      return gateway.log().some(isBack);
    });
  });
});
