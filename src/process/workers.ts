/*
 * Several gateways on one port of one machine: this process, the primary, starts a worker for each through node:cluster,
 * replaces those that die, and answers for all of them on the management port. It serves no operation itself.
 */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Registry } from 'prom-client';
import type { Stoppable } from './lifecycle.ts';
import type { Visible } from './management.ts';
import { ask, listening, METRICS, WHY_NOT_READY } from './worker-messages.ts';

/** How long to wait before a dead worker is replaced, in milliseconds: doubled each time until one has lived for a while. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** A worker that lived this long counts as sound, in milliseconds. */
const SOUND_MS = 30_000;
/** Workers cut what hangs themselves when the time is over; one that has not ended after so many milliseconds is killed. */
const CUT_MS = 500;

export interface Workers extends Stoppable, Visible {
  url: string;
}

/** Starts `count` workers and resolves when all of them listen; rejects when one of them dies before. */
export async function startWorkers(count: number, baseUrl: string, log: FastifyBaseLogger): Promise<Workers> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const deaths = new Counter({
    name: 'gateway_worker_deaths_total',
    help: 'Workers that ended without being told to, and were replaced.',
    registers: [registry],
  });
  let stopping = false;
  let pauseMs = FIRST_PAUSE_MS;

  const [url = ''] = await Promise.all(Array.from({ length: count }, () => start()));

  /** Resolves to the worker's URL. */
  async function start(): Promise<string> {
    const worker = cluster.fork({ REST_BASE_URL: baseUrl });
    const url = await listening(worker);
    log.info({ worker: worker.process.pid }, 'worker listens');
    const started = performance.now();
    worker.once('exit', (code, signal) => {
      if (stopping) return;
      deaths.inc();
      if (performance.now() - started >= SOUND_MS) pauseMs = FIRST_PAUSE_MS;
      log.error({ worker: worker.process.pid, code, signal, pauseMs }, 'a worker died; another one takes its place');
      replace();
    });
    return url;
  }

  function replace(): void {
    setTimeout(async () => {
      if (stopping) return;
      try {
        await start();
      } catch (error) {
        log.error({ err: error, pauseMs }, 'a worker could not be started');
        replace();
      }
    }, pauseMs);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }

  return {
    url,
    async reasons() {
      const all = await Promise.all(workers().map((worker) => ask(worker, WHY_NOT_READY)));
      if (all.length === 0) return ['no-worker'];
      // Ready as long as one of them is; one that does not answer is too busy to.
      const answers = all.map((reasons) => reasons ?? ['overloaded' as const]);
      return answers.some((reasons) => reasons.length === 0) ? [] : [...new Set(answers.flat())];
    },
    async metrics() {
      const all = await Promise.all(workers().map((worker) => ask(worker, METRICS)));
      const answers = all.filter((metrics) => metrics !== undefined);
      return AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...answers]).metrics();
    },
    async stop(hurry) {
      stopping = true;
      const all = workers();
      const gone = Promise.all(all.map((worker) => once(worker, 'exit')));
      for (const worker of all) worker.process.kill('SIGTERM');
      const kill = () => {
        for (const worker of workers()) worker.process.kill('SIGKILL');
      };
      hurry.addEventListener('abort', () => setTimeout(kill, CUT_MS), { once: true });
      await gone;
    },
  };
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).flatMap((worker) => (worker?.isConnected() ? [worker] : []));
}
