import { Counter, Gauge, type Registry } from 'prom-client';
import type { Health } from '../rest/client.ts';
import type { Observer } from '../rest/observer.ts';
import { SECONDS, showGauge, Tally } from './metrics.ts';

/** Counts what the REST client does. */
export function observeRest(registry: Registry): Observer {
  const registers = [registry];
  const calls = new Tally({
    name: 'rest_calls_total',
    help: 'Calls that operations needed, by outcome.',
    labels: (method: string, template: string, outcome: string) => ({ endpoint: `${method} ${template}`, outcome }),
    registers,
  });
  const requests = new Tally({
    name: 'rest_request_duration_seconds',
    help: 'Requests to the REST service, counted for each attempt; the status is none when there was no response.',
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
  const openings = new Counter({
    name: 'rest_breaker_openings_total',
    help: 'How often the breaker in front of the REST service opened.',
    registers,
  });
  const decodeWarnings = new Counter({
    name: 'rest_decode_warnings_total',
    help: 'Values of the REST service that could not be read as the interface describes them.',
    labelNames: ['kind', 'member'],
    registers,
  });
  const notFound = new Counter({
    name: 'rest_not_found_without_code_total',
    help: 'Responses of 404 without the code of an unknown player. Clients get null.',
    labelNames: ['endpoint'],
    registers,
  });
  return {
    call: (record) => calls.add(1, record.method, record.template, record.error ?? 'OK'),
    attempt: (method, template, status, ms) => requests.add(ms / 1_000, method, template, status),
    retry: (method, template) => retries.inc({ endpoint: `${method} ${template}` }),
    breaker(state) {
      if (state === 'open') openings.inc();
    },
    decodeWarning: (kind, member) => decodeWarnings.inc({ kind, member }),
    notFoundWithoutCode: (endpoint) => notFound.inc({ endpoint }),
  };
}

const BREAKER_STATES = ['closed', 'half-open', 'open'] as const;

/** Gauges that are read when the metrics are requested. Processes are added up: `{state="open"} 2` means two processes. */
export function showHealth(health: () => Health, registry: Registry): void {
  const registers = [registry];
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
  showGauge('rest_requests_active', 'Requests to the REST service in flight.', registry, () => health().active);
  const queued = 'Calls that wait for a connection to the REST service.';
  showGauge('rest_requests_queued', queued, registry, () => health().queued);
}
