import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Redis } from 'ioredis';
import { createAuthentication } from '../access/authenticate.ts';
import { tokenHint } from '../config/auth.ts';
import type { Config } from '../config/config.ts';
import { Idempotency } from '../graphql/idempotency.ts';
import { createMemoryKeys, createSharedKeys } from '../graphql/idempotency-store.ts';
import { Compiler } from '../graphql/jit.ts';
import { Operations } from '../graphql/operations.ts';
import { createSchema } from '../graphql/schema.ts';
import { startApollo } from '../graphql/server.ts';
import { OperationLimiter } from '../limits/operation-limits.ts';
import { RateLimits } from '../limits/rate-limits.ts';
import { createAdmission } from '../persisted-operations/admission.ts';
import { createPersistedQueryStore } from '../persisted-operations/automatic.ts';
import type { RestClient } from '../rest/client.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { observeOperations, reportTo } from '../telemetry/observe.ts';
import { createPseudonyms } from '../telemetry/pseudonym.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { GRAPHQL_PATH, type GraphQLRoute, routeGraphQL } from './graphql-route.ts';
import { addHooks } from './hooks.ts';
import { type Example, readExamples } from './ide/examples.ts';
import { serveGraphiQL } from './ide/graphiql.ts';
import { admitHostedSandbox, sandbox } from './ide/sandbox.ts';
import { serveSdl, serveStartPage } from './ide/start-page.ts';
import { createApp } from './server.ts';
import { Slots } from './slots.ts';

export interface GatewayOptions {
  config: Config;
  /** Where the SDL and the example operations are. */
  schemaDirectory: URL;
  rest: RestClient;
  log: FastifyBaseLogger;
  /** The state that replicas share; undefined without Redis. */
  redis: Redis | undefined;
  metrics: Metrics;
  tracing: Tracing | undefined;
  /** Aborts when the process drains; responses then close their connections. */
  draining?: AbortSignal | undefined;
  /** How often an operation is requested before it is compiled. Default 50; for tests. */
  compileAfter?: number;
  /** The delay of the event loop above which requests are refused, in milliseconds. Default 1,000; for tests. */
  maxEventLoopDelayMs?: number;
}

export interface Gateway {
  /** Not listening yet. */
  app: FastifyInstance;
  /** Whether tokens can be verified. */
  hasKeys(): boolean;
  /** Whether requests are refused because the event loop is late or the heap is nearly full. */
  isUnderPressure(): boolean;
}

/** The gateway as an application: it does not listen and reads no environment. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, rest, log, redis, metrics, tracing } = options;
  const { production, limits, slowOperationMs } = config;
  const { schema, rules } = await loadSchema(options);
  const examples = production ? [] : readExamples(options.schemaDirectory);
  const rates = new RateLimits(config.rates, redis);
  const nameOf = createPseudonyms(config.rest.apiKey);
  const authentication = createAuthentication(config.auth, {
    limit: rates,
    warn: (message) => log.warn(message),
    nameOf,
    development: !production,
    onFailure: metrics.authenticationFailed,
  });
  const execution = await createExecution(options, schema, examples, rates);

  const app = createApp(config, log);
  app.addHook('onClose', () => execution.apollo.stop());
  observeOperations(app, GRAPHQL_PATH, { metrics, log, tracing, nameOf, slowOperationMs });
  await addHooks(app, { config, draining: options.draining });
  const slots = new Slots(config.maxConcurrentOperations);
  metrics.showConcurrency(slots);
  const isUnderPressure = await routeGraphQL(app, {
    ...execution,
    production,
    authentication,
    rates,
    slots,
    maxEventLoopDelayMs: options.maxEventLoopDelayMs,
    operationTimeoutMs: config.operationTimeoutMs,
    context: {
      rest,
      rules,
      rates,
      idempotency: new Idempotency(redis ? createSharedKeys(redis) : createMemoryKeys(), rates),
      maxUpstreamCalls: limits.upstreamCalls,
      onBatch: metrics.batch,
    },
  });
  if (!production) servePages(app, config, schema, examples);
  app.addHook('onReady', async () => void compileListed(execution));
  return { app, hasKeys: authentication.isReady, isUnderPressure };
}

type Execution = Pick<GraphQLRoute, 'operations' | 'admission' | 'report' | 'apollo'>;

/** What finds, measures and executes operations. */
async function createExecution(
  { config, log, redis, metrics, compileAfter = 50 }: GatewayOptions,
  schema: GraphQLSchema,
  examples: Example[],
  rates: RateLimits,
): Promise<Execution> {
  const { production, limits } = config;
  const { tokens: maxTokens } = limits;
  const limiter = new OperationLimiter(schema, limits);
  const compiler = new Compiler(schema);
  // In production errors have no locations: each would read the document from its beginning, 54 ms for 100 errors.
  const parseOptions = { maxTokens, noLocation: production };
  const operations = new Operations({ schema, limiter, compiler, parseOptions, compileAfter });
  const persistedQueries = createPersistedQueryStore(redis);
  const check = { schema, maxTokens };
  const admission = createAdmission(config.persistedOperations, check, persistedQueries, log, metrics);
  const report = reportTo(log);
  const landingPage = production ? undefined : sandbox(examples);
  const apollo = await startApollo({
    schema,
    operations,
    compiler,
    limiter,
    rates,
    persistedQueries,
    parseOptions,
    production,
    landingPage,
    report,
    log,
  });
  return { operations, admission, report, apollo };
}

/** The pages for developers. */
function servePages(app: FastifyInstance, config: Config, schema: GraphQLSchema, examples: Example[]): void {
  admitHostedSandbox(app);
  const hint = tokenHint(config.auth);
  serveStartPage(app, hint);
  serveGraphiQL(app, examples, hint);
  serveSdl(app, schema);
}

/** The packages of federation are loaded only where they are needed. */
async function loadSchema({ config, schemaDirectory }: GatewayOptions) {
  if (!config.federation) return createSchema(schemaDirectory);
  const { createSubgraph } = await import('../graphql/subgraph.ts');
  return createSubgraph(schemaDirectory);
}

/** Parses and compiles the operations of the manifest, one in each turn of the event loop, so that requests do not wait. */
async function compileListed({ admission, operations }: Execution): Promise<void> {
  for (const text of admission.listed()) {
    await new Promise((resolve) => setImmediate(resolve));
    operations.compileText(text);
  }
}
