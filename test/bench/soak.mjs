/*
 * Load on the built gateway while its REST service simulates one kind of failure after the other. Run it with `npm run soak`,
 * or `npm run soak -- --seconds 20`. It needs a build and uses only the loopback interface. It reports figures: it fails when
 * it cannot run, not when a figure is bad.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startProgress } from '../../tools/progress.mjs';
import { startOurs, tokenOf } from './processes.mjs';
import { startRestService } from './rest-service.mjs';
import { createLoad } from './soak-load.mjs';
import { audit, callsPerRequest, codes, countOf, rows, verdict } from './soak-report.mjs';

const RATE = 300;
const BREAKER_INTERVAL_MS = 1_000;

/** The phases, in equal parts of the time. `fault`: the share of a phase with the fault; then the service is healthy. */
const PHASES = [
  { name: 'healthy', mode: 'healthy' },
  { name: '50 ms slow', mode: 'healthy', delayMs: 50 },
  { name: '5 % 500s', mode: 'errors', faulty: true },
  { name: 'hang', mode: 'hang', faulty: true, fault: 2 / 3 },
  { name: 'reset', mode: 'reset', faulty: true, fault: 2 / 3 },
  { name: 'refused', mode: 'refused', faulty: true, fault: 2 / 3 },
  { name: '429s', mode: 'limited', faulty: true, fault: 2 / 3 },
  { name: 'dripping', mode: 'dripping', faulty: true, fault: 2 / 3 },
  { name: 'restart', mode: 'restart', faulty: true, fault: 1 / 6 },
  { name: 'healthy again', mode: 'healthy' },
];
const BETWEEN = 'healthy, between';

/** How long the round before is, which warms up every path and is not counted. */
const WARM_UP_MS = 10_000;

/** Lets the memory be measured without what waits for the garbage collector. */
const COLLECT_ON_SIGNAL = ['--expose-gc', '--import', 'data:text/javascript,process.on("SIGUSR2",()=>gc())'];

