import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import type { FastifyInstance } from 'fastify';
import type { Example } from './examples.ts';
import { GRAPHIQL_PATH } from './graphiql.ts';

/** The message of Apollo's page when its script cannot be loaded. */
const OFFLINE = 'it appears that you might be offline.';

/**
 * The Apollo Sandbox for a browser that opens `/graphql`, with the first example. Its script is loaded from the internet;
 * operations and responses are exchanged only between the browser and this gateway. It requests the schema once, not every
 * second as by default: reload the page after a change of the schema.
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
 * Lets the Sandbox at studio.apollographql.com reach a gateway on the developer's machine. For a page from the internet, a
 * browser sends a preflight first (Private Network Access). Only the origins that CORS allows are allowed here.
 */
export function admitHostedSandbox(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply) => {
    const asked = request.headers['access-control-request-private-network'] === 'true';
    if (asked && reply.hasHeader('access-control-allow-origin')) {
      void reply.header('access-control-allow-private-network', 'true');
    }
  });
}
