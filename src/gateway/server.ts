import { ApolloServer } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import fastifyCors from '@fastify/cors';
import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import type { RestClient } from '../rest/client.ts';
import type { Authenticate } from './access/authenticate.ts';
import { ANONYMOUS_CALLER } from './access/caller.ts';
import { asksForTypenameAlone } from './access/health-check.ts';
import { refuseAmbiguity } from './ambiguity.ts';
import { acceptJsonBodies } from './body.ts';
import { type Context, createContext } from './context.ts';
import { formatError } from './errors.ts';
import { answerFailures } from './failures.ts';
import { type ContextOf, routeGraphQL } from './http.ts';
import { repliesPlugin } from './limits/replies.ts';
import { pipeline } from './pipeline.ts';
import { requestIdOf } from './request-id.ts';
import { createSchema } from './schema.ts';

export interface GatewayOptions {
  config: Config;
  rest: RestClient;
  authenticate: Authenticate;
  log: FastifyBaseLogger;
}

/** The gateway as an application: it never listens and reads no environment. */
export async function createGateway({ config, rest, authenticate, log }: GatewayOptions): Promise<FastifyInstance> {
  const { schema, rules } = createSchema();
  const apollo = new ApolloServer<Context>({
    schema,
    formatError,
    introspection: true,
    hideSchemaDetailsFromClientErrors: config.production,
    includeStacktraceInErrorResponses: false,
    parseOptions: { maxTokens: config.limits.tokens },
    stopOnTerminationSignals: false,
    logger: log,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      config.production ? ApolloServerPluginLandingPageDisabled() : ApolloServerPluginLandingPageLocalDefault(),
      pipeline({
        limits: { limits: config.limits, openIntrospection: !config.production, publishCost: !config.production },
        report: (error, requestId) => log.error({ err: error, requestId }, 'field failed'),
      }),
      repliesPlugin({ hideSuggestions: config.production }),
    ],
  });
  await apollo.start();

  const app = fastify({
    loggerInstance: log,
    logController: new fastify.LogController({ disableRequestLogging: true }),
    bodyLimit: config.limits.bodyBytes,
    trustProxy: config.trustProxy,
    genReqId: requestIdOf,
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers({
      'x-request-id': request.id,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  });
  refuseAmbiguity(app);
  app.addHook('onClose', () => apollo.stop());
  await app.register(fastifyCors, { origin: originsOf(config), credentials: false, maxAge: 600 });
  acceptJsonBodies(app);
  answerFailures(app);

  const shared = { rest, rules, maxUpstreamCalls: config.limits.upstreamCalls };
  const contextOf: ContextOf = async (request, signal) => {
    const { authorization } = request.headers;
    const isHealthCheck = config.anonymousTypename && authorization === undefined && asksForTypenameAlone(request);
    const caller = isHealthCheck ? ANONYMOUS_CALLER : await authenticate(authorization);
    const deadline = performance.now() + config.operationTimeoutMs;
    return createContext(shared, caller, { signal, deadline, requestId: request.id, spend: () => undefined });
  };
  routeGraphQL(app, apollo, contextOf);
  return app;
}

/** Websites that may ask. In development Apollo's hosted Sandbox may too, and whatever runs on this machine. */
function originsOf({ production, corsOrigins }: Config): (string | RegExp)[] | boolean {
  if (corsOrigins.includes('*')) return true;
  if (production) return corsOrigins.length > 0 ? corsOrigins : false;
  return [...corsOrigins, 'https://studio.apollographql.com', /^https?:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?$/];
}
