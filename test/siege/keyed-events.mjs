/* Events with an idempotency key: beside a Redis that pauses, is far away or hangs, and from clients that do not wait. */
import { spawn, spawnSync } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from '../bench/processes.mjs';
import { withGateway } from './checks.mjs';
import { own, tokens } from './programs.mjs';
import { client, open, pace, request } from './wire.mjs';

export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

const eventOf = (key, player = 'p1') => ({
  query: 'mutation Track($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames } }',
  variables: { input: { playerUniqueId: player, idempotencyKey: key, events: [{ name: 'visit' }] } },
});
const READ = { query: '{ player(playerUniqueId: "p2") { id referralLink } }' };

/** A Redis of its own, and a proxy in front of it: each piece takes `delayMs` longer. */
async function startRedis() {
  const port = await freePort();
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--enable-debug-command', 'local'];
  const child = own(spawn('redis-server', options, { stdio: 'ignore' }));
  const admin = new Redis(port, '127.0.0.1', { retryStrategy: () => 50 });
  admin.on('error', () => {});
  await admin.ping();
  const proxy = { delayMs: 0 };
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [from, to],
      [to, from],
    ]) {
      one.setNoDelay(true).on('error', () => {});
      one.on('close', () => other.destroy());
      one.on('data', (data) => setTimeout(() => other.writable && other.write(data), proxy.delayMs));
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `redis://127.0.0.1:${server.address().port}/0`,
    proxy,
    pause: (ms) => admin.call('DEBUG', 'SLEEP', `${ms / 1_000}`),
    hang: () => child.kill('SIGSTOP'),
    stop() {
      admin.disconnect();
      server.close();
      child.kill('SIGKILL');
    },
  };
}

/** A hundred events and a hundred reads a second, for so long. Which of them were refused, and the longest read. */
async function load(gateway, name, ms) {
  const send = client({ url: gateway.url, authorization: tokens.server, from: '127.0.0.1' }, 400);
  const seen = { events: 0, refused: 0, readsRefused: 0, longestRead: 0 };
  const one = async (number) => {
    const began = performance.now();
    const event = number % 2 === 0;
    const { text } = await send(event ? eventOf(`${name}-${number}`) : READ);
    const isRefused = !text.includes('"data"') || text.includes('"errors"');
    if (event) seen.events += 1;
    if (isRefused) seen[event ? 'refused' : 'readsRefused'] += 1;
    if (!event) seen.longestRead = Math.max(seen.longestRead, performance.now() - began);
  };
  const sent = [];
  const began = performance.now();
  for (let number = 0; performance.now() - began < ms; number += 1) {
    sent.push(one(number));
    await sleep(Math.max(0, began + number * 5 - performance.now()));
  }
  await Promise.all(sent);
  return seen;
}

/** Redis pauses for 80 ms, is 5, 45 and 80 ms away, and hangs. */
export async function slowRedis(upstream) {
  upstream.become({ delayMs: 5 });
  const redis = await startRedis();
  try {
    return await withGateway(upstream, { REDIS_URL: redis.url }, async (gateway) => {
      const isUp = async () => (await gateway.metrics()).includes('\ngateway_redis_up 1');
      await load(gateway, 'first', 500);
      const paused = load(gateway, 'pauses', 3_000);
      for (let left = 3; left > 0; left -= 1) {
        await sleep(700);
        await redis.pause(80);
      }
      const rows = [await paused];
      const up = [await isUp()];
      for (const away of [5, 45, 80]) {
        redis.proxy.delayMs = away / 2;
        rows.push(await load(gateway, `away-${away}`, 1_500));
        up.push(await isUp());
      }
      redis.proxy.delayMs = 0;
      redis.hang();
      const hanging = await load(gateway, 'hangs', 2_000);
      const refused = rows.map((row) => row.refused);
      const readsRefused = [...rows, hanging].reduce((sum, row) => sum + row.readsRefused, 0);
      return {
        ok: refused.every((number) => number === 0) && !up.includes(false) && readsRefused === 0,
        seen: `events refused: ${refused[0]} of ${rows[0].events} with pauses, ${refused.slice(1).join(', ')} from 5, 45, 80 ms away; Redis up ${up.every(Boolean)}; while it hangs ${hanging.refused} of ${hanging.events} events and ${hanging.readsRefused} reads, the longest read ${hanging.longestRead.toFixed(0)} ms`,
      };
    });
  } finally {
    redis.stop();
  }
}

/** One player's clients send events and disconnect at once: their calls go on, and count. */
export async function abandonedEvents(upstream) {
  upstream.become({ delayMs: 2_000 });
  // The rate is not what bounds them here.
  const env = { REST_CONNECTIONS: '1000', MAX_OPERATIONS_PER_SECOND: '1000', MAX_OPERATIONS_BURST: '2000' };
  return await withGateway(upstream, env, async (gateway) => {
    const player = tokens.players[0];
    let over = false;
    const counts = {};
    const count = (what) => {
      counts[what] = (counts[what] ?? 0) + 1;
    };
    const attack = pace(200, (number) => {
      if (over) return;
      const socket = open({ port: gateway.port, count });
      socket.write(request(player, JSON.stringify(eventOf(`gone-${number}`, 'player-0'))));
      setTimeout(() => socket.destroy(), 50);
    });
    void attack;
    let [most, unlike] = [0, 0];
    for (let looks = 0; looks < 20; looks += 1) {
      await sleep(200);
      const metrics = await gateway.metrics();
      const [calls, slots] = ['rest_requests_active', 'gateway_operations_active'].map((name) =>
        Number(new RegExp(`\\n${name} (\\d+)`).exec(metrics)?.[1]),
      );
      most = Math.max(most, calls);
      if (calls > slots) unlike += 1;
    }
    over = true;
    const other = client({ url: gateway.url, authorization: tokens.players[1], from: '127.0.0.1' });
    const { status } = await other({ query: '{ __typename }' });
    return {
      ok: most <= 125 && unlike === 0 && status === 200,
      seen: `at most ${most} calls in flight, ${unlike} times more than slots, another player gets ${status}`,
    };
  });
}
