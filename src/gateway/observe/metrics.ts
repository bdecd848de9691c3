/*
 * Counters and histograms of what happens with every request. prom-client finds the series of some labels by writing them
 * into one text for every count: ten counts of a request were 2 % of its CPU time. A Tally finds a series by one key after
 * the other, and the labels are written when the metrics are read.
 */
import { type Histogram, Registry } from 'prom-client';
import type { Caller } from '../access/caller.ts';
import type { OperationRecord } from './operation-record.ts';

/** What a gateway counts. Labels hold names from closed or bounded sets alone, never anything a player or caller sent. */
export interface Metrics {
  registry: Registry;
  /** A request to the GraphQL endpoint is answered, so many milliseconds after it arrived. */
  operation(record: OperationRecord, ms: number): void;
  /** A loader put so many keys into one batch. */
  batch(loader: string, keys: number): void;
}

/** Buckets of durations, in seconds. */
export const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** @param known Names of operations that are always counted under their own name. */
export function createMetrics(known: Iterable<string> = []): Metrics {
  const registry = new Registry();
  const labels = new OperationLabels(known);
  const registers = [registry];

  const operations = new Tally({
    name: 'gateway_operations_total',
    help: 'Operations by name, type and outcome: OK, or the code of the first error.',
    labels: (operation: string, type: string, outcome: string) => ({ operation, type, outcome }),
    registers,
  });
  const durations = new Tally({
    name: 'gateway_operation_duration_seconds',
    help: 'From the arrival of a request to its answer.',
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

  return {
    registry,
    operation({ name, type = 'none', caller, codes }, ms) {
      // Without a type no operation came about: the request was refused, or was no valid GraphQL.
      const operation = type === 'none' ? 'none' : labels.labelOf(name, caller);
      operations.add(1, operation, type, codes[0] ?? 'OK');
      durations.add(ms / 1_000, operation, type);
    },
    batch: (loader, keys) => batches.add(keys, loader),
  };
}

interface TallyOptions<Keys extends readonly unknown[]> {
  name: string;
  help: string;
  /** What Prometheus knows as labels. */
  labels: (...keys: Keys) => Record<string, string>;
  /** Upper bounds, in ascending order: a histogram of values. Without them it is a counter. */
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
  /** How many values were at most the bound of the same place and above the one before. */
  counts: number[];
}

/** Numbers by keys from closed or bounded sets: nothing is ever forgotten. For prom-client's registries it is a metric. */
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
    // A registry asks a metric for nothing but its name and what `get` resolves to.
    for (const registry of options.registers) registry.registerMetric(this as unknown as Histogram);
  }

  /** For a counter so much more, for a histogram one more value. */
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

  /** As Prometheus has a histogram: each bucket holds what is in the ones below it too. */
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

/** How many names beside the listed ones get a label of their own. */
const MAX_LEARNED = 100;
/** How many names are watched before they get one. */
const MAX_CANDIDATES = 1_000;
/** A longer name was not given by a person. */
const MAX_LENGTH = 64;
/** How many players must have used a name: one player alone could invent a hundred. */
const MIN_PLAYERS = 3;

/**
 * The names under which operations are counted, bounded whatever clients send. Listed operations keep their names, and so do
 * the first hundred others that a server or several players use. The rest is `other`; operations without a name are
 * `anonymous`.
 */
export class OperationLabels {
  readonly #labels: Set<string>;
  readonly #playersOf = new Map<string, Set<string>>();
  #left = MAX_LEARNED;

  /** @param listed The names of the operations in the manifest. */
  constructor(listed: Iterable<string> = []) {
    this.#labels = new Set(listed);
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
    this.#playersOf.delete(name);
    this.#playersOf.set(name, players);
    const [oldest] = this.#playersOf.keys();
    if (this.#playersOf.size > MAX_CANDIDATES && oldest !== undefined) this.#playersOf.delete(oldest);
    return players.size >= MIN_PLAYERS;
  }
}
