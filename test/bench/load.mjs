/* Puts load on a server and measures what it costs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import autocannon from 'autocannon';
import { Pool } from 'undici';
import { authorization } from './processes.mjs';

const CONNECTIONS = 32;
/** How long the load runs before its cost is measured. */
const RAMP_SECONDS = 0.3;
/** How many requests a server is warmed up with first, and how long a portion is to take at least. */
const FIRST_PORTION = 500;
const PORTION_MS = 700;
const headers = { 'content-type': 'application/json', authorization };

// This process must not stop for its own garbage: collecting the old, it stood still for 25 ms of every second, and whoever
// was measured had it counted as latency.
setFlagsFromString('--heap-growing-percent=1000');

/** The body of a request; `player` is a number. */
const bodyOf = ({ query, variables }, player) =>
  JSON.stringify({ query, variables: { ...variables, id: `player-${player}` } });

/**
 * Has the server answer for some seconds, in portions, so that it has opened and closed connections too before its cost is
 * measured. Resolves to how many requests it takes in a second.
 */
export async function warmUp(server, workload, seconds, players = anyPlayer()) {
  await check(server, workload);
  const until = performance.now() + seconds * 1_000;
  let amount = FIRST_PORTION;
  for (;;) {
    const began = performance.now();
    await load(server, workload, amount, players);
    const tookMs = performance.now() - began;
    if (performance.now() > until) return (amount * 1_000) / tookMs;
    // Long enough that beginning and end do not count.
    if (tookMs < PORTION_MS) amount *= 2;
  }
}

/**
 * As many requests as 32 connections take, about `perSecond`. Resolves to the CPU time of one request over some seconds, in
 * microseconds, and to the memory of the process.
 *
 * The load runs before the seconds begin and after they end, and every request of it is answered: opening connections, what
 * an idle process has given back, and what is to be done for clients that go away is not the cost of a request.
 */
export async function measureCost(server, workload, seconds, perSecond, players = anyPlayer()) {
  let answered = 0;
  let over = false;
  const loads = async () => {
    const amount = Math.ceil(perSecond * (seconds + 2 * RAMP_SECONDS));
    while (!over)
      await load(server, workload, amount, players, () => {
        answered += 1;
      });
  };
  const loaded = loads();
  const observe = async () => ({ ...(await server.usage()), answered });
  await sleep(RAMP_SECONDS * 1_000);
  const before = await observe();
  await sleep(seconds * 1_000);
  const after = await observe();
  over = true;
  await loaded;
  return { cpuUs: (after.cpuUs - before.cpuUs) / (after.answered - before.answered), rss: after.rss };
}

const anyPlayer = () => ({ next: 0, of: 10_000 });

/** So many requests. What is not answered as it should be is told. */
async function load(server, workload, amount, players, onResponse = () => {}) {
  const setupRequest = (request) => {
    players.next = (players.next + 1) % players.of;
    return { ...request, body: bodyOf(workload, players.next) };
  };
  const running = autocannon({
    url: `${server.url}/graphql`,
    connections: CONNECTIONS,
    amount,
    sampleInt: 100,
    requests: [{ method: 'POST', headers, setupRequest }],
  });
  running.on('response', (_client, status) => {
    if (status === 200) onResponse();
  });
  const { non2xx, errors, statusCodeStats } = await running;
  if (non2xx + errors > 0) console.log(`${server.name}, ${workload.name}: ${errors} errors,`, statusCodeStats);
}

/** Whether the answer is what was asked for; a server that has too much to do at the moment is asked again. */
async function check(server, workload) {
  for (;;) {
    const response = await fetch(`${server.url}/graphql`, { method: 'POST', headers, body: bodyOf(workload, 0) });
    const { data, errors } = await response.json();
    if (data && !errors) return;
    if (response.status !== 503) throw new Error(`${server.name}, ${workload.name}: ${JSON.stringify(errors)}`);
  }
}

/**
 * Requests at a steady rate, whether or not earlier ones are answered (an open loop). Resolves to what the gateway added to
 * each, in milliseconds: the time until its answer was there, less the time for which the REST service held its calls.
 */
export async function measureAdded(server, upstream, workload, perSecond, seconds) {
  const pool = new Pool(server.url, { connections: 64 });
  const now = () => performance.timeOrigin + performance.now();
  const took = new Map();
  const send = async (number) => {
    const id = `bench-${String(number).padStart(8, '0')}`;
    const body = bodyOf(workload, number);
    const began = now();
    const response = await pool.request({
      method: 'POST',
      path: '/graphql',
      headers: { ...headers, 'x-request-id': id },
      body,
    });
    await response.body.arrayBuffer();
    took.set(id, now() - began);
  };
  await upstream.ask('held');
  const sent = [];
  const began = performance.now();
  for (let number = 0; number < perSecond * seconds; number += 1) {
    const due = began + (number * 1_000) / perSecond;
    const early = due - performance.now();
    if (early > 0) await sleep(early);
    sent.push(send(number));
  }
  await Promise.all(sent);
  const held = await upstream.ask('held');
  await pool.close();
  return [...took].map(([id, ms]) => ms - (held[id].until - held[id].from));
}
