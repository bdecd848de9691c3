import type { FastifyInstance } from 'fastify';
import { Gauge, Histogram, Registry } from 'prom-client';
import { ApiError } from '../errors.ts';
import { isReady } from './health.ts';
import type { Service } from './service.ts';

/** Buckets of durations, in seconds. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * `/metrics` for Prometheus, without a key: no series has an id. It is 404 behind a proxy, so that visitors of the landing page do
 * not read it. Measures every route that is registered later.
 */
export function metricsRoutes(app: FastifyInstance, service: Service): void {
  const registry = new Registry();
  const registers = [registry];
  const durations = new Histogram({
    name: 'reference_request_duration_seconds',
    help: 'Requests. The route stands for the path.',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers,
  });
  new Gauge({
    name: 'reference_store_up',
    help: 'Whether the database answers.',
    registers,
    async collect() {
      this.set(Number(await isReady(service)));
    },
  });
  app.addHook('onResponse', async ({ method, routeOptions }, { statusCode: status, elapsedTime }) => {
    durations.observe({ method, route: routeOptions.url ?? 'unknown', status }, elapsedTime / 1_000);
  });
  app.get('/metrics', async ({ headers }, reply) => {
    const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
    if (isForwarded) throw new ApiError(404, 'There is nothing at this path');
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
