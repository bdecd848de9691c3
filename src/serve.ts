/* The composition of one gateway: every part is created here and nowhere else. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Redis } from 'ioredis';
import { createAuthentication } from './access/authenticate.ts';
import { tokenHint } from './config/auth.ts';
import type { Config } from './config/config.ts';
import { Idempotency } from './graphql/idempotency.ts';
import { createMemoryKeys, createSharedKeys } from './graphql/idempotency-store.ts';
import { loadCompiler } from './graphql/jit.ts';
import { Operations } from './graphql/operations.ts';
import { createSchema, createSubgraph } from './graphql/schema.ts';
import { startApollo } from './graphql/server.ts';
import { createApp } from './http/app.ts';
import { routeGraphQL } from './http/graphql-route.ts';
import { serveGraphiQL } from './http/ide/graphiql.ts';
import { type Page, readExamples, sandboxPage, servePages } from './http/ide/pages.ts';
import { Slots, watchPressure } from './http/overload.ts';
import { OperationLimiter } from './limits/operation-limits.ts';
import { RateLimits } from './limits/rate-limits.ts';
import { createPersistedQueryStore } from './persisted-operations/automatic.ts';
import { createPersistedOperations } from './persisted-operations/resolve.ts';
import { createRestClient, type RestClient } from './rest/client.ts';
import { createMetrics, type Metrics, observeRest, showState } from './telemetry/metrics.ts';
import { createPseudonyms, reportTo } from './telemetry/observe.ts';
import type { Tracing } from './telemetry/tracing.ts';

/** `schema/` is next to `src/` and `dist/`. This module, or the bundle that contains it, is at the top of one of them. */
const SCHEMA_DIRECTORY = new URL('../schema/', import.meta.url);

export interface ServeOptions {
  /** Aborts when the process drains; responses then close their connections. */
  draining?: AbortSignal | undefined;
  /** How often an operation is requested before it is compiled. Default 50; for tests. */
  compileAfter?: number;
  /** The delay of the event loop above which requests are refused, in milliseconds. Default 1,000; 0 for no limit. For tests. */
  maxEventLoopDelayMs?: number;
  /** The state that replicas share; absent without Redis. The caller closes it. */
  shared?: { redis: Redis; isUp(): boolean } | undefined;
}

/** What the parts of a gateway use. */
interface Parts extends ServeOptions {
  config: Config;
  log: FastifyBaseLogger;
  rest: RestClient;
  metrics: Metrics;
  tracing: Tracing | undefined;
}

/** One gateway in this process, in front of the REST service at `baseUrl`. It listens. */
export async function serve(config: Config, baseUrl: string, log: FastifyBaseLogger, options: ServeOptions = {}) {
  const metrics = createMetrics();
  const tracing = config.tracing.endpoint && (await import('./telemetry/tracing.ts')).startTracing(baseUrl);
  const rest = createRestClient({ ...config.rest, baseUrl, observer: observeRest(metrics.registry) });
  const gateway = await createGateway({ config, log, rest, metrics, tracing, ...options });
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

/** The application, with its route. It does not listen yet. */
async function createGateway(parts: Parts) {
  const { config, log, rest, metrics, tracing, shared, draining, maxEventLoopDelayMs } = parts;
  const { production, limits, slowOperationMs } = config;
  const { schema, rules } = (config.federation ? createSubgraph : createSchema)(SCHEMA_DIRECTORY);
  const redis = shared?.redis;
  const rates = new RateLimits(config.rates, redis);
  const nameOf = createPseudonyms(config.rest.apiKey);
  const authentication = createAuthentication(config.auth, {
    limit: rates,
    warn: (message) => log.warn(message),
    nameOf,
    development: !production,
    onFailure: metrics.authenticationFailed,
  });
  const execution = await createExecution(parts, schema, rates);
  const app = await createApp(config, { metrics, log, tracing, nameOf, slowOperationMs }, draining);
  app.addHook('onClose', () => execution.apollo.stop());
  const isUnderPressure = await watchPressure(app, maxEventLoopDelayMs);
  const slots = new Slots(config.maxConcurrentOperations);
  showState(metrics.registry, { health: () => rest.health(), redis: shared, slots });
  const idempotency = new Idempotency(redis ? createSharedKeys(redis) : createMemoryKeys(), rates);
  const context = { rest, rules, rates, idempotency, maxUpstreamCalls: limits.upstreamCalls, onBatch: metrics.batch };
  const page = production ? undefined : serveIde(app, config, schema);
  routeGraphQL(app, {
    ...execution,
    ...{ config, authentication, rates, isUnderPressure, slots, context, page },
  });
  return { app, hasKeys: authentication.isReady, isUnderPressure };
}

/** What finds, measures and executes operations. */
async function createExecution(parts: Parts, schema: GraphQLSchema, rates: RateLimits) {
  const { config, log, shared, metrics, compileAfter = 50 } = parts;
  const { production, limits } = config;
  const { tokens: maxTokens } = limits;
  const limiter = new OperationLimiter(schema, limits);
  // In production errors have no locations: each would read the document from its beginning, 54 ms for 100 errors.
  const parseOptions = { maxTokens, noLocation: production };
  const operations = new Operations({ schema, limiter, parseOptions, compileAfter });
  const persistedQueries = createPersistedQueryStore(shared?.redis);
  const check = { schema, maxTokens };
  const manifest = { ...config.persistedOperations, production };
  const persisted = createPersistedOperations(manifest, check, persistedQueries, log, metrics);
  const report = reportTo(log);
  const apollo = await startApollo({
    ...{ schema, operations, limiter, rates, persistedQueries, parseOptions, production, report, log },
  });
  void operations.compileListed(persisted.listed());
  return { operations, persisted, report, apollo };
}

/** Serves what developers open in a browser. Returns the page at the path of GraphQL. */
function serveIde(app: FastifyInstance, { auth }: Config, schema: GraphQLSchema): Page {
  const examples = readExamples(SCHEMA_DIRECTORY);
  const hint = tokenHint(auth)?.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  servePages(app, schema, hint);
  serveGraphiQL(app, examples, hint);
  return sandboxPage(examples);
}
