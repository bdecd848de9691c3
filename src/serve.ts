/* The composition of one gateway: every part is created here and nowhere else, about in the order of a request. */
import { once } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import { createAuthentication } from './access/authenticate.ts';
import type { TokenReason } from './access/jwt.ts';
import type { Config } from './config/config.ts';
import { type ApolloOptions, startApollo } from './engine/apollo.ts';
import { createCompiler } from './engine/compiler.ts';
import { findDeprecatedInputs } from './engine/deprecated.ts';
import { createDocumentStore } from './engine/documents.ts';
import { createOperationLimiter } from './engine/operation-limits.ts';
import { createPrepareText } from './engine/prepare-text.ts';
import { createIdempotency } from './graphql/idempotency.ts';
import { createMemoryStore, createRedisStore } from './graphql/idempotency-store.ts';
import { createFriendHash } from './graphql/loaders/connection.ts';
import { createSchema } from './graphql/schema.ts';
import { createApp } from './http/app.ts';
import { routeGraphQL } from './http/graphql-route.ts';
import { createSlots, watchPressure } from './http/overload.ts';
import { servePages } from './http/pages.ts';
import { createRateLimits, type RateLimits } from './limits/rate-limits.ts';
import { createPersistedQueryStore } from './persisted-operations/automatic.ts';
import { createPersistedOperations } from './persisted-operations/find-text.ts';
import type { OptionalRedis } from './redis-timeout.ts';
import { createRestClient, type RestClient } from './rest/client.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { createPseudonyms, reportTo } from './telemetry/observe.ts';

/** `schema/` is next to `src/` and `dist/`. This module, or the bundle that contains it, is at the top of one of them. */
export const SCHEMA_DIRECTORY = new URL('../schema/', import.meta.url);

/** How many connections may wait to be accepted, as in listen(2). The client of one beyond these tries again after 1 s, then 3 s. */
const BACKLOG = 4_096;

export interface ServeOptions {
  /** Aborts when the process drains; responses then close their connections. */
  draining?: AbortSignal | undefined;
  /** The delay of the event loop above which requests are refused, in milliseconds. Default 1,000; 0 for no limit, in tests. */
  maxEventLoopDelayMs?: number;
  /** How often an operation is requested before it is compiled. Default 50; for tests. */
  compileAfter?: number;
  /** The state that replicas share; absent without Redis. `serve` does not close it. */
  shared?: (OptionalRedis & { withLongTimeout: OptionalRedis['withTimeout']; isUp(): boolean }) | undefined;
  /** How many lines of the log were lost, for a metric. */
  droppedLines?(): number;
}

/**
 * One gateway in this process, in front of the REST service at `baseUrl`. It listens. Throws a ConfigError for a manifest of
 * persisted operations that cannot be used.
 */
