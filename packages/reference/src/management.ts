import { setTimeout as delay } from 'node:timers/promises';
import { type FastifyBaseLogger, type FastifyInstance, fastify } from 'fastify';
import { serverOptions } from './app.ts';
import { answerError, answerUnknownPaths } from './error-handlers.ts';
import { operatorRoutes } from './routes/operator.ts';
import type { Service } from './routes/request.ts';

/** Why the process should get no requests. */
type NotReadyReason = 'starting' | 'draining' | 'store';

interface ManagementOptions {
  service: Service;
  phase: () => 'starting' | 'running' | 'draining';
  /** How long the store may take to answer a readiness check, in milliseconds. */
  healthTimeoutMs: number;
  /** The folder for backups of the store. */
  backupDir: string;
  log?: FastifyBaseLogger | undefined;
}

/** The management port: health, metrics and the operator's routes. It must not be reachable from outside. */
export function createManagementApp(options: ManagementOptions): FastifyInstance {
  const { service, log } = options;
  const app = fastify({ ...serverOptions(log), forceCloseConnections: true });
  answerUnknownPaths(app);
  app.setErrorHandler(answerError);

  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const reasons = await notReadyReasons(options);
    const ready = reasons.length === 0;
    return reply.code(ready ? 200 : 503).send(ready ? { ready } : { ready, reasons });
  });
  const { registry } = service.metrics;
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  app.register(async (scope) => operatorRoutes(scope, service, options.backupDir), { prefix: '/operator' });
  return app;
}

async function notReadyReasons({ service, phase, healthTimeoutMs }: ManagementOptions): Promise<NotReadyReason[]> {
  const current = phase();
  if (current !== 'running') return [current];
  const answers = service.store.check().then(
    () => true,
    () => false,
  );
  // `ref: false`: the timer does not keep the process running.
  return (await Promise.race([answers, delay(healthTimeoutMs, false, { ref: false })])) ? [] : ['store'];
}
