import fastify, { type FastifyBaseLogger } from 'fastify';
import type { Lifecycle, Stoppable } from './lifecycle.ts';
import { withoutSchemas } from './without-schemas.ts';

/** Why no requests should be sent here at the moment. */
export const REASONS = ['starting', 'draining', 'breaker-open', 'overloaded', 'no-worker'] as const;
export type Reason = (typeof REASONS)[number];

/** What can be seen of a gateway from outside, whether it is one process or several. */
export interface Visible {
  /** Empty when it is ready. */
  reasons(): Promise<readonly Reason[]>;
  /** The page of metrics in Prometheus' text format. */
  metrics(): Promise<string>;
}

export interface Management extends Stoppable {
  url: string;
  /** Shows this from now on. */
  show(visible: Visible): void;
}

/** The content type of Prometheus' text format, which prom-client writes. */
const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * `/healthz`, `/readyz` and `/metrics` on a port of their own, which the world outside never sees and which answers
 * while the public port is overloaded or draining. It tells states and numbers, never keys or personal data.
 */
export async function startManagement(
  address: { host: string; port: number },
  lifecycle: Lifecycle,
  log: FastifyBaseLogger,
): Promise<Management> {
  const app = fastify({
    loggerInstance: log,
    schemaController: withoutSchemas,
    logController: new fastify.LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
  });
  let shown: Visible | undefined;

  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const reasons = lifecycle.phase === 'running' ? ((await shown?.reasons()) ?? []) : [lifecycle.phase];
    const ready = reasons.length === 0;
    return reply.code(ready ? 200 : 503).send(ready ? { ready } : { ready, reasons });
  });
  app.get('/metrics', async (_request, reply) => {
    if (!shown)
      return reply
        .code(503)
        .header('retry-after', '1')
        .send({ reasons: [lifecycle.phase] });
    return reply.type(PROMETHEUS).send(await shown.metrics());
  });

  const url = await app.listen({ ...address, listenTextResolver: (at) => `management listens at ${at}` });
  return {
    url,
    show(visible) {
      shown = visible;
    },
    stop: () => app.close(),
  };
}
