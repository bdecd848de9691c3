/*
 * Counters and histograms of what happens with every request. prom-client finds the number for some labels by writing them
 * into one text, anew for every count: ten times a request that was 2 % of all its CPU time. Here a number is found by one
 * key after the other, and labels are written when somebody asks for the metrics.
 */
import type { Histogram, Registry } from 'prom-client';

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
