import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as elapsed } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { post } from '../kit/gateway.ts';
import type { GatewayProcess } from '../kit/process.ts';
import { redisIsInstalled, startRedis } from '../kit/redis.ts';
import { ask, atEnd, ENDED, start } from './setup.ts';

/* What clients see of a rolling restart, and of a Redis that is killed or hangs. Prints figures. */

const UNLIMITED = { MAX_SERVER_OPERATIONS_PER_SECOND: '100000', MAX_SERVER_OPERATIONS_BURST: '100000' };

/** How an operation failed, or how many milliseconds it took. */
type Outcome = string | number;

/**
 * Sends an operation. A machine that is busy with other tests makes the gateway refuse requests with OVERLOADED, as it should;
 * they are sent again after `Retry-After` (docs/retries.md), which counts as time.
 */
async function send(url: string): Promise<Outcome> {
  const began = performance.now();
  for (let retries = 0; ; retries += 1) {
    try {
      const { text, status, headers } = await ask({ url });
      if (text.includes('{"player":{"id":"p1"}}')) return performance.now() - began;
      if (retries === 4 || !text.includes('"OVERLOADED"')) return `${status} ${text.slice(0, 150)}`;
      await elapsed(Number(headers.get('retry-after')) * 1_000);
    } catch (error) {
      return String(Object(error).cause ?? error);
    }
  }
}

/** Sends so many operations a second until `until` resolves. */
async function load(url: string, perSecond: number, until: Promise<unknown>) {
  const sent: Promise<Outcome>[] = [];
  const began = performance.now();
  const timer = setInterval(() => {
    while (sent.length < ((performance.now() - began) / 1_000) * perSecond) sent.push(send(url));
  }, 5);
  await until;
  clearInterval(timer);
  const outcomes = await Promise.all(sent);
  const times = outcomes.filter((outcome) => typeof outcome === 'number').sort((a, b) => a - b);
  const failures = outcomes.filter((outcome) => typeof outcome === 'string');
  const p99 = times[Math.floor(times.length * 0.99)] ?? 0;
  console.log(`${failures.length} of ${sent.length} failed, p99 ${p99.toFixed(0)} ms`);
  return { count: sent.length, failures, p99 };
}

/** A balancer that asks each gateway for its readiness every 200 ms, and takes turns between those that are ready. */
async function startBalancer(gateways: GatewayProcess[]) {
  let ready = [...gateways];
  let turn = 0;
  const poll = setInterval(async () => {
    const isReady = (gateway: GatewayProcess) =>
      gateway.page('/readyz').then(
        ({ status }) => status === 200,
        () => false,
      );
    const asked = [...gateways];
    const states = await Promise.all(asked.map(isReady));
    ready = asked.filter((_gateway, index) => states[index]);
  }, 200);
  const server = createServer(async (incoming, outgoing) => {
    const url = ready[turn++ % ready.length]?.url ?? 'none';
    try {
      const { status, text } = await post(url, await json(incoming));
      outgoing.writeHead(status).end(text);
    } catch (error) {
      outgoing.writeHead(502).end(String(Object(error).cause ?? error));
    }
  });
  // What is tried is the gateway's connections, not the balancer's.
  server.keepAliveTimeout = 600_000;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => {
    clearInterval(poll);
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a rolling restart behind a balancer that polls readiness loses none of 1,600 operations', async () => {
  const env = { SHUTDOWN_DELAY_MS: '2500', ...UNLIMITED };
  const gateways = [await start(env), await start(env)];
  const url = await startBalancer(gateways);
  const roll = async () => {
    for (const old of [...gateways]) {
      gateways.push(await start(env));
      old.child.kill('SIGTERM');
      expect(await old.ended).toEqual(ENDED);
      gateways.splice(gateways.indexOf(old), 1);
    }
  };
  const { count, failures } = await load(url, 200, Promise.all([roll(), elapsed(8_100)]));
  expect(count).toBeGreaterThanOrEqual(1_600);
  expect(failures).toEqual([]);
});

(redisIsInstalled ? describe : describe.skip)('with Redis', () => {
  test('that hangs for 5 s, or is killed, nothing fails at 150 operations a second', async () => {
    const redis = await startRedis();
    atEnd(redis.kill);
    const gateway = await start({ REDIS_URL: redis.url, ...UNLIMITED });
    const faults = async () => {
      redis.hang();
      await elapsed(5_000);
      redis.resume();
      await elapsed(2_000);
      await redis.kill();
      await elapsed(2_000);
      atEnd((await startRedis(redis.port)).kill);
      await elapsed(1_000);
    };
    const usual = await load(gateway.url, 150, elapsed(3_000));
    const { failures, p99 } = await load(gateway.url, 150, faults());
    expect(failures).toEqual([]);
    // Not one in a hundred waits for the hanging Redis: that would take seconds. On a busy machine everything takes longer.
    expect(p99).toBeLessThan(2_500 + usual.p99);
  });
});
