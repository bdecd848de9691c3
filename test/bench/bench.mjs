/*
 * Compares the speed of the gateway with that of other servers, and with no GraphQL at all. Measures the CPU time of one
 * request, which is reliable on a busy machine, unlike requests per second. Rounds alternate between the servers. Every
 * figure is the median of its rounds. Every ratio is the median of the ratios within each round, because other load on the
 * machine slows down both servers.
 *
 *   npm run bench              about ten minutes
 *   npm run bench -- --quick   about two, and less exact
 *   npm run bench -- --only W1   only the workloads whose name contains this
 *   npm run bench -- --reference   and then the reference service
 *
 * Everything runs on this machine: servers, REST service and load, each in its own process. Nothing fails: it informs.
 */
import { cpus } from 'node:os';
import { pinned } from './cores.mjs';
import { measureCost, measureTimes, throughServer, warmUp, withoutServer } from './load.mjs';
import { startOurs, startPeer, startUpstream } from './processes.mjs';
import { roundTrip } from './rest-paths.mjs';
import { MIXES, W1, W2, W4 } from './workloads.mjs';

const quick = process.argv.includes('--quick');
const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined;
// Each with processes of their own: of two that do the same, one is some percent faster for good.
const RUNS = quick ? 1 : 3;
// Many short ones: busy neighbours come and go by the second, and servers are compared that run within one.
const ROUNDS = quick ? 6 : 8;
const SECONDS = quick ? 0.3 : 0.4;
/** A round of a workload that takes long has at least this many requests. */
const MIN_REQUESTS = 100;
/** For what takes longer, or varies less. */
const FEW_ROUNDS = quick ? 3 : 12;
/** So long that V8 has optimised what runs. */
const WARM_UP_SECONDS = 2.5;
const MEGABYTE = 1024 * 1024;

const PEERS = { mercurius: 'mercurius', floor: 'no GraphQL', apollo: 'Apollo + RESTDataSource' };
/** Whom a workload is compared with, and what of their cost ours may be. */
const COMPARED = [
  [W1, { mercurius: 1.25 }],
  [W2, { mercurius: 1.05, floor: 2.3, apollo: 1 / 4.5 }],
  [W4, { mercurius: 1.05, apollo: 1 / 5 }],
  ...MIXES.map((mix) => [mix, { mercurius: 1.15 }]),
].filter(([workload]) => only === undefined || workload.name.includes(only));

const rows = [];
const median = (numbers) => percentile(numbers, 0.5);

console.log(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()},`,
  pinned ? 'servers alone on one of them' : 'no core kept free for the servers (that takes `taskset` and two cores)',
);
const upstream = await startUpstream();
await compareCosts();
if (only === undefined) {
  await measureLatency();
  await measureStart();
}
await upstream.stop();
show();
if (process.argv.includes('--reference')) await (await import('./reference.mjs')).benchReference();
process.exit(0);

/** Each workload on the servers that it is compared on, in turn. */
async function compareCosts() {
  const compared = COMPARED.map(([workload, goals]) => ({ workload, goals, pairs: pairsOf(workload, goals) }));
  for (let run = 0; run < RUNS; run += 1) {
    const servers = { ours: await startOurs(upstream) };
    for (const name in PEERS) servers[name] = await startPeer(name, upstream);
    for (const { pairs } of compared) {
      for (const pair of pairs) pair.server = servers[pair.name];
      await inRounds(pairs);
    }
    await Promise.all(Object.values(servers).map((server) => server.stop()));
  }
  for (const { workload, goals, pairs } of compared) {
    const [ours, ...others] = pairs;
    for (const { name, costs } of others) {
      const what = `${workload.name}: CPU of a request, ÷ ${PEERS[name]}`;
      rows.push({ what, ...ratio(ours.costs, costs), goal: goals[name] });
    }
    if (workload !== W2) continue;
    rows.push({ what: 'memory under W2 at 32 connections, MB', seen: Math.max(...ours.memory) / MEGABYTE, goal: 170 });
  }
}

function pairsOf(workload, goals) {
  return ['ours', ...Object.keys(goals)].map((name) => ({ name, ...measured(workload) }));
}

/** A workload, and what is seen of it. */
function measured(workload) {
  return { workload, costs: [], memory: [] };
}

/**
 * How much longer a client waits than one who makes the same REST calls itself, the median less the median and the slowest
 * hundredth less the slowest hundredth of a round; also for the server without GraphQL.
 */
async function measureLatency() {
  const slow = await startUpstream(20);
  const server = await startOurs(slow);
  const floor = await startPeer('floor', slow);
  for (const one of [server, floor]) await warmUp(one, W2, WARM_UP_SECONDS);
  const ways = [throughServer(server, W2), throughServer(floor, W2), withoutServer(slow, roundTrip)];
  const rounds = [];
  for (let round = 0; round < FEW_ROUNDS; round += 1) {
    const times = [];
    for (const way of ways) times.push(await measureTimes(way, 200, quick ? 1 : 2));
    rounds.push(times);
  }
  for (const [name, share, goal] of [
    ['p50', 0.5, 1.5],
    ['p99', 0.99, 6],
  ]) {
    const [ours, least, without] = ways.map((_, way) => rounds.map((times) => percentile(times[way], share)));
    const added = (times) => median(times.map((time, round) => time - without[round]));
    rows.push({
      what: `W2 at 200/s, REST service takes 20 ms: added, ${name}, ms`,
      figure: `${median(ours).toFixed(1)} − ${median(without).toFixed(1)}, no GraphQL ${added(least).toFixed(2)}`,
      seen: added(ours),
      goal,
    });
  }
  await Promise.all([slow.stop(), server.stop(), floor.stop()]);
}

async function measureStart() {
  const times = [];
  for (let round = 0; round < FEW_ROUNDS; round += 1) {
    const server = await startOurs(upstream, {}, 'anywhere');
    times.push(server.readyMs / 1_000);
    await server.stop();
  }
  rows.push({ what: 'from start to ready, s', seen: median(times), goal: 0.8 });
}

/** Warms pairs of a server and a workload up, then measures each once a round, to and fro. */
async function inRounds(pairs) {
  for (const pair of pairs) pair.perSecond = await warmUp(pair.server, pair.workload, WARM_UP_SECONDS, pair.players);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { server, workload, players, perSecond, costs, memory } of round % 2 ? pairs.toReversed() : pairs) {
      const seconds = Math.max(SECONDS, MIN_REQUESTS / perSecond);
      const { cpuUs, rss } = await measureCost(server, workload, seconds, perSecond, players);
      costs.push(cpuUs);
      memory.push(rss);
    }
  }
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
