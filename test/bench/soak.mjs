/*
 * Load on the built gateway while its REST service simulates one kind of failure after the other. Run it with `npm run soak`,
 * or `npm run soak -- --seconds 20`. It needs a build and uses only the loopback interface. It reports figures: it fails when
 * it cannot run, not when a figure is bad.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startSoakGateway } from './soak-gateway.mjs';
import { createLoad } from './soak-load.mjs';
import { audit, callsPerRequest, codes, table, verdict } from './soak-report.mjs';
import { startSoakUpstream } from './soak-upstream.mjs';

const RATE = 300;
const BREAKER_INTERVAL_MS = 1_000;

/** The phases, in equal parts of the time. `fault`: the share of a phase with the fault; then the service is healthy. */
const PHASES = [
  { name: 'healthy', mode: 'healthy' },
  { name: '50 ms slow', mode: 'slow' },
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

async function soak(seconds) {
  const upstream = await startSoakUpstream();
  const gateway = await startSoakGateway(upstream.url);
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
  async function pass(name, mode, ms) {
    const before = { value: await gateway.metrics(), requests: upstream.requests() };
    await upstream.become(mode);
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

  async function round(ms) {
    const [passed, between] = [[], { name: BETWEEN, upstreamCalls: 0, retries: 0 }];
    for (const phase of PHASES) {
      const { name, mode, fault = 1 } = phase;
      const figures = await pass(name, mode, ms * fault);
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

  try {
    console.log(`${RATE} operations a second; warming up for ${WARM_UP_MS / 1000} s, then ${seconds} s`);
    await round(WARM_UP_MS / PHASES.length);
    const first = records.length;
    const began = performance.now();
    const before = await gateway.memory();
    const passed = await round((seconds * 1000) / PHASES.length);
    await sleep(500);
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
  console.log(`\n${table(phases)}\n`);
  console.log(`Errors by code\n${codes(phases)}\n`);
  for (const line of [
    verdict(
      'every operation answered, with data or a clean error',
      `${unanswered.length} not`,
      unanswered.length === 0,
    ),
    verdict(
      'acknowledged writes missing or doubled at the upstream',
      `${writes.missing} and ${writes.doubled} of ${writes.acknowledged}`,
      writes.missing + writes.doubled === 0,
    ),
    verdict(
      'first success after recovery, 1 s or one breaker interval',
      `${slowest.toFixed(0)} ms at most`,
      slowest <= BREAKER_INTERVAL_MS,
    ),
    verdict('upstream calls per request in the faulty phases, 1.2', `${dearest.toFixed(2)} at most`, dearest <= 1.2),
    verdict(
      'memory growth after warm-up, 1 MB a minute',
      `${growth.toFixed(2)} MB (${before.used.toFixed(1)} to ${after.used.toFixed(1)} MB in use, resident ${before.resident.toFixed(0)} to ${after.resident.toFixed(0)} MB)`,
      growth <= 1,
    ),
  ]) {
    console.log(line);
  }
  for (const [reason, count] of reasons(unanswered)) console.log(`           ${count} × ${reason}`);
}

function reasons(unanswered) {
  const counts = new Map();
  for (const { phase, outcome, reason = '' } of unanswered) {
    const text = `${phase}: ${outcome} ${reason}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return counts;
}

const { seconds } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } }).values;
if (!/^\d{1,3}$/.test(seconds) || Number(seconds) < 10) {
  console.error('--seconds must be a whole number of seconds between 10 and 999.');
  process.exit(1);
}
await soak(Number(seconds));
