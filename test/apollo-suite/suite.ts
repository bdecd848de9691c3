import { ApolloServer, type ApolloServerOptions, type BaseContext } from '@apollo/server';
import {
  type CreateServerForIntegrationTestsOptions,
  defineIntegrationTestSuite,
} from '@apollo/server-integration-testsuite';
import fastify from 'fastify';
import { OPEN_CALLER } from '../../src/access/caller.ts';
import { BodyReader, leaveBodiesUnread } from '../../src/http/body.ts';
import { answerErrors } from '../../src/http/errors.ts';
import { type GraphQLRoute, routeGraphQL } from '../../src/http/graphql-route.ts';
import { Semaphore } from '../../src/rest/semaphore.ts';
import { createOperationRecord } from '../../src/telemetry/observe.ts';

/*
 * Apollo's own tests of an integration with a web framework, run against ours: the route, the reading of bodies and the
 * answers to errors. Each test makes an Apollo Server of its own, so no operation is known and the fast path is never
 * taken. Run by test/apollo-suite.long.test.ts, which knows what is excused.
 */

async function createServer(
  config: ApolloServerOptions<BaseContext>,
  { context = async () => ({}) }: CreateServerForIntegrationTestsOptions = {},
) {
  const server = new ApolloServer(config);
  await server.start();
  // The suite asks at the root.
  const app = fastify({ rewriteUrl: ({ url = '/' }) => url.replace(/^\/(?=\?|$)/, '/graphql') });
  leaveBodiesUnread(app);
  answerErrors(app);
  app.addHook('onSend', async (_request, _reply, payload) => withoutRequestId(payload));
  const executeHTTPGraphQLRequest: ApolloServer['executeHTTPGraphQLRequest'] = ({ httpGraphQLRequest }) =>
    server.executeHTTPGraphQLRequest({ httpGraphQLRequest, context: context as () => Promise<BaseContext> });
  const route = {
    authentication: { authenticate: async () => OPEN_CALLER, refuse: () => Promise.reject(new Error('Not used.')) },
    rates: { refuseIfEmpty() {}, chargeBody() {}, charge() {}, settle() {} },
    bodies: new BodyReader(),
    maxBodyBytes: 1_000_000,
    admission: { resolve: async () => ({ text: undefined, trusted: false, textOfId: undefined }) },
    concurrency: new Semaphore({ limit: 1_000, maxWaiting: 0, maxWaitMs: 0 }),
    observation: { begin: createOperationRecord },
    operationTimeoutMs: 60_000,
    context: {},
    apollo: { executeHTTPGraphQLRequest },
    production: false,
  };
  routeGraphQL(app, route as unknown as GraphQLRoute);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { server, url, extraCleanup: () => app.close() };
}

/** The gateway names the request in answers that never became an operation; the suite compares answers to the letter. */
function withoutRequestId(payload: unknown): unknown {
  return typeof payload === 'string' ? payload.replace(/,"extensions":\{"requestId":"[^"]+"\}(?=\}\s*$)/, '') : payload;
}

defineIntegrationTestSuite(createServer, { noIncrementalDelivery: true });
