import type { Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { ASK_METRICS, ask, type Metric } from './worker-messages.ts';

/** The metrics of all workers, added up. The counts of ended workers are kept, so that counters never decrease. */
export interface WorkerMetrics {
  /** Reads a worker's metrics. Resolves to false when it does not answer. */
  read(worker: Worker): Promise<boolean>;
  /** Keeps the counters and histograms of a worker that has ended, from its last answer. */
  keep(worker: Worker): void;
  /** All metrics in Prometheus' text format. For a worker that does not answer, its last answer is used. */
  page(workers: readonly Worker[]): Promise<string>;
}

/** Metrics that only increase. */
const MONOTONIC: ReadonlySet<string> = new Set(['counter', 'histogram', 'summary']);

/** @param own The metrics of the primary itself. */
export function createWorkerMetrics(own: Registry): WorkerMetrics {
  const last = new Map<number, Metric[]>();
  const ended: Metric[][] = [];
  let adding = Promise.resolve();

  /** Merges the counts of all ended workers into one entry, so that the list does not grow. */
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
    const metrics = await ask(worker, ASK_METRICS);
    // An answer that arrives after the worker's end must not be counted twice.
    if (metrics && !worker.isDead()) last.set(worker.id, metrics);
    return metrics !== undefined;
  }

  return {
    read,
    keep(worker) {
      ended.push((last.get(worker.id) ?? []).filter(({ type }) => MONOTONIC.has(type)));
      last.delete(worker.id);
      adding = adding.then(addUp);
    },
    async page(workers) {
      await Promise.all(workers.map(read));
      return AggregatorRegistry.aggregate([await own.getMetricsAsJSON(), ...ended, ...last.values()]).metrics();
    },
  };
}
