import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { Gauge, Histogram, Registry } from 'prom-client';
import { ApiError } from '../errors.ts';
import type { Service } from './service.ts';

/** How long the store may take to answer a readiness check. */
const CHECK_TIMEOUT_MS = 2_000;

/**
 * `/healthz`: the process runs. `/readyz`: its store answers too, else 503. `/metrics`: for Prometheus; no series has
 * an id, and it is 404 behind a proxy, so that visitors of the landing page do not read it. All without a key. Measures
 * every route that is registered later.
 */
export function healthRoutes(app: FastifyInstance, { store }: Service): void {
  // `ref: false`: the timer does not keep the process running.
  const isReady = (): Promise<boolean> =>
    Promise.race([
      store.read((queries) => sql`select 1`.execute(queries)).then(Boolean, () => false),
      delay(CHECK_TIMEOUT_MS, false, { ref: false }),
    ]);
  const registry = new Registry();
  const registers = [registry];
  const durations = new Histogram({
    name: 'reference_request_duration_seconds',
    help: 'Requests. The route stands for the path.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  new Gauge({
    name: 'reference_store_up',
    help: 'Whether the database answers.',
    registers,
    async collect() {
      this.set(Number(await isReady()));
    },
  });
  app.addHook('onResponse', async ({ method, routeOptions }, { statusCode: status, elapsedTime }) => {
    durations.observe({ method, route: routeOptions.url ?? 'unknown', status }, elapsedTime / 1_000);
  });
  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const ready = await isReady();
    return reply.code(ready ? 200 : 503).send({ ready });
  });
  app.get('/metrics', async ({ headers }, reply) => {
    const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
    if (isForwarded) throw new ApiError(404, 'There is nothing at this path');
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
