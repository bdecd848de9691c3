/* Puts load on a server and measures what it costs. */
import autocannon from 'autocannon';
import { Pool } from 'undici';
import { authorization } from './processes.mjs';

const CONNECTIONS = 32;
const headers = { 'content-type': 'application/json', authorization };

/** The body of a request; `player` is a number. */
const bodyOf = ({ query, variables }, player) =>
  JSON.stringify({ query, variables: { ...variables, id: `player-${player}` } });

/**
 * As many requests as 32 connections take for some seconds. Resolves to the CPU time of one request, in microseconds, and
 * to the memory of the process. What was not answered as it should be is told.
 */
export async function measureCost(server, workload, seconds, players = { next: 0, of: 10_000 }) {
  const setupRequest = (request) => {
    players.next = (players.next + 1) % players.of;
    return { ...request, body: bodyOf(workload, players.next) };
  };
  await check(server, workload);
  const before = await server.usage();
  const {
    '2xx': ok,
    non2xx,
    errors,
    statusCodeStats,
  } = await autocannon({
    url: `${server.url}/graphql`,
    connections: CONNECTIONS,
    duration: seconds,
    sampleInt: 100,
    requests: [{ method: 'POST', headers, setupRequest }],
  });
  const after = await server.usage();
  if (non2xx + errors > 0) console.log(`${server.name}, ${workload.name}: ${errors} errors,`, statusCodeStats);
  return { cpuUs: (after.cpuUs - before.cpuUs) / ok, rss: after.rss };
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
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    sent.push(send(number));
  }
  await Promise.all(sent);
  const held = await upstream.ask('held');
  await pool.close();
  return [...took].map(([id, ms]) => ms - (held[id].until - held[id].from));
}
