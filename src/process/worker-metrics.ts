import type { Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { ask, METRICS, type Metric } from './worker-messages.ts';

/** The metrics of all workers, added up. Counters never fall: what workers counted before they died is kept. */
export interface WorkerMetrics {
  /** Reads a worker's metrics. Resolves to false when it does not answer. */
  read(worker: Worker): Promise<boolean>;
  /** Keeps the counters and histograms of a worker that has ended, as of its last answer. */
  keep(worker: Worker): void;
  /** All of it as a page in Prometheus' text format; a worker that does not answer stands in it with its last answer. */
  page(workers: readonly Worker[]): Promise<string>;
}

/** Metrics that only grow. */
const GROWING: ReadonlySet<string> = new Set(['counter', 'histogram', 'summary']);

/** @param own The metrics of the primary itself. */
export function createWorkerMetrics(own: Registry): WorkerMetrics {
  const last = new Map<number, Metric[]>();
  const ended: Metric[][] = [];
  let adding = Promise.resolve();

  /** Adds up what ended workers counted, so that it does not grow with their number. */
  async function addUp(): Promise<void> {
    const all = [...ended];
    const sum = await AggregatorRegistry.aggregate(all).getMetricsAsJSON();
    ended.splice(
      0,
      all.length,
      sum.map(({ type, ...metric }) => ({ type: String(type), ...metric })),
    );
  }

  async function read(worker: Worker): Promise<boolean> {
    const metrics = await ask(worker, METRICS);
    // An answer that arrives after the worker's end must not be counted twice.
    if (metrics && !worker.isDead()) last.set(worker.id, metrics);
    return metrics !== undefined;
  }

  return {
    read,
    keep(worker) {
      ended.push((last.get(worker.id) ?? []).filter(({ type }) => GROWING.has(type)));
      last.delete(worker.id);
      adding = adding.then(addUp);
    },
    async page(workers) {
      await Promise.all(workers.map(read));
      return AggregatorRegistry.aggregate([await own.getMetricsAsJSON(), ...ended, ...last.values()]).metrics();
    },
  };
}
