import { ApolloServer, type ApolloServerOptions, type BaseContext } from '@apollo/server';
import {
  type CreateServerForIntegrationTestsOptions,
  defineIntegrationTestSuite,
} from '@apollo/server-integration-testsuite';
import fastify from 'fastify';
import type { Context } from '../../src/gateway/graphql/context.ts';
import type { Pipeline } from '../../src/gateway/graphql/pipeline.ts';
import { acceptJsonBodies } from '../../src/gateway/http/body.ts';
import { answerFailures } from '../../src/gateway/http/errors.ts';
import { routeGraphQL } from '../../src/gateway/http/graphql-route.ts';

/*
 * Apollo's own tests of an integration with a web framework, run against ours: the route, the reading of bodies and the
 * answers of failures. What serves them is whatever Apollo Server each test makes, so nothing is ever prepared and the
 * short way is never taken. Run by test/apollo-suite.test.ts, which knows what is excused.
 */

const nothingPrepared = { prepared: { get: () => undefined, set: () => {} } } as unknown as Pipeline;

async function createServer(
  config: ApolloServerOptions<BaseContext>,
  { context = async () => ({}) }: CreateServerForIntegrationTestsOptions = {},
) {
  const server = new ApolloServer(config);
  await server.start();
  // The suite asks at the root.
  const app = fastify({ rewriteUrl: ({ url = '/' }) => url.replace(/^\/(?=\?|$)/, '/graphql') });
  acceptJsonBodies(app);
  answerFailures(app);
  app.addHook('onSend', async (_request, _reply, payload) => withoutRequestId(payload));
  const contextOf = context as () => Promise<never>;
  routeGraphQL(app, server as unknown as ApolloServer<Context>, nothingPrepared, contextOf);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { server, url, extraCleanup: () => app.close() };
}

/** The gateway names the request in answers that never became an operation; the suite compares answers to the letter. */
function withoutRequestId(payload: unknown): unknown {
  return typeof payload === 'string' ? payload.replace(/,"extensions":\{"requestId":"[^"]+"\}(?=\}\s*$)/, '') : payload;
}

defineIntegrationTestSuite(createServer, { noIncrementalDelivery: true });
