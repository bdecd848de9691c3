import fastify, { type FastifyBaseLogger } from 'fastify';
import { Registry } from 'prom-client';
import type { serve } from '../serve.ts';
import type { Lifecycle } from './lifecycle.ts';

/** `reasons` make it not ready. `conditions` are states of others: with them, all replicas would be unready at once. */
type Source = Pick<Awaited<ReturnType<typeof serve>>, 'status' | 'metrics'>;

/**
 * Serves `/healthz`, `/readyz` and `/metrics` on a port that is not public, also while the public one is overloaded or drains.
 * `source` is undefined until the gateway listens.
 */
export async function startManagement(
  address: { host: string; port: number },
  lifecycle: Pick<Lifecycle, 'phase'>,
  source: () => Source | undefined,
  log: FastifyBaseLogger,
) {
  const logController = new fastify.LogController({ disableRequestLogging: true });
  const options = { routerOptions: { ignoreTrailingSlash: true }, forceCloseConnections: true };
  const app = fastify({ loggerInstance: log, logController, ...options });
  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const { phase } = lifecycle;
    const { reasons, conditions } = (phase === 'running' && source()?.status()) || { reasons: [phase], conditions: [] };
    const ready = reasons.length === 0;
    const body = { ready, ...(!ready && { reasons }), ...(conditions.length > 0 && { conditions }) };
    return reply.code(ready ? 200 : 503).send(body);
  });
  app.get('/metrics', async (_request, reply) => {
    const metrics = await source()?.metrics();
    if (metrics === undefined) return reply.code(503).send({ reasons: ['starting'] });
    return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(metrics);
  });
  app.setNotFoundHandler((_request, reply) =>
    reply
      .code(404)
      .send({ message: 'This port has /healthz, /readyz and /metrics; GraphQL is on the other one (PORT).' }),
  );

  const url = await app.listen({ ...address, listenTextResolver: (at) => `management listens at ${at}` });
  return { url, stop: () => app.close() };
}
