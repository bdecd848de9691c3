/* Puts load on a server and measures what it costs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import autocannon from 'autocannon';
import { Pool } from 'undici';
import { authorization } from './processes.mjs';

const CONNECTIONS = 32;
/** How long the load runs before its cost is measured. */
const RAMP_SECONDS = 0.15;
/** How many requests a server is warmed up with first, and how long a portion is to take at least. */
const FIRST_PORTION = 500;
const PORTION_MS = 700;
/** Where the errors of a partial response are looked for: so many characters before its end. */
const TAIL = 20_000;
/** What Apollo Client 4 sends. A benchmark without it once measured a path that no real client took. */
const accept = 'application/graphql-response+json,application/json;q=0.9';
const headers = { 'content-type': 'application/json', accept, authorization };

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
    const amount = Math.max(CONNECTIONS, Math.ceil(perSecond * (seconds + 2 * RAMP_SECONDS)));
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
    verifyBody: (body) => !body.startsWith('{"errors"') && !body.includes('"errors":[{', body.length - TAIL),
    requests: [{ method: 'POST', headers, setupRequest }],
  });
  running.on('response', (_client, status) => {
    if (status === 200) onResponse();
  });
  const { non2xx, errors, mismatches, statusCodeStats } = await running;
  if (non2xx + errors + mismatches === 0) return;
  console.log(`${server.name}, ${workload.name}: ${errors} errors, ${mismatches} partial,`, statusCodeStats);
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

/** How a client gets what a workload asks for: from a server, in one request. */
export function throughServer(server, workload) {
  const pool = new Pool(server.url, { connections: CONNECTIONS });
  return (player) => exchange(pool, { method: 'POST', path: '/graphql', headers, body: bodyOf(workload, player) });
}

/** How a client gets it without a server: by the same calls to the REST service, all at once. */
export function withoutServer(upstream, plan) {
  const pool = new Pool(upstream.url, { connections: CONNECTIONS });
  return (player) => Promise.all(plan(`player-${player}`).map((path) => exchange(pool, { method: 'GET', path })));
}

async function exchange(pool, request) {
  const { statusCode, body } = await pool.request(request);
  await body.arrayBuffer();
  if (statusCode !== 200) throw new Error(`was answered ${statusCode}`);
}

/**
 * Requests at a steady rate, whether or not earlier ones are answered (an open loop). Resolves to how long each of them
 * took, in milliseconds, without those at the beginning, which open connections. What failed is told.
 */
export async function measureTimes(way, perSecond, seconds) {
  const times = [];
  const failures = [];
  const first = perSecond * RAMP_SECONDS;
  const send = async (number) => {
    const began = performance.now();
    try {
      await way(number);
      if (number >= first) times.push(performance.now() - began);
    } catch (error) {
      failures.push(error.message);
    }
  };
  const sent = [];
  const began = performance.now();
  for (let number = 0; number < first + perSecond * seconds; number += 1) {
    const due = began + (number * 1_000) / perSecond;
    const early = due - performance.now();
    if (early > 0) await sleep(early);
    sent.push(send(number));
  }
  await Promise.all(sent);
  if (failures.length > 0) console.log(`at a steady rate, ${failures.length} failed:`, new Set(failures));
  return times;
}
