import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** What the service counts. */
export interface ReferenceMetrics {
  request(labels: { method: string; route: string; status: number }, seconds: number): void;
  landingRefused(): void;
  connectionError(): void;
  /** The content type and the text that Prometheus reads. */
  contentType: string;
  text(): Promise<string>;
}

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];

/** @param withProcess Also the metrics of the process: CPU, memory, event loop. Default false. */
export function createMetrics(withProcess = false): ReferenceMetrics {
  const registry = new Registry();
  const registers = [registry];
  if (withProcess) collectDefaultMetrics({ register: registry });
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
    request({ method, route, status }, seconds) {
      requests.inc({ method, route, status });
      durations.observe({ method, route }, seconds);
    },
    landingRefused: () => landingRefused.inc(),
    connectionError: () => connectionErrors.inc(),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}
