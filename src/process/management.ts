import fastify, { type FastifyBaseLogger } from 'fastify';
import { Registry } from 'prom-client';
import type { Lifecycle, Stoppable } from './lifecycle.ts';

/** The status of a gateway. */
export interface Status {
  /**
   * Why this process is not ready; empty when it is. States outside this process are no reason: all replicas would be
   * unready at once.
   */
  reasons: readonly ('starting' | 'draining' | 'no-keys')[];
  /** States that `/readyz` shows but that do not make the process unready. */
  conditions: readonly ('breaker-open' | 'overloaded')[];
}

/** The status and metrics of a gateway. */
export interface StatusSource {
  status(): Status;
  /** The metrics in Prometheus' text format. */
  metrics(): Promise<string>;
}

export interface Management extends Stoppable {
  url: string;
  /** From now on, answers with the status and metrics of `source`. */
  setSource(source: StatusSource): void;
}

/**
 * Serves `/healthz`, `/readyz` and `/metrics` on a separate port. The port is not public, and it answers while the public
 * port is overloaded or draining. The responses contain states and numbers, never keys or personal data.
 */
export async function startManagement(
  address: { host: string; port: number },
  lifecycle: Pick<Lifecycle, 'phase'>,
  log: FastifyBaseLogger,
): Promise<Management> {
  const app = fastify({
    loggerInstance: log,
    logController: new fastify.LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
  });
  let source: StatusSource | undefined;

  function status(): Status {
    if (lifecycle.phase !== 'running' || !source) {
      return { reasons: [lifecycle.phase === 'draining' ? 'draining' : 'starting'], conditions: [] };
    }
    return source.status();
  }

  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const { reasons, conditions } = status();
    const ready = reasons.length === 0;
    return reply.code(ready ? 200 : 503).send({
      ready,
      ...(ready ? {} : { reasons }),
      ...(conditions.length > 0 ? { conditions } : {}),
    });
  });
  app.get('/metrics', async (_request, reply) => {
    if (!source) return reply.code(503).header('retry-after', '1').send(status());
    return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(await source.metrics());
  });

  const url = await app.listen({ ...address, listenTextResolver: (at) => `management listens at ${at}` });
  return {
    url,
    setSource(given) {
      source = given;
    },
    stop: () => app.close(),
  };
}
