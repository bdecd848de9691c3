import { LRUCache } from 'lru-cache';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import packageJson from '../../package.json' with { type: 'json' };
import type { Observer } from '../rest/call-context.ts';
import type { RestClient } from '../rest/client.ts';
import type { OperationRecord } from './observe.ts';

/** Buckets of durations, in seconds. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100];

/** Creates metrics in a registry. The number of their label values must be bounded. docs/observability.md describes each. */
function metricsIn(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <Label extends string>(name: string, help: string, buckets: number[], ...labelNames: Label[]) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
    /** A gauge that `read` sets when the metrics are requested. */
    gauge<Label extends string>(
      name: string,
      help: string,
      read: (self: Gauge<Label>) => void,
      ...labelNames: Label[]
    ) {
      const self: Gauge<Label> = new Gauge({ name, help, labelNames, registers, collect: () => read(self) });
    },
  };
}

/** The metrics of a gateway. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const labels = new OperationLabels();
  const { counter, histogram } = metricsIn(registry);
  const help = 'Operations by name, type and outcome: OK, or the code of the first error.';
  const operations = counter('gateway_operations_total', help, 'operation', 'type', 'outcome');
  const time = 'From the arrival of a request to its response.';
  const durations = histogram('gateway_operation_duration_seconds', time, SECONDS, 'operation', 'type');
  const keys = 'Keys that a loader put into one batch.';
  const batches = histogram('gateway_loader_batch_size', keys, BATCH_SIZES, 'loader');
  const rejected = 'Requests without an accepted token, by reason.';
  const failures = counter('gateway_authentication_failures_total', rejected, 'reason');
  const byHash = 'Requests by hash or id.';
  const persisted = counter('gateway_persisted_queries_total', byHash, 'result');
  return {
    registry,
    /** Counts a request to the GraphQL endpoint, after its response. */
    operation(record: OperationRecord): void {
      const { type = 'none', codes, ms } = record;
      // Without a type there was no operation: the request was refused, or was not valid GraphQL.
      const operation = type === 'none' ? 'none' : labels.labelOf(record);
      operations.inc({ operation, type, outcome: codes[0] ?? 'OK' });
      durations.observe({ operation, type }, ms / 1_000);
    },
    /** Gives operations of these names a label of their own. */
    list: (names: Iterable<string>) => labels.list(names),
    /** Counts a batch of a loader and its number of keys. */
    batch: (loader: string, size: number) => batches.observe({ loader }, size),
    /** Counts a request whose token was not accepted. */
    authenticationFailed: (reason: string) => failures.inc({ reason }),
    /** Counts a request that names its document by hash or id. */
    persistedQuery: (result: 'listed' | 'registered' | 'unknown' | 'sent') => persisted.inc({ result }),
  };
}

/** Counts what the REST client does. */
export function observeRest(registry: Registry): Observer {
  const { counter, histogram } = metricsIn(registry);
  const calls = counter('rest_calls_total', 'Calls that operations needed, by outcome.', 'endpoint', 'outcome');
  const attempts = 'Requests to the REST service, for each attempt; the status is none when there was no response.';
  const requests = histogram('rest_request_duration_seconds', attempts, SECONDS, 'endpoint', 'status');
  const retries = counter('rest_retries_total', 'Requests that were sent again.', 'endpoint');
  const openings = counter('rest_breaker_openings_total', 'How often the breaker of the REST service opened.');
  const unreadable = 'Values that are not as the interface describes them.';
  const decodeWarnings = counter('rest_decode_warnings_total', unreadable, 'kind', 'member');
  const withoutCode = 'Responses of 404 without the code of an unknown player.';
  const notFound = counter('rest_not_found_without_code_total', withoutCode, 'endpoint');
  return {
    call: ({ method, template, error = 'OK' }) => calls.inc({ endpoint: `${method} ${template}`, outcome: error }),
    attempt: (method, template, status, ms) =>
      requests.observe({ endpoint: `${method} ${template}`, status: status ?? 'none' }, ms / 1_000),
    retry: (method, template) => retries.inc({ endpoint: `${method} ${template}` }),
    breaker: (state) => openings.inc(state === 'open' ? 1 : 0),
    decodeWarning: (kind, member) => decodeWarnings.inc({ kind, member }),
    notFoundWithoutCode: (endpoint) => notFound.inc({ endpoint }),
  };
}

/** What the gauges read. */
interface State {
  /** Of the REST client. */
  health: RestClient['health'];
  redis: { isUp(): boolean } | undefined;
  slots: { readonly active: number };
}

/** Gauges of prom-client that `promtool check metrics` refuses: sums of the gauges without `_total`. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Gauges that are read when the metrics are requested, and Node's own metrics of the process. */
export function showState(registry: Registry, { health, redis, slots }: State): void {
  const { gauge } = metricsIn(registry);
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const startedAt = Date.now() / 1_000 - process.uptime();
  gauge('gateway_build_info', 'Always 1.', (self) => self.set({ version: packageJson.version }, 1), 'version');
  gauge('gateway_start_time_seconds', 'When the process started, since 1970.', (self) => self.set(startedAt));
  gauge('gateway_operations_active', 'Operations in flight.', (self) => self.set(slots.active));
  if (redis)
    gauge('gateway_redis_up', 'Whether Redis answered the last time.', (self) => self.set(Number(redis.isUp())));
  // Processes are added up: `{state="open"} 2` means two processes.
  const states = ['closed', 'half-open', 'open'];
  const show = (self: Gauge<'state'>) => {
    for (const state of states) self.set({ state }, Number(state === health().breaker));
  };
  gauge('rest_breaker', 'The state of the breaker: 1 for the one it is in.', show, 'state');
  gauge('rest_requests_active', 'Requests to the REST service in flight.', (self) => self.set(health().active));
  gauge('rest_requests_queued', 'Calls that wait for a connection.', (self) => self.set(health().queued));
}

/** How many names that are not listed get their own label, and how many are remembered that do not have one yet. */
const MAX_LEARNED = 100;
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
  readonly #listed = new Set<string>();
  readonly #learned = new Set<string>();
  readonly #playersOf = new LRUCache<string, Set<string>>({ max: MAX_CANDIDATES });

  list(names: Iterable<string>): void {
    for (const name of names) this.#listed.add(name);
  }

  labelOf({ name, caller }: Pick<OperationRecord, 'name' | 'caller'>): string {
    if (name === undefined) return 'anonymous';
    if (this.#listed.has(name) || this.#learned.has(name)) return name;
    if (!caller || this.#learned.size >= MAX_LEARNED || name.length > MAX_LENGTH) return 'other';
    if (caller.sub !== undefined && !caller.scopes.has('any-player')) {
      const players = this.#playersOf.get(name) ?? new Set();
      this.#playersOf.set(name, players.add(caller.sub));
      if (players.size < MIN_PLAYERS) return 'other';
    }
    this.#learned.add(name);
    return name;
  }
}
