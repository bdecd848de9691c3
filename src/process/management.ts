import fastify, { type FastifyBaseLogger } from 'fastify';
import { Registry } from 'prom-client';
import type { Lifecycle } from './lifecycle.ts';

/** A gateway, as its management port shows it. */
interface Source {
  /** `reasons`: why it is not ready. `conditions`: states of others, shown alone: all replicas would be unready at once. */
  status(): { reasons: readonly string[]; conditions: readonly string[] };
  /** The metrics in Prometheus' text format. */
  metrics(): Promise<string>;
}

/**
 * Serves `/healthz`, `/readyz` and `/metrics` on a separate port. The port is not public, and it answers while the public
 * port is overloaded or draining. The responses contain states and numbers, never keys or personal data.
 */
export async function startManagement(
  address: { host: string; port: number },
  lifecycle: Pick<Lifecycle, 'phase'>,
  log: FastifyBaseLogger,
) {
  const logController = new fastify.LogController({ disableRequestLogging: true });
  const app = fastify({ loggerInstance: log, logController, forceCloseConnections: true });
  let source: Source | undefined;

  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const { phase } = lifecycle;
    const { reasons, conditions } = (phase === 'running' && source?.status()) || { reasons: [phase], conditions: [] };
    const ready = reasons.length === 0;
    const body = { ready, ...(!ready && { reasons }), ...(conditions.length > 0 && { conditions }) };
    return reply.code(ready ? 200 : 503).send(body);
  });
  app.get('/metrics', async (_request, reply) => {
    if (!source) return reply.code(503).send({ reasons: ['starting'] });
    return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(await source.metrics());
  });

  const url = await app.listen({ ...address, listenTextResolver: (at) => `management listens at ${at}` });
  return {
    url,
    /** From now on, responds with the status and metrics of `given`. */
    setSource(given: Source): void {
      source = given;
    },
    stop: () => app.close(),
  };
}
