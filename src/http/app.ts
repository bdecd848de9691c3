import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
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
import { type NewOperationLimits, RateLimits } from '../limits/rate-limits.ts';
import { createAdmission } from '../persisted-operations/admission.ts';
import { createPersistedQueryStore } from '../persisted-operations/automatic.ts';
import type { SharedState } from '../process/redis.ts';
import type { RestClient } from '../rest/client.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createObservation, reportTo } from '../telemetry/observe.ts';
import { createPseudonyms } from '../telemetry/pseudonym.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { BodyReader } from './body.ts';
import { createApp } from './connections.ts';
import { earlyErrors } from './errors.ts';
import { type GraphQLRoute, routeGraphQL } from './graphql-route.ts';
import { addHooks } from './hooks.ts';
import { type Example, readExamples } from './ide/examples.ts';
import { serveGraphiQL } from './ide/graphiql.ts';
import { admitHostedSandbox, sandbox } from './ide/sandbox.ts';
import { serveSdl, serveStartPage } from './ide/start-page.ts';

export interface GatewayOptions {
  config: Config;
  /** Where the SDL and the example operations are. */
  schemaDirectory: URL;
  rest: RestClient;
  log: FastifyBaseLogger;
  /** The state that replicas share; undefined without Redis. */
  shared: SharedState | undefined;
  metrics: Metrics;
  tracing: Tracing | undefined;
  /** Aborts when the process drains; responses then close their connections. */
  draining?: AbortSignal | undefined;
  /** How often an operation is requested before it is compiled. Default 50; for tests. */
  compileAfter?: number;
  /** How many new operations a caller may send. Default 10 a second, burst 50; servers 20 times that. */
  newOperations?: NewOperationLimits;
}

export interface Gateway {
  /** Not listening yet. */
  app: FastifyInstance;
  /** Whether tokens can be verified. */
  hasKeys(): boolean;
}

/** The gateway as an application: it does not listen and reads no environment. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, rest, log, shared, metrics, tracing } = options;
  const { production, limits, workers, slowOperationMs } = config;
  const { schema, rules } = await loadSchema(options);
  const examples = production ? [] : readExamples(options.schemaDirectory);
  const rates = new RateLimits({ rates: config.rates, workers, shared, newOperations: options.newOperations });
  const nameOf = createPseudonyms(config.rest.apiKey);
  const authentication = createAuthentication(config.auth, {
    anonymousTypename: config.anonymousTypename,
    limit: rates,
    warn: (message) => log.warn(message),
    nameOf,
    development: !production,
    onFailure: metrics.authenticationFailed,
  });
  const execution = await createExecution(options, schema, examples);

  const app = createApp(config, log, earlyErrors);
  app.addHook('onClose', () => execution.apollo.stop());
  const observation = createObservation({ metrics, log, tracing, nameOf, slowOperationMs });
  const concurrency = await addHooks(app, { config, observation, draining: options.draining });
  metrics.showConcurrency(concurrency);
  routeGraphQL(app, {
    ...execution,
    production,
    schema,
    authentication,
    rates,
    bodies: new BodyReader(),
    maxBodyBytes: limits.bodyBytes,
    concurrency,
    observation,
    operationTimeoutMs: config.operationTimeoutMs,
    context: {
      rest,
      rules,
      rates,
      idempotency: createIdempotency(shared, workers),
      maxUpstreamCalls: limits.upstreamCalls,
      onBatch: metrics.batch,
    },
  });
  if (!production) servePages(app, config, schema, examples);
  app.addHook('onReady', async () => void compileListed(execution));
  return { app, hasKeys: authentication.isReady };
}

type Execution = Pick<GraphQLRoute, 'limiter' | 'operations' | 'admission' | 'report' | 'apollo'>;

/** What finds, measures and executes operations. */
async function createExecution(
  { config, log, shared, metrics, compileAfter = 50 }: GatewayOptions,
  schema: GraphQLSchema,
  examples: Example[],
): Promise<Execution> {
  const { production, limits } = config;
  const { tokens: maxTokens } = limits;
  const limiter = new OperationLimiter({ schema, limits, openIntrospection: !production });
  const operations = new Operations({ schema, limiter, compiler: new Compiler(schema), maxTokens, compileAfter });
  const persistedQueries = createPersistedQueryStore(shared);
  const check = { schema, maxTokens };
  const admission = createAdmission(config.persistedOperations, check, persistedQueries, log, metrics);
  const report = reportTo(log);
  const landingPage = production ? undefined : sandbox(examples);
  const apollo = await startApollo({
    schema,
    operations,
    persistedQueries,
    maxTokens,
    production,
    landingPage,
    report,
    log,
  });
  return { limiter, operations, admission, report, apollo };
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

/** Keys in the memory of one of several workers would not be known to the others. */
function createIdempotency(shared: SharedState | undefined, workers: number): Idempotency {
  if (shared) return new Idempotency(createSharedKeys(shared));
  return new Idempotency(workers === 1 ? createMemoryKeys() : undefined);
}

/** Parses and compiles the operations of the manifest, one in each turn of the event loop, so that requests do not wait. */
async function compileListed({ admission, operations }: Execution): Promise<void> {
  for (const text of admission.listed()) {
    await new Promise((resolve) => setImmediate(resolve));
    operations.compileText(text);
  }
}
