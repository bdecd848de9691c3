import { LRUCache } from 'lru-cache';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { OperationRecord, Sender } from './operation-record.ts';

/** Buckets of durations, in seconds. */
export const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Creates metrics in a registry. The number of their label values must be bounded. */
export function metricsIn(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <Label extends string>(name: string, help: string, buckets: number[], ...labelNames: Label[]) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
    /** A gauge that is read when the metrics are requested. */
    gauge: (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      }),
  };
}

/** The metrics of a gateway. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const labels = new OperationLabels();
  const { counter, histogram, gauge } = metricsIn(registry);
  const operations = counter(
    'gateway_operations_total',
    'Operations by name, type and outcome: OK, or the code of the first error.',
    'operation',
    'type',
    'outcome',
  );
  const durations = histogram(
    'gateway_operation_duration_seconds',
    'From the arrival of a request to its response.',
    SECONDS,
    'operation',
    'type',
  );
  const batchSizes = [1, 2, 5, 10, 20, 50, 100];
  const batches = histogram(
    'gateway_loader_batch_size',
    'Keys that a loader put into one batch.',
    batchSizes,
    'loader',
  );
  const failures = counter(
    'gateway_authentication_failures_total',
    'Requests without an accepted token, by reason; docs/identity-providers.md explains them.',
    'reason',
  );
  const persisted = counter(
    'gateway_persisted_queries_total',
    'Requests by hash or id: listed in the manifest, registered, unknown, or sent with the text to register it.',
    'result',
  );

  return {
    registry,
    /** Counts a request to the GraphQL endpoint, answered `ms` milliseconds after it arrived. */
    operation({ name, type = 'none', caller, codes }: OperationRecord, ms: number): void {
      // Without a type there was no operation: the request was refused, or was not valid GraphQL.
      const operation = type === 'none' ? 'none' : labels.labelOf(name, caller);
      operations.inc({ operation, type, outcome: codes[0] ?? 'OK' });
      durations.observe({ operation, type }, ms / 1_000);
    },
    /** Gives operations of these names a label of their own. */
    list: (names: Iterable<string>) => labels.list(names),
    /** Counts a batch of a loader and its number of keys. */
    batch: (loader: string, keys: number) => batches.observe({ loader }, keys),
    /** Counts a request whose token was not accepted. */
    authenticationFailed: (reason: string) => failures.inc({ reason }),
    /** Counts a request that names its document by hash or id. */
    persistedQuery: (result: 'listed' | 'registered' | 'unknown' | 'sent') => persisted.inc({ result }),
    /** Shows the requests in flight, read when the metrics are requested. */
    showConcurrency: (slots: { readonly active: number }) =>
      gauge('gateway_operations_active', 'Operations in flight.', () => slots.active),
  };
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

  list(names: Iterable<string>): void {
    for (const name of names) this.#labels.add(name);
  }

  labelOf(name: string | undefined, caller: Sender | undefined): string {
    if (name === undefined) return 'anonymous';
    if (this.#labels.has(name)) return name;
    if (!caller || this.#left === 0 || name.length > MAX_LENGTH || !this.#isProven(name, caller)) return 'other';
    this.#left -= 1;
    this.#labels.add(name);
    this.#playersOf.delete(name);
    return name;
  }

  #isProven(name: string, { sub, scopes }: Sender): boolean {
    if (sub === undefined || scopes.has('any-player')) return true;
    const players = this.#playersOf.get(name) ?? new Set();
    this.#playersOf.set(name, players.add(sub));
    return players.size >= MIN_PLAYERS;
  }
}
