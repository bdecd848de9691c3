import { Counter, Histogram, Registry } from 'prom-client';

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

export type ReferenceMetrics = ReturnType<typeof createMetrics>;

/** What the service counts. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'reference_requests_total',
    help: 'Requests answered, by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'reference_request_duration_seconds',
    help: 'Time to answer a request, by method and route.',
    labelNames: ['method', 'route'],
    buckets: SECONDS,
    registers,
  });
  const landingRefused = new Counter({
    name: 'reference_landing_forms_refused_total',
    help: 'Forms of the landing page refused because an address or a link was over its limit.',
    registers,
  });
  const connectionErrors = new Counter({
    name: 'reference_database_connection_errors_total',
    help: 'Connections to PostgreSQL that were lost.',
    registers,
  });
  return {
    registry,
    request({ method, route, status }: { method: string; route: string; status: number }, seconds: number): void {
      requests.inc({ method, route, status });
      durations.observe({ method, route }, seconds);
    },
    landingRefused: () => landingRefused.inc(),
    connectionError: () => connectionErrors.inc(),
  };
}
