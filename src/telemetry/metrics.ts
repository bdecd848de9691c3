import { LRUCache } from 'lru-cache';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import packageJson from '../../package.json' with { type: 'json' };
import type { Caller } from '../caller.ts';
import type { Observer } from '../rest/call-context.ts';
import type { RestClient } from '../rest/client.ts';
import { ENDPOINTS } from '../rest/endpoints.ts';
import type { OperationRecord } from './observe.ts';

/** Buckets of durations, in seconds. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100];
/** Gauges of prom-client that `promtool check metrics` refuses: sums of the gauges without `_total`. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** What the gauges read: the REST client's health, the requests in flight, Redis and a key set if there is one. */
interface State {
  health: RestClient['health'];
  active(): number;
  /** Milliseconds since the key set was fetched. */
  keySetAge: (() => number) | undefined;
  redis: { isUp(): boolean } | undefined;
  droppedLines(): number;
}

/** Creates metrics in a registry. The number of their label values must be bounded. docs/observability.md describes each. */
function metricsIn(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <Label extends string>(name: string, help: string, buckets: number[], ...labelNames: Label[]) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
    /** `read` sets the gauge when the metrics are requested. */
    gauge(name: string, help: string, read: (self: Gauge) => void, ...labelNames: string[]): void {
      const self: Gauge = new Gauge({ name, help, labelNames, registers, collect: () => read(self) });
    },
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics(state: State) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const create = metricsIn(registry);
  const { counter, histogram } = create;
  showState(create, state);
  const operations = counter('gateway_operations_total', 'Operations.', 'operation', 'type', 'outcome');
  const executed = counter('gateway_operations_executed_total', 'Operations that were executed.', 'engine');
  const durations = histogram('gateway_operation_duration_seconds', 'Duration.', SECONDS, 'operation', 'type');
  const batches = histogram('gateway_loader_batch_size', 'Keys of one batch.', BATCH_SIZES, 'loader');
  const failures = counter('gateway_authentication_failures_total', 'Requests without an accepted token.', 'reason');
  const persisted = counter('gateway_persisted_queries_total', 'Requests by hash or id.', 'result');
  const byClient = counter('gateway_operations_by_client_total', 'Operations by client.', 'client', 'outcome');
  const byManifest = counter('gateway_manifest_operations_total', 'Operations by manifest.', 'manifest');
  const deprecated = counter('gateway_deprecated_usage_total', 'Uses of deprecated parts.', 'coordinate', 'client');
  const reports = counter('gateway_event_reports_total', 'Fields trackEvents.', 'kind');
  for (const kind of ['keyed', 'unkeyed', 'repeated']) reports.inc({ kind }, 0);
  const names = createLabels(MAX_NAMES, MAX_NAME_LENGTH, (operation) => {
    removeSeries(operations, 'operation', operation);
    removeSeries(durations, 'operation', operation);
  });
  const clients = createLabels(MAX_CLIENTS, 2 * MAX_NAME_LENGTH + 1, (client) => {
    removeSeries(byClient, 'client', client);
    removeSeries(deprecated, 'client', client);
  });
  return {
    registry,
    rest: observeRest(create),
    /** Counts a request after its response. An address over its limit counts as UNAUTHENTICATED. `name` is the client's own. */
    operation(record: OperationRecord, name: string | undefined): void {
      const { type = 'none', ms, caller } = record;
      const [code = 'OK'] = record.codes;
      // Without a type there was no operation: the request was refused, or was not valid GraphQL.
      const operation = type === 'none' ? 'none' : record.name ? names.labelOf(record.name, caller) : 'anonymous';
      // A server is a client itself. Players use one, which may say its name.
      const shown = name ?? (caller && isPlayer(caller) ? undefined : caller?.name);
      const client = shown && caller ? clients.labelOf(shown, caller) : 'none';
      const outcome = caller || code !== 'RATE_LIMITED' ? code : 'UNAUTHENTICATED';
      byClient.inc({ client, outcome });
      if (record.manifest) byManifest.inc({ manifest: record.manifest });
      for (const coordinate of record.deprecated ?? []) deprecated.inc({ coordinate, client });
      for (const [kind, count] of Object.entries(record.reports ?? {})) reports.inc({ kind }, count);
      operations.inc({ operation, type, outcome });
      durations.observe({ operation, type }, ms / 1_000);
      if (record.engine) executed.inc({ engine: record.engine });
    },
    /** Gives operations of these names a label for good, and begins to count those of these manifests. */
    list(operations: Iterable<string>, manifests: Iterable<string>): void {
      names.list(operations);
      for (const manifest of manifests) byManifest.inc({ manifest }, 0);
    },
    batch: (loader: string, size: number) => batches.observe({ loader }, size),
    authenticationFailed: (reason: string) => failures.inc({ reason }),
    persistedQuery: (result: 'listed' | 'registered' | 'unknown' | 'sent') => persisted.inc({ result }),
  };
}

const isPlayer = (caller: Caller) => caller.playerUniqueId !== undefined && !caller.isServer;

/** How many operations that no manifest lists, and how many clients, have a label; with `none` and `other`, 50 clients. */
const MAX_NAMES = 100;
const MAX_CLIENTS = 48;
/** The longest name, in characters. */
const MAX_NAME_LENGTH = 64;

/** Removes the series that have a label, in whatever combination with others. */
function removeSeries(metric: Counter | Histogram, label: string, value: string): void {
  void metric.get().then(({ values }) => {
    for (const { labels } of values) {
      const { le: _, ...own }: Record<string, string | number | undefined> = labels;
      if (own[label] === value) metric.remove(own);
    }
  });
}

