/*
 * Many players with tokens of their own on the built gateway for a long time: does its memory level off? Run it with
 * `npm run build && node test/bench/soak-callers.mjs`, or with `--minutes 2 --callers 1000`. It uses only the loopback
 * interface. It prints the memory of every minute and what was not answered with data.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { startOurs, tokenOf } from './processes.mjs';
import { startRestService } from './rest-service.mjs';
import { bodyOf, headersOf, WORKLOADS } from './workloads.mjs';

const RATE = 150;
const TICK_MS = 20;
const options = { minutes: { type: 'string', default: '10' }, callers: { type: 'string', default: '25000' } };
const { minutes, callers } = parseArgs({ options }).values;

const upstream = await startRestService();
const gateway = await startOurs(upstream.url, 'anywhere');
/** By player. */
const tokens = new Map();
const pool = new Pool(gateway.url, { connections: 64 });
const outcomes = new Map();
const times = [];
try {
  console.log(`${callers} callers, ${RATE} operations a second, ${minutes} minutes`);
  const began = performance.now();
  const open = new Set();
  let sent = 0;
  let minute = 0;
  while (minute < minutes) {
    const due = ((performance.now() - began) / 1_000) * RATE;
    for (; sent < due; sent += 1) {
      const request = send(sent % callers).finally(() => open.delete(request));
      open.add(request);
    }
    if (performance.now() - began >= (minute + 1) * 60_000) {
      minute += 1;
      const { rss } = await gateway.usage();
      console.log(`minute ${minute}: ${(rss / 1e6).toFixed(0)} MB, ${sent} sent`);
    }
    await sleep(TICK_MS);
  }
  await Promise.all(open);
  times.sort((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((share) => times[Math.floor(times.length * share)]?.toFixed(1));
  console.log('outcomes:', Object.fromEntries(outcomes), `p50 ${p50} ms, p99 ${p99} ms`);
} finally {
  await Promise.all([gateway.stop(), upstream.close(), pool.destroy()]);
}

/** One player reads itself, its coupons and its friends. */
async function send(caller) {
  const id = `player-${caller}`;
  if (!tokens.has(id)) tokens.set(id, await tokenOf(id, ''));
  const headers = headersOf(tokens.get(id));
  const body = bodyOf(WORKLOADS['W2 round trip'], id);
  const started = performance.now();
  let outcome;
  try {
    const response = await pool.request({ method: 'POST', path: '/graphql', headers, body });
    const { data, errors } = await response.body.json();
    outcome = data?.player && !errors ? 'data' : `${response.statusCode} ${errors?.[0]?.extensions?.code}`;
  } catch (error) {
    outcome = error.code ?? error.message;
  }
  times.push(performance.now() - started);
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}
