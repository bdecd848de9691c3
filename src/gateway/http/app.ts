import { ApolloServer } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import fastifyCompress from '@fastify/compress';
import fastifyCors from '@fastify/cors';
import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { SharedState } from '../../process/redis.ts';
import { withoutSchemas } from '../../process/without-schemas.ts';
import { stage } from '../../rest/batch-per-tick.ts';
import type { RestClient } from '../../rest/client.ts';
import { after } from '../../rest/maybe.ts';
import type { Authenticate } from '../access/authenticate.ts';
import { ANONYMOUS_CALLER, type Caller } from '../access/caller.ts';
import { asksForTypenameAlone } from '../access/health-check.ts';
import { type Context, createContext } from '../graphql/context.ts';
import { formatError } from '../graphql/errors.ts';
import { createPipeline } from '../graphql/pipeline.ts';
import { createSchema } from '../graphql/schema.ts';
import { createRateLimits } from '../limits/rate-limits.ts';
import type { Metrics } from '../observe/metrics.ts';
import { observeOperation, observeOperations } from '../observe/observe.ts';
import { reportTo } from '../observe/operation-log.ts';
import type { Tracing } from '../observe/trace.ts';
import { createAdmission } from '../persisted-operations/admission.ts';
import { createPersistedQueryStore } from '../persisted-operations/persisted-queries.ts';
import { acceptJsonBodies } from './body.ts';
import { keepConnections, serverOptions } from './connections.ts';
import { answerFailures, earlyFailures } from './errors.ts';
import { type ContextOf, routeGraphQL } from './graphql-route.ts';
import { refuseAmbiguity } from './headers.ts';
import { readExamples } from './ide/examples.ts';
import { serveGraphiQL } from './ide/graphiql.ts';
import { admitHostedSandbox, sandbox } from './ide/sandbox.ts';
import { refuseOverload } from './overload.ts';
import { refuseForeignHosts } from './own-host.ts';
import { requestIdOf } from './request-id.ts';

/** Answers are for one caller at one moment, and what they say they are. */
const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Answers smaller than this fit a packet or two as they are; larger ones are compressed for clients that take gzip. */
const COMPRESS_FROM_BYTES = 2_048;

/** Where operations go. */
const GRAPHQL_PATH = '/graphql';

export interface GatewayOptions {
  config: Config;
  /** Where the SDL and the example operations are. */
  schemaDirectory: URL;
  rest: RestClient;
  authenticate: Authenticate;
  log: FastifyBaseLogger;
  /** What replicas share; without it this gateway is on its own. */
  shared?: SharedState | undefined;
  metrics: Metrics;
  tracing?: Tracing | undefined;
  /** Aborts when clients should go elsewhere: answers then close their connections. */
  draining?: AbortSignal | undefined;
}

/** The gateway as an application: it never listens and reads no environment. */
export async function createGateway(options: GatewayOptions): Promise<FastifyInstance> {
  const { config, rest, authenticate, log, shared, metrics, tracing } = options;
  const { schema, rules } = createSchema(options.schemaDirectory);
  const examples = config.production ? [] : readExamples(options.schemaDirectory);
  const admit = createAdmission(config.persistedOperations, { schema, maxTokens: config.limits.tokens }, log);
  const rates = createRateLimits({ rates: config.rates, workers: config.workers, shared });
  const pipeline = createPipeline({
    schema,
    limits: { limits: config.limits, openIntrospection: !config.production, publishCost: !config.production },
    report: reportTo(log),
    development: !config.production,
  });
  const apollo = new ApolloServer<Context>({
    schema,
    formatError,
    introspection: true,
    hideSchemaDetailsFromClientErrors: config.production,
    includeStacktraceInErrorResponses: false,
    parseOptions: { maxTokens: config.limits.tokens },
    persistedQueries: { cache: createPersistedQueryStore(shared) },
    stopOnTerminationSignals: false,
    logger: log,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      config.production ? ApolloServerPluginLandingPageDisabled() : sandbox(examples),
      pipeline.plugin,
    ],
  });
  await apollo.start();

  const app = fastify({
    loggerInstance: log,
    // A logger for each request would cost more than its one line; what is logged names the request's id itself.
    childLoggerFactory: (logger) => logger,
    logController: new fastify.LogController({ disableRequestLogging: true }),
    schemaController: withoutSchemas,
    bodyLimit: config.limits.bodyBytes,
    trustProxy: config.trustProxy,
    genReqId: requestIdOf,
    ...earlyFailures,
    ...serverOptions(config.connections, config.operationTimeoutMs),
  });
  observeOperations(app, GRAPHQL_PATH, { metrics, log });
  beginTogether(app);
  keepConnections(app, config.connections, options.draining);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    void reply.headers(ALWAYS);
    done();
  });
  refuseAmbiguity(app);
  if (config.auth.kind === 'open') refuseForeignHosts(app);
  app.addHook('onClose', () => apollo.stop());
  // Before the plugins, whose routes would else fail in words of their own.
  answerFailures(app);
  const origin = originsOf(config);
  // Without websites its hook would still cost every request.
  if (origin) {
    const exposedHeaders = ['x-request-id', 'retry-after'];
    // OPTIONS that is no preflight is answered like one; the plugin would else refuse it in words of its own.
    await app.register(fastifyCors, {
      origin,
      credentials: false,
      exposedHeaders,
      maxAge: 600,
      strictPreflight: false,
    });
  }
  await app.register(fastifyCompress, {
    threshold: COMPRESS_FROM_BYTES,
    encodings: ['gzip', 'identity'],
    globalDecompression: false,
  });
  // After CORS, so that a website is told too.
  await refuseOverload(app, GRAPHQL_PATH, config.overload);
  acceptJsonBodies(app);

  const common = { rest, rules, rates, maxUpstreamCalls: config.limits.upstreamCalls, onBatch: metrics.batch };
  const contextOf: ContextOf = (request, asked, cancellation) => {
    const { authorization } = request.headers;
    const begin = (caller: Caller) => {
      const deadline = performance.now() + config.operationTimeoutMs;
      const { operation, record } = observeOperation(request, { cancellation, deadline }, caller, tracing);
      return createContext(common, caller, operation, record);
    };
    if (config.anonymousTypename && authorization === undefined && asksForTypenameAlone(request)) {
      return begin(ANONYMOUS_CALLER);
    }
    return after(
      rates.guard(request.ip, () => authenticate(authorization)),
      (caller) =>
        after(rates.countOperation(caller), () => {
          admit(asked, caller);
          return begin(caller);
        }),
    );
  };
  routeGraphQL(app, apollo, pipeline, contextOf);
  if (!config.production) {
    admitHostedSandbox(app);
    serveGraphiQL(app, GRAPHQL_PATH, examples);
  }
  return app;
}

/** Requests that arrived together begin together; one whose client has gone by then does not begin. */
function beginTogether(app: FastifyInstance): void {
  const begin = stage((start: () => void) => start(), setImmediate);
  app.addHook('onRequest', (_request, { raw }, done) =>
    begin(() => {
      if (!raw.destroyed) done();
    }),
  );
}

/** Websites that may ask. In development Apollo's hosted Sandbox may too, and whatever runs on this machine. */
function originsOf({ production, corsOrigins }: Config): (string | RegExp)[] | boolean {
  if (corsOrigins.includes('*')) return true;
  if (production) return corsOrigins.length > 0 ? corsOrigins : false;
  return [...corsOrigins, 'https://studio.apollographql.com', /^https?:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?$/];
}
