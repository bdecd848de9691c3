import type { FastifyBaseLogger } from 'fastify';
import type { Redis } from 'ioredis';
import type { Config } from './config/config.ts';
import { loadCompiler } from './graphql/jit.ts';
import { createGateway, type GatewayOptions } from './http/app.ts';
import { createRestClient } from './rest/client.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { showProcess } from './telemetry/process-metrics.ts';
import { observeRest, showHealth } from './telemetry/rest-metrics.ts';

/** `schema/` is next to `src/` and `dist/`. This module, or the bundle that contains it, is at the top of one of them. */
const SCHEMA_DIRECTORY = new URL('../schema/', import.meta.url);

export interface ServeOptions extends Pick<GatewayOptions, 'draining' | 'compileAfter' | 'maxEventLoopDelayMs'> {
  /** The state that replicas share; absent without Redis. The caller closes it. */
  shared?: { redis: Redis; isUp(): boolean } | undefined;
}

/** One gateway in this process, in front of the REST service at `baseUrl`. It listens. */
export async function serve(
  config: Config,
  baseUrl: string,
  log: FastifyBaseLogger,
  { shared, ...options }: ServeOptions = {},
) {
  const metrics = createMetrics();
  const tracing = config.tracing.endpoint && (await import('./telemetry/tracing.ts')).startTracing(baseUrl);
  const rest = createRestClient({ ...config.rest, baseUrl, observer: observeRest(metrics.registry) });
  showProcess(metrics.registry, shared);
  showHealth(() => rest.health(), metrics.registry);
  const gateway = await createGateway({
    config,
    schemaDirectory: SCHEMA_DIRECTORY,
    rest,
    log,
    redis: shared?.redis,
    metrics,
    tracing,
    ...options,
  });
  const { app } = gateway;
  const listenTextResolver = (address: string) => `GraphQL listens at ${address}`;
  const url = await app.listen({ host: config.host, port: config.port, listenTextResolver });
  loadCompiler().catch((error) => log.error({ err: error }, 'operations cannot be compiled'));

  return {
    url,
    /** The metrics in Prometheus' text format. */
    metrics: () => metrics.registry.metrics(),
    status: () => ({
      reasons: gateway.hasKeys() ? [] : ['no-keys'],
      conditions: [
        ...(rest.health().breaker === 'open' ? ['breaker-open'] : []),
        ...(gateway.isUnderPressure() ? ['overloaded'] : []),
      ],
    }),
    /** Finishes the operations in flight. When `forced` aborts, it closes their connections at once. */
    async stop(forced: AbortSignal): Promise<void> {
      const closeNow = () => app.server.closeAllConnections();
      forced.addEventListener('abort', closeNow, { once: true });
      if (forced.aborted) closeNow();
      await app.close();
      await rest.close();
      await tracing?.stop(forced);
    },
  };
}