export async function serve(config: Config, baseUrl: string, log: FastifyBaseLogger, options: ServeOptions = {}) {
  const { production, MAX_UPSTREAM_CALLS: maxUpstreamCalls } = config;
  const { shared, droppedLines = () => 0 } = options;
  const nameOf = createPseudonyms(config.logKey);
  const rates = createRateLimits(config.rates, shared);
  const onFailure = (reason: TokenReason) => metrics.authenticationFailed(reason);
  const tokens = { rates, log, nameOf, development: !production, onFailure, proxy: config.rest.proxy };
  const authentication = createAuthentication(config.auth, tokens);
  const { keySetAge } = authentication;
  const pressure = watchPressure(options.maxEventLoopDelayMs);
  const slots = createSlots(config.concurrent, pressure.isUnderPressure);
  const gauges = { health: () => rest.health(), redis: shared, active: slots.active, keySetAge, droppedLines };
  const metrics: Metrics = createMetrics(gauges);
  const rest: RestClient = createRestClient({ ...config.rest, baseUrl, observer: metrics.rest });
  const tracing =
    config.traces && (await import('./telemetry/tracing.ts')).startTracing(config.traces, config.rest.proxy, log);

  const { schema, rules } = createSchema(SCHEMA_DIRECTORY, config.FEDERATION, config.PLAYER_IDS === 'personal');
  const limiter = createOperationLimiter(schema, config);
  limiter.wrapLists(); // Around audit, access rules and rules of input.
  const parts = { schema, limiter, rates, metrics, log };
  const { apollo, prepareText, listedOperations } = await startEngine(config, parts, options);

  const eventKeys = shared ? createRedisStore(shared.redis, shared.withLongTimeout) : createMemoryStore();
  const idempotency = createIdempotency(eventKeys, config.idempotencyKeys);
  const calls = { rest, rates, maxUpstreamCalls, onBatch: metrics.batch, report: reportTo(log) };
  const sharedContext = { ...calls, rules, idempotency, hashFriend: createFriendHash(config.logKey) };
  const observation = { metrics, log, tracing, nameOf, config };
  const app = await createApp(config, observation, options.draining);
  app.addHook('onClose', () => apollo.stop().finally(pressure.stop));
  const sendPage = production ? undefined : servePages(app, schema, SCHEMA_DIRECTORY, config.auth);
  routeGraphQL(app, { config, authentication, slots, rates, sharedContext, prepareText, apollo, sendPage });
  // For `localhost` Fastify would open two servers, and at the end wait for the requests of one of them.
  const host = config.HOST === 'localhost' ? '127.0.0.1' : config.HOST;
  const listenTextResolver = (at: string) => `GraphQL listens at ${at}`;
  const listenOptions = { host, port: config.PORT, backlog: BACKLOG, listenTextResolver };
  const url = await app.listen(listenOptions).catch(async (error: unknown) => {
    await app.close();
    throw error;
  });

  return {
    url,
    /** How many operations the manifest lists. */
    operations: listedOperations,
    metrics: () => metrics.registry.metrics(),
    status: () => ({
      reasons: authentication.isReady() ? [] : ['no-keys'],
      conditions: [
        ...[...rest.health().breakers].flatMap(([name, state]) => (state === 'closed' ? [] : [`breaker-open ${name}`])),
        ...(pressure.isUnderPressure() ? ['overloaded'] : []),
      ],
    }),
    /** Finishes the operations in flight. When `forced` aborts, it ends their REST calls, 500 ms later the connections. */
    async stop(forced: AbortSignal): Promise<void> {
      const closeNow = () => rest.close().finally(() => setTimeout(() => app.server.closeAllConnections(), 500));
      forced.addEventListener('abort', closeNow, { once: true });
      if (forced.aborted) void closeNow();
      await app.close();
      await Promise.race([slots.idle().then(() => eventKeys.finish?.()), forced.aborted || once(forced, 'abort')]);
      await rest.close();
      await tracing?.stop(forced);
    },
  };
}

/** What executes documents of the schema. */
async function startEngine(
  config: Config,
  parts: Pick<ApolloOptions, 'schema' | 'limiter' | 'log'> & { rates: RateLimits; metrics: Metrics },
  { shared, compileAfter = 50 }: ServeOptions,
) {
  const { production, MAX_TOKENS: maxTokens } = config;
  const { schema, limiter, metrics, log } = parts;
  // In production errors have no locations: each would read the document from its beginning, 54 ms for 100 errors.
  const parseOptions = { maxTokens, noLocation: production };
  const persistedQueries = createPersistedQueryStore(shared);
  const persisted = createPersistedOperations(config, { schema, maxTokens }, persistedQueries, log, metrics);
  const documents = createDocumentStore(schema, persisted.manifestOf);
  const compiler = createCompiler({ schema, limiter, compileAfter, log });
  const common = { ...parts, documents, parseOptions, deprecatedInputs: findDeprecatedInputs(schema) };
  return {
    apollo: await startApollo({ ...common, compiler, persistedQueries, production, report: reportTo(log) }),
    prepareText: createPrepareText({ ...common, persisted }),
    listedOperations: persisted.count,
  };
}
