import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import type { FastifyInstance } from 'fastify';
import { readExamples } from './examples.ts';

/**
 * The Apollo Sandbox for a browser that opens `/graphql`, with the first example in it. Its program comes from the
 * internet; operations and answers stay between the browser and this gateway. It asks for the schema once, not every
 * second as it would by default: reload the page after a change of the schema.
 */
export function sandbox(): ApolloServerPlugin {
  const [first] = readExamples();
  return ApolloServerPluginLandingPageLocalDefault({
    ...(first && { document: first.document }),
    embed: { runTelemetry: false, initialState: { pollForSchemaUpdates: false } },
  });
}

/**
 * Lets the Sandbox at studio.apollographql.com reach a gateway on the developer's own machine. A browser asks first
 * whether a page of the internet may (Private Network Access); yes to the origins that CORS lets in, and only to them.
 */
export function admitHostedSandbox(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply) => {
    const asked = request.headers['access-control-request-private-network'] === 'true';
    if (asked && reply.hasHeader('access-control-allow-origin')) {
      void reply.header('access-control-allow-private-network', 'true');
    }
  });
}
