import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import type { Config } from './config/config.ts';
import { loadCompiler } from './graphql/jit.ts';
import { createGateway, type GatewayOptions } from './http/app.ts';
import type { Stoppable } from './process/lifecycle.ts';
import type { StatusSource } from './process/management.ts';
import { registerProcessMetrics } from './process/metrics.ts';
import { createRestClient } from './rest/client.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { observeRest, showHealth } from './telemetry/rest-metrics.ts';

/** `schema/` is next to `src/` and `dist/`. This module, or the bundle that contains it, is at the top of one of them. */
const SCHEMA_DIRECTORY = new URL('../schema/', import.meta.url);

/** A gateway that listens. */
interface Serving extends Stoppable, StatusSource {
  url: string;
  registry: Registry;
}

export type ServeOptions = Pick<GatewayOptions, 'draining' | 'compileAfter' | 'newOperations'>;

/** One gateway in this process, in front of the REST service at `baseUrl`. */
export async function serve(
  config: Config,
  baseUrl: string,
  log: FastifyBaseLogger,
  options: ServeOptions = {},
): Promise<Serving> {
  const metrics = createMetrics();
  const tracing = config.tracing.endpoint && (await import('./telemetry/tracing.ts')).startTracing();
  const shared = config.redisUrl && (await (await import('./process/redis.ts')).connectRedis(config.redisUrl, log));
  const rest = createRestClient({ ...config.rest, baseUrl, observer: observeRest(metrics.registry) });
  registerProcessMetrics(metrics.registry, shared);
  showHealth(() => rest.health(), metrics.registry);
  const gateway = await createGateway({
    config,
    schemaDirectory: SCHEMA_DIRECTORY,
    rest,
    log,
    shared,
    metrics,
    tracing,
    ...options,
  });
  const { app } = gateway;
  const url = await app.listen({
    host: config.host,
    port: config.port,
    listenTextResolver: (address) => `GraphQL listens at ${address}`,
  });
  loadCompiler().catch((error) => log.error({ err: error }, 'operations cannot be compiled'));

  return {
    url,
    registry: metrics.registry,
    metrics: () => metrics.registry.metrics(),
    status: async () => ({
      reasons: gateway.hasKeys() ? [] : ['no-keys'],
      conditions: [
        ...(rest.health().breaker === 'open' ? (['breaker-open'] as const) : []),
        ...(app.isUnderPressure() ? (['overloaded'] as const) : []),
      ],
    }),
    async stop(forced) {
      const closeNow = () => app.server.closeAllConnections();
      forced.addEventListener('abort', closeNow, { once: true });
      if (forced.aborted) closeNow();
      await app.close();
      await rest.close();
      await shared?.close();
      await tracing?.stop(forced);
    },
  };
}
