import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import type { FastifyInstance } from 'fastify';
import type { Example } from './examples.ts';
import { GRAPHIQL_PATH } from './graphiql.ts';

/** What Apollo's page says when its program cannot be loaded. */
const OFFLINE = 'it appears that you might be offline.';

/**
 * The Apollo Sandbox for a browser that opens `/graphql`, with the first example in it. Its program comes from the
 * internet; operations and answers stay between the browser and this gateway. It asks for the schema once, not every
 * second as it would by default: reload the page after a change of the schema.
 */
export function sandbox([first]: readonly Example[]): ApolloServerPlugin {
  const plugin = ApolloServerPluginLandingPageLocalDefault({
    ...(first && { document: first.document }),
    embed: { runTelemetry: false, initialState: { pollForSchemaUpdates: false } },
  });
  return {
    async serverWillStart(service) {
      const page = await (await plugin.serverWillStart?.(service))?.renderLandingPage?.();
      if (!page) throw new Error('Apollo Server has no landing page any more.');
      const html = async () => {
        const text = typeof page.html === 'string' ? page.html : await page.html();
        return text.replace(OFFLINE, `${OFFLINE} GraphiQL at ${GRAPHIQL_PATH} works without the internet.`);
      };
      return { renderLandingPage: async () => ({ html }) };
    },
  };
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
