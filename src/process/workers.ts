/*
 * Several gateways on one port of one machine. This process, the primary, starts the workers with node:cluster, replaces
 * workers that die or hang, and answers for all of them on the management port. It executes no operations itself.
 */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import type { DestinationStream } from 'pino';
import { Counter, Registry } from 'prom-client';
import type { Lifecycle, Stoppable } from './lifecycle.ts';
import { forwardLines } from './log.ts';
import type { Status, StatusSource } from './management.ts';
import { registerProcessMetrics } from './metrics.ts';
import { ASK_STATUS, ask, listening } from './worker-messages.ts';
import { createWorkerMetrics, type WorkerMetrics } from './worker-metrics.ts';

/** How long to wait before a dead worker is replaced, in milliseconds; doubled after each death, up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** A worker that dies after at least this many milliseconds resets the pause to the first one. */
const STARTED_WELL_MS = 30_000;
/** How often each worker is asked for its metrics, in milliseconds. */
const HEARTBEAT_MS = 1_000;
/** A worker that does not answer this many times in a row is killed. */
const MAX_MISSED_HEARTBEATS = 2;
/** At the end of the grace time, workers stop their remaining work. One that still runs this much later is killed. */
const KILL_AFTER_MS = 500;

/**
 * Starts `count` workers and resolves when all of them listen; rejects when one of them dies before. The lifecycle stops
 * those that run.
 * @param stdout The destination of their log lines.
 */
export async function startWorkers(
  count: number,
  baseUrl: string,
  lifecycle: Pick<Lifecycle, 'stopAtEnd'>,
  log: FastifyBaseLogger,
  stdout: DestinationStream,
): Promise<StatusSource & { url: string }> {
  cluster.setupPrimary({ silent: true });
  const registry = new Registry();
  registerProcessMetrics(registry);
  const metrics = createWorkerMetrics(registry);
  const supervisor = lifecycle.stopAtEnd(new Supervisor({ baseUrl, log, stdout, registry, metrics }));
  // The first one alone: an error that stops every worker is then printed once.
  const url = await supervisor.start();
  await Promise.all(Array.from({ length: count - 1 }, () => supervisor.start()));
  return {
    url,
    status: async () => combine(await Promise.all(workers().map((worker) => ask(worker, ASK_STATUS)))),
    metrics: () => metrics.page(workers()),
  };
}

interface SupervisorOptions {
  baseUrl: string;
  log: FastifyBaseLogger;
  stdout: DestinationStream;
  registry: Registry;
  metrics: WorkerMetrics;
}

/** Starts workers, and replaces those that die. */
class Supervisor implements Stoppable {
  readonly #options: SupervisorOptions;
  readonly #deaths: Counter;
  #stopping = false;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#deaths = new Counter({
      name: 'gateway_worker_deaths_total',
      help: 'Workers that ended or hung without being told to end, and were replaced.',
      registers: [options.registry],
    });
  }

  /** Resolves to the worker's URL. */
  async start(): Promise<string> {
    const { baseUrl, log, stdout, metrics } = this.#options;
    const worker = cluster.fork({ REST_BASE_URL: baseUrl });
    const { process: child } = worker;
    if (child.stdout) forwardLines(child.stdout, stdout);
    child.stderr?.pipe(process.stderr, { end: false });
    const url = await listening(worker);
    log.info({ worker: worker.process.pid }, 'worker listens');
    const started = performance.now();
    watch(worker, metrics, log);
    worker.once('exit', (code, signal) => {
      metrics.keep(worker);
      if (this.#stopping) return;
      this.#deaths.inc();
      if (performance.now() - started >= STARTED_WELL_MS) this.#pauseMs = FIRST_PAUSE_MS;
      log.error({ worker: worker.process.pid, code, signal, pauseMs: this.#pauseMs }, 'a worker died and is replaced');
      this.#replace();
    });
    return url;
  }

  stop(forced: AbortSignal): Promise<void> {
    this.#stopping = true;
    return stopAll(forced);
  }

  #replace(): void {
    setTimeout(async () => {
      if (this.#stopping) return;
      try {
        await this.start();
      } catch (error) {
        this.#options.log.error({ err: error, pauseMs: this.#pauseMs }, 'a worker failed to start');
        this.#replace();
      }
    }, this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** Sends SIGTERM to all workers, kills those that still run after the grace time, and resolves when all have ended. */
async function stopAll(forced: AbortSignal): Promise<void> {
  const all = workers();
  const ended = Promise.all(all.map((worker) => once(worker, 'exit')));
  for (const worker of all) worker.process.kill('SIGTERM');
  const kill = () => {
    for (const worker of workers()) worker.process.kill('SIGKILL');
  };
  forced.addEventListener('abort', () => setTimeout(kill, KILL_AFTER_MS), { once: true });
  await ended;
}

/** Kills a worker that no longer answers. Its counters are kept from its last answer. */
async function watch(worker: Worker, metrics: WorkerMetrics, log: FastifyBaseLogger): Promise<void> {
  for (let missed = 0; worker.isConnected(); ) {
    missed = (await metrics.read(worker)) ? 0 : missed + 1;
    if (missed === MAX_MISSED_HEARTBEATS) {
      log.error({ worker: worker.process.pid }, 'a worker hangs and is killed');
      worker.process.kill('SIGKILL');
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, HEARTBEAT_MS).unref());
  }
}

/** Ready while at least one worker is ready. A worker that does not answer is not ready. */
function combine(answers: readonly (Status | undefined)[]): Status {
  const all = answers.filter((status) => status !== undefined);
  const conditions = [...new Set(all.flatMap((status) => status.conditions))];
  if (all.some(({ reasons }) => reasons.length === 0)) return { reasons: [], conditions };
  return {
    reasons: all.length === 0 ? ['no-worker'] : [...new Set(all.flatMap(({ reasons }) => reasons))],
    conditions,
  };
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).flatMap((worker) => (worker?.isConnected() ? [worker] : []));
}
