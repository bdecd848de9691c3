/*
 * Counters and histograms that are updated for every request. For every update, prom-client would join the labels of the
 * series into one text. A Tally finds the series in nested maps (docs/decisions/0010-tally-of-metrics.md).
 */
import { LRUCache } from 'lru-cache';
import { Gauge, type Histogram, Registry } from 'prom-client';
import type { Caller, TokenReason } from '../access/caller.ts';
import type { OperationRecord } from './operation-record.ts';

/** Buckets of durations, in seconds. */
export const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics of a gateway. The number of label values is bounded. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const labels = new OperationLabels();
  const registers = [registry];

  const operations = new Tally({
    name: 'gateway_operations_total',
    help: 'Operations by name, type and outcome: OK, or the code of the first error.',
    labels: (operation: string, type: string, outcome: string) => ({ operation, type, outcome }),
    registers,
  });
  const durations = new Tally({
    name: 'gateway_operation_duration_seconds',
    help: 'From the arrival of a request to its response.',
    labels: (operation: string, type: string) => ({ operation, type }),
    buckets: SECONDS,
    registers,
  });
  const batches = new Tally({
    name: 'gateway_loader_batch_size',
    help: 'How many keys a loader put into one batch.',
    labels: (loader: string) => ({ loader }),
    buckets: [1, 2, 5, 10, 20, 50, 100],
    registers,
  });

  const failures = new Tally({
    name: 'gateway_authentication_failures_total',
    help: 'Requests without an accepted token, by reason; docs/identity-providers.md explains them.',
    labels: (reason: TokenReason) => ({ reason }),
    registers,
  });
  const persisted = new Tally({
    name: 'gateway_persisted_queries_total',
    help: 'Requests by hash or id: listed in the manifest, registered, unknown, or sent with the text to register it.',
    labels: (result: string) => ({ result }),
    registers,
  });

  return {
    registry,
    /** Counts a request to the GraphQL endpoint, answered `ms` milliseconds after it arrived. */
    operation({ name, type = 'none', caller, codes }: OperationRecord, ms: number): void {
      // Without a type there was no operation: the request was refused, or was not valid GraphQL.
      const operation = type === 'none' ? 'none' : labels.labelOf(name, caller);
      operations.add(1, operation, type, codes[0] ?? 'OK');
      durations.add(ms / 1_000, operation, type);
    },
    /** Gives operations of these names a label of their own, from now on. */
    list: (names: Iterable<string>) => labels.list(names),
    /** Counts a batch of a loader and its number of keys. */
    batch: (loader: string, keys: number) => batches.add(keys, loader),
    /** Counts a request whose token was not accepted. */
    authenticationFailed: (reason: TokenReason) => failures.add(1, reason),
    /** Counts a request that names its document by hash or id. */
    persistedQuery: (result: 'listed' | 'registered' | 'unknown' | 'sent') => persisted.add(1, result),
    /** Shows the requests in flight, read when the metrics are requested. */
    showConcurrency(slots: { readonly active: number }): void {
      showGauge('gateway_operations_active', 'Operations in flight.', registry, () => slots.active);
    },
  };
}

/** A gauge that is read when the metrics are requested. */
export function showGauge(name: string, help: string, registry: Registry, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

interface TallyOptions<Keys extends readonly unknown[]> {
  name: string;
  help: string;
  /** The labels for Prometheus. */
  labels: (...keys: Keys) => Record<string, string>;
  /** Upper bounds of a histogram, in ascending order. Without them, the metric is a counter. */
  buckets?: readonly number[];
  registers: readonly Registry[];
}

interface Node {
  next: Map<unknown, Node>;
  series: Series | undefined;
}

interface Series {
  labels: Record<string, string>;
  count: number;
  sum: number;
  /** For each bound, how many values are at most this bound and above the previous one. */
  counts: number[];
}

/** A counter or histogram for prom-client's registries. The keys must be bounded: no series is ever removed. */
export class Tally<Keys extends readonly unknown[]> {
  readonly name: string;
  readonly #options: TallyOptions<Keys>;
  readonly #buckets: readonly number[];
  readonly #root: Node = { next: new Map(), series: undefined };
  readonly #all: Series[] = [];

  constructor(options: TallyOptions<Keys>) {
    this.name = options.name;
    this.#options = options;
    this.#buckets = options.buckets ?? [];
    // A registry uses only the name of a metric and the result of its `get`.
    for (const registry of options.registers) registry.registerMetric(this as unknown as Histogram);
  }

  /** Adds to a counter, or observes a value. */
  add(value: number, ...keys: Keys): void {
    let node = this.#root;
    for (const key of keys) {
      let next = node.next.get(key);
      if (!next) {
        next = { next: new Map(), series: undefined };
        node.next.set(key, next);
      }
      node = next;
    }
    node.series ??= this.#begin(keys);
    const { series } = node;
    series.count += 1;
    series.sum += value;
    const place = this.#buckets.findIndex((bound) => value <= bound);
    if (place >= 0) series.counts[place] = (series.counts[place] ?? 0) + 1;
  }

  #begin(keys: Keys): Series {
    const series = { labels: this.#options.labels(...keys), count: 0, sum: 0, counts: this.#buckets.map(() => 0) };
    this.#all.push(series);
    return series;
  }

  async get() {
    const { name, help, buckets } = this.#options;
    const type = buckets ? 'histogram' : 'counter';
    return { name, help, type, aggregator: 'sum', values: this.#all.flatMap((series) => this.#valuesOf(series)) };
  }

  /** The values in Prometheus' form: the count of a bucket includes the counts of all smaller buckets. */
  #valuesOf({ labels, count, sum, counts }: Series) {
    if (!this.#options.buckets) return [{ labels, value: sum }];
    let below = 0;
    const buckets = this.#buckets.map((bound, place) => {
      below += counts[place] ?? 0;
      return { metricName: `${this.name}_bucket`, labels: { le: `${bound}`, ...labels }, value: below };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}

/** How many names that are not listed get their own label. */
const MAX_LEARNED = 100;
/** How many names are remembered that do not have a label yet. The least recently used are evicted. */
const MAX_CANDIDATES = 1_000;
/** Longer names get no label, in characters. */
const MAX_LENGTH = 64;
/** How many players must have used a name, so that one player cannot use up the labels. */
const MIN_PLAYERS = 3;

/**
 * Labels for the names of operations. Their number is bounded, although clients choose the names. The label is the name for
 * listed operations, and for the first hundred others that a server or several players use. For all other names it is
 * `other`; for operations without a name it is `anonymous`.
 */
class OperationLabels {
  readonly #labels = new Set<string>();
  readonly #playersOf = new LRUCache<string, Set<string>>({ max: MAX_CANDIDATES });
  #left = MAX_LEARNED;

  /** Adds the names of the operations in the manifest. A name keeps its label when the manifest has it no longer. */
  list(names: Iterable<string>): void {
    for (const name of names) this.#labels.add(name);
  }

  labelOf(name: string | undefined, caller: Caller | undefined): string {
    if (name === undefined) return 'anonymous';
    if (this.#labels.has(name)) return name;
    if (!caller || this.#left === 0 || name.length > MAX_LENGTH || !this.#isProven(name, caller)) return 'other';
    this.#left -= 1;
    this.#labels.add(name);
    this.#playersOf.delete(name);
    return name;
  }

  #isProven(name: string, { sub, scopes }: Caller): boolean {
    if (sub === undefined || scopes.has('any-player')) return true;
    const players = this.#playersOf.get(name) ?? new Set();
    players.add(sub);
    this.#playersOf.set(name, players);
    return players.size >= MIN_PLAYERS;
  }
}