/** The built program in a process of its own, set up as in production, in front of the REST service at `restUrl`. */
async function startGateway(restUrl) {
  const gateway = await startOurs(restUrl, 'anywhere', COLLECT_ON_SIGNAL);

  /** The sum of a metric over its labels. */
  async function metrics() {
    const page = await (await fetch(`${gateway.management}/metrics`)).text();
    return (name) =>
      page
        .split('\n')
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  return {
    url: gateway.url,
    token: await tokenOf('soak', 'players:write players:delete events:write any-player'),
    metrics,
    /** What is in use after everything that can be collected has been, in megabytes. */
    async memory() {
      for (let round = 0; round < 3; round += 1) {
        gateway.child.kill('SIGUSR2');
        await sleep(200);
      }
      const value = await metrics();
      const megabytes = (...names) => names.reduce((sum, name) => sum + value(name), 0) / 1024 / 1024;
      return {
        used: megabytes('nodejs_heap_size_used_bytes', 'nodejs_external_memory_bytes'),
        resident: megabytes('process_resident_memory_bytes'),
      };
    },
    close: () => gateway.stop(),
  };
}

async function soak(seconds) {
  const upstream = await startRestService();
  const gateway = await startGateway(upstream.url);
  const records = [];
  let wellSince;
  let backMs;
  const load = createLoad(gateway.url, gateway.token, (record) => {
    records.push(record);
    if (wellSince === undefined || record.outcome !== 'data') return;
    backMs = Math.max(performance.now() - wellSince, 0);
    wellSince = undefined;
  });

  /** One way of behaving for so long, under load. */
  async function pass(name, mode, ms, delayMs) {
    const before = { value: await gateway.metrics(), requests: upstream.requests() };
    await upstream.become(mode, delayMs);
    await load.run(name, ms, RATE);
    const value = await gateway.metrics();
    const grown = (metric) => value(metric) - before.value(metric);
    return {
      // Who refuses connections does not see them; the gateway counts what it tried.
      upstreamCalls:
        upstream.requests() - before.requests ||
        (mode === 'refused' ? grown('rest_request_duration_seconds_count') : 0),
      retries: grown('rest_retries_total'),
    };
  }

  async function round(ms, onPhase) {
    const [passed, between] = [[], { name: BETWEEN, upstreamCalls: 0, retries: 0 }];
    for (const phase of PHASES) {
      const { name, mode, fault = 1, delayMs } = phase;
      onPhase(name);
      const figures = await pass(name, mode, ms * fault, delayMs);
      if (fault < 1) {
        // A service that asked for a pause is back when the pause that it asked for is over.
        [wellSince, backMs] = [Math.max(performance.now(), upstream.pauseUntil()), undefined];
        const { upstreamCalls, retries } = await pass(BETWEEN, 'healthy', ms * (1 - fault));
        between.upstreamCalls += upstreamCalls;
        between.retries += retries;
        await firstSuccess();
        figures.backMs = backMs;
      }
      passed.push({ ...phase, ...figures });
    }
    await load.settled();
    return [...passed, between];
  }

  /** A service that is slow to come back into use has not been given up yet. */
  async function firstSuccess() {
    for (let waited = 0; wellSince !== undefined && waited < 10_000; waited += 100) await load.run(BETWEEN, 100, RATE);
  }

  const progress = startProgress(2 * PHASES.length);
  try {
    console.log(`${RATE} operations a second; warming up for ${WARM_UP_MS / 1000} s, then ${seconds} s`);
    await round(WARM_UP_MS / PHASES.length, (name) => progress.step(`warm up, ${name}`));
    const first = records.length;
    const began = performance.now();
    const before = await gateway.memory();
    const passed = await round((seconds * 1000) / PHASES.length, (name) => progress.step(name));
    await sleep(500);
    progress.end();
    const after = await gateway.memory();
    const minutes = (performance.now() - began) / 60_000;
    const counted = records.slice(first);
    const phases = passed.map((phase) => ({
      ...phase,
      records: counted.filter((record) => record.phase === phase.name),
    }));
    report(phases, counted, audit(records, upstream.ledger), { before, after, minutes });
  } finally {
    await load.close();
    await gateway.close();
    await upstream.close();
  }
}

function report(phases, records, writes, { before, after, minutes }) {
  const unanswered = records.filter(({ outcome }) => outcome !== 'data' && outcome !== 'error');
  const slowest = Math.max(...phases.map(({ backMs }) => backMs ?? 0));
  const dearest = Math.max(...phases.filter(({ faulty }) => faulty).map(callsPerRequest));
  const growth = (after.used - before.used) / minutes;
  console.table(rows(phases));
  console.log(`Errors by code\n${codes(phases)}\n`);
  const lost = `${unanswered.length} not`;
  verdict('every operation answered, with data or a clean error', lost, unanswered.length === 0);
  const wrong = `${writes.missing} and ${writes.doubled} of ${writes.acknowledged}`;
  verdict('acknowledged writes missing or doubled at the upstream', wrong, writes.missing + writes.doubled === 0);
  const back = `${slowest.toFixed(0)} ms at most`;
  verdict('first success after recovery, 1 s or one breaker interval', back, slowest <= BREAKER_INTERVAL_MS);
  verdict('upstream calls per request in the faulty phases, 1.2', `${dearest.toFixed(2)} at most`, dearest <= 1.2);
  const [used, resident] = ['used', 'resident'].map((of) => `${before[of].toFixed(1)} to ${after[of].toFixed(1)} MB`);
  const grown = `${growth.toFixed(2)} MB (${used} in use, resident ${resident})`;
  verdict('memory growth after warm-up, 1 MB a minute', grown, growth <= 1);
  const reasons = countOf(unanswered.map(({ phase, outcome, reason = '' }) => `${phase}: ${outcome} ${reason}`));
  for (const [reason, count] of Object.entries(reasons)) console.log(`           ${count} × ${reason}`);
}

const { seconds } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } }).values;
if (!/^\d{1,3}$/.test(seconds) || Number(seconds) < 10) {
  console.error('--seconds must be a whole number of seconds between 10 and 999.');
  process.exit(1);
}
await soak(Number(seconds));
