import { Gauge, type Registry } from 'prom-client';
import type { Health } from '../rest/client.ts';
import type { Observer } from '../rest/observer.ts';
import { metricsIn, SECONDS } from './metrics.ts';

/** Counts what the REST client does. */
export function observeRest(registry: Registry): Observer {
  const { counter, histogram } = metricsIn(registry);
  const calls = counter('rest_calls_total', 'Calls that operations needed, by outcome.', 'endpoint', 'outcome');
  const ofAttempts = 'Requests to the REST service, for each attempt; the status is none when there was no response.';
  const requests = histogram('rest_request_duration_seconds', ofAttempts, SECONDS, 'endpoint', 'status');
  const retries = counter('rest_retries_total', 'Requests that were sent again.', 'endpoint');
  const openings = counter('rest_breaker_openings_total', 'How often the breaker of the REST service opened.');
  const unreadable = 'Values of the REST service that could not be read as the interface describes them.';
  const decodeWarnings = counter('rest_decode_warnings_total', unreadable, 'kind', 'member');
  const withoutCode = 'Responses of 404 without the code of an unknown player. Clients get null.';
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

/** Gauges that are read when the metrics are requested. Processes are added up: `{state="open"} 2` means two processes. */
export function showHealth(health: () => Health, registry: Registry): void {
  const { gauge } = metricsIn(registry);
  new Gauge({
    name: 'rest_breaker',
    help: 'The state of the breaker in front of the REST service: 1 for the one it is in.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { breaker } = health();
      for (const state of ['closed', 'half-open', 'open']) this.set({ state }, state === breaker ? 1 : 0);
    },
  });
  gauge('rest_requests_active', 'Requests to the REST service in flight.', () => health().active);
  gauge('rest_requests_queued', 'Calls that wait for a connection to the REST service.', () => health().queued);
}
