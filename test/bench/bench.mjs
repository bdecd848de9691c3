/*
 * Compares the gateway with other servers by the CPU time of one request, which holds on a busy machine. Needs nginx (the
 * REST service, from memory) and wrk (the load). Rounds alternate between the servers; a figure is the median of its rounds.
 *
 *   npm run bench                 four workloads, six servers, three runs: about 40 minutes; writes docs/benchmarks.json
 *   npm run bench -- --quick      one run of short rounds: about five minutes
 *   npm run bench -- --only W2    the workloads whose name begins so
 *
 * The measure is mercurius-promises: mercurius doing the same work and keeping the same promises. mercurius-equal promises
 * nothing when the REST service fails. The others stand beside them. It fails only when it cannot run.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { startProgress } from '../../tools/progress.mjs';

const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string', default: 'W' } },
});
const RUNS = values.quick ? 1 : 3;
const ROUNDS = values.quick ? 3 : 5;
const SECONDS = values.quick ? 2 : 4;
const WARM_UP_SECONDS = values.quick ? 3 : 5;
const PEERS = ['mercurius-promises', 'mercurius-equal', 'floor', 'mercurius', 'apollo-naive'];
const CONNECTIONS = 32;
/** So few that a request hardly waits for others: the tail is then the server's own. */
const FEW_CONNECTIONS = 4;

const missing = ['nginx', 'wrk'].filter((name) => spawnSync(name, ['-v']).error);
if (missing.length > 0) {
  console.error(
    `npm run bench needs ${missing.join(' and ')}: apt-get install nginx-light wrk, or brew install nginx wrk`,
  );
  process.exit(1);
}
const folder = fileURLToPath(new URL('.', import.meta.url));
if (!existsSync(join(folder, 'node_modules'))) {
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder], { stdio: 'inherit' });
}
const { pinned, placed, startOurs, startPeer, tokenOf } = await import('./processes.mjs');
const { startUpstream } = await import('./upstream.mjs');
const { bodyOf, headersOf, WORKLOADS, writeScript } = await import('./workloads.mjs');

const where = pinned ? 'the servers alone on one core' : 'no core of their own for the servers (that takes taskset)';
console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${where}`);
const headers = headersOf(await tokenOf());
const workloads = Object.entries(WORKLOADS).filter(([name]) => name.startsWith(values.only));
/** By workload and server: `{ cpuUs, perSecond, p99Ms, p99FewMs }` of each round. */
const rounds = new Map();
const maxRss = new Map();

const progress = startProgress(RUNS * workloads.length * ROUNDS);
const upstream = await startUpstream();
try {
  for (let run = 1; run <= RUNS; run += 1) await measure(run);
} finally {
  progress.end();
  await upstream.stop();
}
const tables = workloads.map(([name]) => [name, show(name)]);
if (!values.quick && values.only === 'W') await writeFigures();
console.log(
  'highest RSS, MB:',
  Object.fromEntries([...maxRss].map(([name, bytes]) => [name, Math.round(bytes / 1e6)])),
);

/** One run: new processes, since of two that do the same one is often some percent faster for its whole life. */
async function measure(run) {
  const servers = [
    await startOurs(upstream.url),
    ...(await Promise.all(PEERS.map((name) => startPeer(name, upstream.url)))),
  ];
  try {
    for (const [name, query] of workloads) {
      const script = await writeScript(upstream.folder, name, query, headers);
      for (let round = 0; round < ROUNDS; round += 1) {
        progress.step(`${name}, run ${run}, round ${round + 1}`);
        if (round === 0) await warmUp(servers, script, name, query);
        for (const server of round % 2 ? servers.toReversed() : servers) {
          const few = await load(server, script, SECONDS / 2, FEW_CONNECTIONS);
          const figures = { ...(await load(server, script, SECONDS)), p99FewMs: few.p99Ms };
          const key = `${name} ${server.name}`;
          rounds.set(key, [...(rounds.get(key) ?? []), figures]);
        }
      }
    }
    for (const { name, usage } of servers) maxRss.set(name, Math.max(maxRss.get(name) ?? 0, (await usage()).maxRss));
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function warmUp(servers, script, name, query) {
  for (const server of servers) {
    await check(server, name, query);
    await load(server, script, WARM_UP_SECONDS);
  }
}

/** Throws unless the server gives the data that is asked for. */
async function check({ name, url }, workload, query) {
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body: bodyOf(query, 'p1') });
  const { data, errors } = await response.json();
  if (!data || errors) throw new Error(`${name}, ${workload}: ${response.status} ${JSON.stringify(errors)}`);
}

async function load(server, script, seconds, connections = CONNECTIONS) {
  const before = await server.usage();
  const wrk = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, `${server.url}/graphql`];
  const [command, ...args] = placed('others', ...wrk);
  const { stdout } = await promisify(execFile)(command, args);
  const after = await server.usage();
  const { requests, bad, seconds: took, p99 } = JSON.parse(stdout.trim().split('\n').at(-1));
  if (bad > 0) progress.print(`${server.name}: ${bad} of ${requests} requests failed`);
  return { cpuUs: (after.cpuUs - before.cpuUs) / requests, perSecond: requests / took, p99Ms: p99 / 1_000 };
}

/** A ratio is the median of the ratios of each round: what slows the machine down slows down both servers. */
function show(workload) {
  const of = (name) => rounds.get(`${workload} ${name}`);
  const ours = of('main.js');
  const rows = ['main.js', ...PEERS].map((name) => {
    const figures = of(name);
    return {
      server: name === 'main.js' ? 'ours' : name,
      'CPU µs': Math.round(median(figures.map(({ cpuUs }) => cpuUs))),
      'ours ÷ it': Number(median(figures.map(({ cpuUs }, round) => (ours[round]?.cpuUs ?? 0) / cpuUs)).toFixed(2)),
      'requests/s': Math.round(median(figures.map(({ perSecond }) => perSecond))),
      [`p99 ms, ${FEW_CONNECTIONS} connections`]: Number(median(figures.map(({ p99FewMs }) => p99FewMs)).toFixed(1)),
      [`${CONNECTIONS} connections`]: Number(median(figures.map(({ p99Ms }) => p99Ms)).toFixed(1)),
    };
  });
  console.log(`\n${workload}`);
  console.table(Object.fromEntries(rows.map(({ server, ...row }) => [server, row])));
  return rows;
}

/** docs/benchmarks.json, of which the chart is made. */
async function writeFigures() {
  const rows = tables.flatMap(([workload, figures]) =>
    figures.map((row) => ({
      workload,
      system: row.server,
      cpuMicros: row['CPU µs'],
      ratio: row['ours ÷ it'],
      p99Ms4: row[`p99 ms, ${FEW_CONNECTIONS} connections`],
      p99Ms32: row[`${CONNECTIONS} connections`],
      memoryMb: Math.round((maxRss.get(row.server === 'ours' ? 'main.js' : row.server) ?? 0) / 1e6),
    })),
  );
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}`;
  const figures = { date: new Date().toISOString().slice(0, 10), machine, node: process.version, rows };
  await writeFile(new URL('../../docs/benchmarks.json', import.meta.url), `${JSON.stringify(figures, undefined, 2)}\n`);
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
