/*
 * How fast is the gateway, next to others and to no gateway at all? Measures the CPU time of one request, which holds on a
 * busy machine where requests per second do not, in rounds that alternate between the servers; every figure is the middle
 * one of its rounds. A ratio is the middle one too, of those within a round: what slows the machine down slows down both.
 *
 *   npm run bench              about seven minutes
 *   npm run bench -- --quick   about one and a half, and less exact
 *   npm run bench -- --reference   and then the reference service
 *
 * Everything runs on this machine: servers, REST service and load, each in its own process. Nothing fails: it informs.
 */
import { cpus } from 'node:os';
import { pinned } from './cores.mjs';
import { measureAdded, measureCost, warmUp } from './load.mjs';
import { startOurs, startPeer, startUpstream } from './processes.mjs';
import { MIXES, W1, W2, W4 } from './workloads.mjs';

const quick = process.argv.includes('--quick');
// Many short ones: a busy neighbour slows one or two of them down, and the middle one stays.
const ROUNDS = quick ? 3 : 11;
const SECONDS = quick ? 0.4 : 0.6;
/** So long that V8 has optimised what runs. */
const WARM_UP_SECONDS = quick ? 0.6 : 2.5;
const MEGABYTE = 1024 * 1024;

const rows = [];
const median = (numbers) => percentile(numbers, 0.5);

console.log(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()},`,
  pinned ? 'servers alone on one of them' : 'no core kept free for the servers (that takes `taskset` and two cores)',
);
const upstream = await startUpstream();
await compareCosts();
await compareCaches();
await measureLatency();
await measureStart();
await upstream.stop();
show();
if (process.argv.includes('--reference')) await (await import('./reference.mjs')).benchReference();
process.exit(0);

/** The workloads on every server, in turn. */
async function compareCosts() {
  const [ours, mercurius, floor, apollo] = await Promise.all([
    startOurs(upstream),
    ...['mercurius', 'floor', 'apollo'].map((name) => startPeer(name, upstream)),
  ]);
  const pairs = [];
  for (const workload of [W1, W2, W4, ...MIXES]) {
    const servers = MIXES.includes(workload) ? [ours, mercurius] : [ours, mercurius, floor, apollo];
    pairs.push(...(await inRounds(servers.map((server) => ({ server, workload })))));
  }
  const costs = (server, workload) => pairs.find((p) => p.server === server && p.workload === workload).costs;
  const compare = (workload, server, name, goal) =>
    rows.push({
      what: `${workload.name}: CPU of a request, ÷ ${name}`,
      ...ratio(costs(ours, workload), costs(server, workload)),
      goal,
    });
  compare(W1, mercurius, 'mercurius', 1.25);
  compare(W2, mercurius, 'mercurius', 0.95);
  compare(W2, floor, 'no GraphQL', 2.3);
  compare(W2, apollo, 'Apollo + RESTDataSource', 1 / 4.5);
  compare(W4, mercurius, 'mercurius', 0.95);
  compare(W4, apollo, 'Apollo + RESTDataSource', 1 / 5);
  for (const mix of MIXES) compare(mix, mercurius, 'mercurius', 1.1);
  const { memory } = pairs.find((pair) => pair.server === ours && pair.workload === W2);
  rows.push({ what: 'memory under W2 at 32 connections, MB', seen: Math.max(...memory) / MEGABYTE, goal: 160 });
  await Promise.all([ours, mercurius, floor, apollo].map((server) => server.stop()));
}

/** Players that were asked for before, and players that never were, with the read cache on. */
async function compareCaches() {
  const server = await startOurs(upstream, { READ_CACHE_TTL_MS: '60000' });
  const pairs = await inRounds([
    { server, workload: W2, players: { next: 0, of: 100 } },
    { server, workload: W2, players: { next: 1_000, of: 1_000_000_000 } },
  ]);
  const [warm, cold] = pairs.map(({ costs }) => costs);
  rows.push({ what: 'W2 with the read cache: CPU of a request, warm ÷ cold', ...ratio(warm, cold), goal: 0.7 });
  await server.stop();
}

/** What is added to the time of the REST service; also by the server without GraphQL, since the load itself takes time. */
async function measureLatency() {
  const slow = await startUpstream(20);
  const server = await startOurs(slow);
  const floor = await startPeer('floor', slow);
  const [added, least] = [[], []];
  for (const one of [server, floor]) {
    await warmUp(one, W2, WARM_UP_SECONDS);
    await measureAdded(one, slow, W2, 200, 1);
  }
  for (let round = 0; round < 3; round += 1) {
    added.push(...(await measureAdded(server, slow, W2, 200, quick ? 1 : 4)));
    least.push(...(await measureAdded(floor, slow, W2, 200, quick ? 1 : 4)));
  }
  for (const [name, share, goal] of [
    ['p50', 0.5, 1.5],
    ['p99', 0.99, 6],
  ]) {
    rows.push({
      what: `W2 at 200/s, REST service takes 20 ms: added, ${name}, ms`,
      figure: `no GraphQL: ${percentile(least, share).toFixed(2)}`,
      seen: percentile(added, share),
      goal,
    });
  }
  await Promise.all([slow.stop(), server.stop(), floor.stop()]);
}

async function measureStart() {
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const server = await startOurs(upstream, {}, 'anywhere');
    times.push(server.readyMs / 1_000);
    await server.stop();
  }
  rows.push({ what: 'from start to ready, s', seen: median(times), goal: 0.7 });
}

/** Warms servers up, then measures each once a round. */
async function inRounds(pairs) {
  const measured = [];
  for (const { server, workload, players } of pairs) {
    const perSecond = await warmUp(server, workload, WARM_UP_SECONDS, players);
    measured.push({ server, workload, players, perSecond, costs: [], memory: [] });
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { server, workload, players, perSecond, costs, memory } of measured) {
      const { cpuUs, rss } = await measureCost(server, workload, SECONDS, perSecond, players);
      costs.push(cpuUs);
      memory.push(rss);
    }
  }
  return measured;
}

/** Of costs that were measured in the same rounds. */
function ratio(costs, others) {
  return {
    figure: `${micros(median(costs))} ÷ ${micros(median(others))}`,
    seen: median(costs.map((cost, round) => cost / others[round])),
  };
}

function percentile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

function micros(cost) {
  return `${Math.round(cost)} µs`;
}

function show() {
  const lines = rows.map(({ what, figure = '', seen, goal }) => [
    what,
    figure,
    seen.toFixed(2),
    `≤ ${Number(goal.toFixed(2))}`,
    seen <= goal ? '' : 'over',
  ]);
  const table = [['', '', 'seen', 'goal', ''], ...lines];
  const widths = table[0].map((_, column) => Math.max(...table.map((line) => line[column].length)));
  for (const line of table)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
}
