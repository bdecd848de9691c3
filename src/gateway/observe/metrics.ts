import { Counter, Gauge, Registry } from 'prom-client';
import type { CallRecord } from '../../rest/call-context.ts';
import type { Health } from '../../rest/health.ts';
import type { Observer } from '../../rest/observe.ts';
import { OperationLabels } from './operation-label.ts';
import type { OperationRecord } from './operation-record.ts';
import { Tally } from './tally.ts';

/** What a gateway counts. Labels hold names from closed or bounded sets alone, never anything a player or caller sent. */
export interface Metrics {
  registry: Registry;
  /** For the REST client. */
  observer: Observer;
  /** A request to the GraphQL endpoint is answered, so many milliseconds after it arrived. */
  operation(record: OperationRecord, ms: number): void;
  /** A loader put so many keys into one batch. */
  batch(loader: string, keys: number): void;
  /** Shows the REST client's health from now on. */
  showHealth(health: () => Health): void;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

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
    observer: observeRest(registers),
    operation({ name, type = 'none', caller, codes }, ms) {
      // Without a type no operation came about: the request was refused, or was no valid GraphQL.
      const operation = type === 'none' ? 'none' : labels.labelOf(name, caller);
      operations.add(1, operation, type, codes[0] ?? 'OK');
      durations.add(ms / 1_000, operation, type);
    },
    batch: (loader, keys) => batches.add(keys, loader),
    showHealth: (health) => showHealth(health, registers),
  };
}

function observeRest(registers: Registry[]): Observer {
  const calls = new Tally({
    name: 'rest_calls_total',
    help: 'Calls that operations needed, by where the answer came from (sent, shared, cached, stale) and outcome.',
    labels: (method: string, template: string, source: string, outcome: string) => ({
      endpoint: `${method} ${template}`,
      source,
      outcome,
    }),
    registers,
  });
  const requests = new Tally({
    name: 'rest_request_duration_seconds',
    help: 'Requests to the REST service, each attempt for itself; the status is none when no answer came.',
    labels: (method: string, template: string, status: number | undefined) => ({
      endpoint: `${method} ${template}`,
      status: `${status ?? 'none'}`,
    }),
    buckets: SECONDS,
    registers,
  });
  const retries = new Counter({
    name: 'rest_retries_total',
    help: 'Requests that were sent again.',
    labelNames: ['endpoint'],
    registers,
  });
  const oddities = new Counter({
    name: 'rest_odd_values_total',
    help: 'Values of the REST service that could not be read as the interface describes them.',
    labelNames: ['kind', 'member'],
    registers,
  });
  return {
    call: (record) => calls.add(1, record.method, record.template, sourceOf(record), record.error ?? 'OK'),
    attempt: (method, template, status, ms) => requests.add(ms / 1_000, method, template, status),
    retry: (method, template) => retries.inc({ endpoint: `${method} ${template}` }),
    oddity: (kind, member) => oddities.inc({ kind, member }),
  };
}

function sourceOf({ stale, cached, shared }: CallRecord): string {
  if (stale) return 'stale';
  if (cached) return 'cached';
  return shared ? 'shared' : 'sent';
}

const BREAKER_STATES = ['closed', 'half-open', 'open'] as const;

/** States are read when they are asked for. Over several processes they add up: `{state="open"} 2` means two of them. */
function showHealth(health: () => Health, registers: Registry[]): void {
  new Gauge({
    name: 'rest_breaker',
    help: 'The state of the breaker in front of the REST service: 1 for the one it is in.',
    labelNames: ['state'],
    registers,
    collect() {
      const { breaker } = health();
      for (const state of BREAKER_STATES) this.set({ state }, state === breaker ? 1 : 0);
    },
  });
  new Gauge({
    name: 'rest_requests_active',
    help: 'Requests to the REST service that are on their way.',
    registers,
    collect() {
      this.set(health().active);
    },
  });
  new Gauge({
    name: 'rest_requests_queued',
    help: 'Calls that wait for a connection to the REST service or for the end of a pause.',
    registers,
    collect() {
      this.set(health().queued);
    },
  });
  new Gauge({
    name: 'rest_pause_seconds',
    help: 'For how long no call is sent because the REST service asked for a pause.',
    aggregator: 'max',
    registers,
    collect() {
      this.set(health().pausedMs / 1000);
    },
  });
}
