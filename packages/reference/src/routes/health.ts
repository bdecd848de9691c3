import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Service } from './service.ts';

/** How long the store may take to answer a readiness check. */
const CHECK_TIMEOUT_MS = 2_000;

/** `/healthz`: the process runs. `/readyz`: its store answers too, else 503. Both without a key. */
export function healthRoutes(app: FastifyInstance, service: Service): void {
  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const ready = await isReady(service);
    return reply.code(ready ? 200 : 503).send({ ready });
  });
}

/** Whether the store answers in time. */
export function isReady({ store }: Service): Promise<boolean> {
  const answers = store.check().then(
    () => true,
    () => false,
  );
  // `ref: false`: the timer does not keep the process running.
  return Promise.race([answers, delay(CHECK_TIMEOUT_MS, false, { ref: false })]);
}