function observeRest({ counter, histogram }: ReturnType<typeof metricsIn>): Observer {
  const calls = counter('rest_calls_total', 'Calls that operations needed.', 'endpoint', 'outcome');
  const requests = histogram('rest_request_duration_seconds', 'Attempts of calls.', SECONDS, 'endpoint', 'status');
  const retries = counter('rest_retries_total', 'Requests that were sent again.', 'endpoint');
  const openings = counter('rest_breaker_openings_total', 'How often the breaker opened.', 'endpoint');
  for (const { name } of ENDPOINTS) openings.inc({ endpoint: name }, 0);
  const warnings = counter('rest_decode_warnings_total', 'Values unlike the interface.', 'kind', 'member');
  const notFound = counter('rest_not_found_without_code_total', '404 without the code for it.', 'endpoint');
  return {
    call: ({ endpoint, error = 'OK' }) => calls.inc({ endpoint: endpoint.name, outcome: error }),
    attempt: (endpoint, status, ms) => requests.observe({ endpoint, status: status ?? 'none' }, ms / 1_000),
    retry: (endpoint) => retries.inc({ endpoint }),
    breaker: (endpoint, state) => openings.inc({ endpoint }, state === 'open' ? 1 : 0),
    decodeWarning: (kind, member) => warnings.inc({ kind, member }),
    notFoundWithoutCode: (endpoint) => notFound.inc({ endpoint }),
  };
}

function showState({ gauge }: ReturnType<typeof metricsIn>, { health, redis, active, keySetAge, droppedLines }: State) {
  const startedAt = Date.now() / 1_000 - process.uptime();
  gauge('gateway_build_info', 'Always 1.', (self) => self.set({ version: packageJson.version }, 1), 'version');
  gauge('gateway_start_time_seconds', 'When the process started, since 1970.', (self) => self.set(startedAt));
  gauge('gateway_log_lines_dropped', 'Lines that no reader took, since the start.', (self) => self.set(droppedLines()));
  gauge('gateway_operations_active', 'Operations in flight.', (self) => self.set(active()));
  if (keySetAge) {
    const help = 'Seconds since the key set was fetched, or since the start.';
    gauge('gateway_key_set_age_seconds', help, (self) => self.set(keySetAge() / 1_000));
  }
  if (redis) gauge('gateway_redis_up', 'Whether Redis answered.', (self) => self.set(Number(redis.isUp())));
  gauge('rest_requests_active', 'Requests that have a connection, or open one.', (self) => self.set(health().active));
  gauge('rest_requests_queued', 'Calls that wait for a connection.', (self) => self.set(health().queued));
  // Processes are added up: `{state="open"} 2` means two processes.
  const showBreaker = (self: Gauge) => {
    for (const [endpoint, current] of health().breakers)
      for (const state of ['closed', 'half-open', 'open']) self.set({ endpoint, state }, Number(state === current));
  };
  gauge('rest_breaker', 'The state of the breaker: 1 for the one it is in.', showBreaker, 'endpoint', 'state');
}

/** How many names are remembered. */
const MAX_REMEMBERED = 10_000;
/** How many players must use a name, so that one player cannot use up the labels. */
const MIN_PLAYERS = 3;
/** How many users of a name are counted, and for how long a use counts, in milliseconds: until the end of the next period. */
const MAX_USERS = 100;
const PERIOD_MS = 600_000;
/** How much more a name must be used to take the label of another. */
const MARGIN = 1.5;

/** How a name is used: by which callers and how often in this period, and its score of the one before. */
type Use = { period: number; users: Set<string>; times: number; scoreBefore: number };

/**
 * Labels of metrics for names that clients choose, so their number is bounded. The names that most callers use have one; each
 * can lose it to another that is used more.
 * @param onLost Called for a name that has lost its label.
 */
export function createLabels(
  max: number,
  maxLength: number,
  onLost: (name: string) => void,
  now = () => performance.now(),
) {
  const listed = new Set<string>();
  const earned = new Set<string>();
  const uses = new LRUCache<string, Use>({ max: MAX_REMEMBERED });
  const useOf = (name: string): Use => {
    const period = Math.floor(now() / PERIOD_MS);
    const last = uses.get(name);
    if (last?.period === period) return last;
    const scoreBefore = last?.period === period - 1 ? scoreOf(last) : 0;
    const use = { period, users: new Set<string>(), times: 0, scoreBefore };
    uses.set(name, use);
    return use;
  };
  return {
    /** Gives these names a label for good. */
    list(names: Iterable<string>): void {
      for (const name of names) listed.add(name);
    },
    /** The label of a name that a caller uses: the name, or `other`. */
    labelOf(name: string, caller: Caller | undefined): string {
      if (listed.has(name)) return name;
      if (!caller || name.length > maxLength) return 'other';
      const use = useOf(name);
      use.times += 1;
      if (use.users.size < MAX_USERS) use.users.add(caller.key);
      if (earned.has(name)) return name;
      if (isPlayer(caller) && use.users.size < MIN_PLAYERS) return 'other';
      if (earned.size >= max) {
        const scores = [...earned].map((one): [string, number] => [one, scoreOf(useOf(one))]);
        const [weakest, score] = scores.reduce((least, one) => (one[1] < least[1] ? one : least));
        if (scoreOf(use) <= MARGIN * score) return 'other';
        earned.delete(weakest);
        onLost(weakest);
      }
      earned.add(name);
      return name;
    },
  };
}

/** Callers count most: one caller cannot keep the names of others out by many uses of its own. */
function scoreOf({ users, times, scoreBefore }: Use): number {
  return Math.max(scoreBefore, users.size === 0 ? 0 : users.size + Math.log10(times));
}
