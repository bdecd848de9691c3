import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import type { FastifyInstance } from 'fastify';
import type { Example } from './examples.ts';
import { GRAPHIQL_PATH } from './graphiql.ts';

/** Apollo's page, where it begins and where it starts the Sandbox. */
const BEGINNING = '<head>';
const START = 'new window.EmbeddedSandbox(';

/** How long the browser may take to load the Sandbox, in milliseconds: a firewall can leave it without any answer. */
const LOADING_MS = 5_000;

/**
 * The Apollo Sandbox for a browser that opens `/graphql`, with the first example. Its script is loaded from the internet;
 * operations and responses are exchanged only between the browser and this gateway. It requests the schema once, not every
 * second as by default: reload the page after a change of the schema. A browser that cannot load the script goes to GraphiQL.
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
        return withFallback(text);
      };
      return { renderLandingPage: async () => ({ html }) };
    },
  };
}

function withFallback(page: string): string {
  const nonce = /nonce="(\w+)"/.exec(page)?.[1];
  if (nonce === undefined || !page.includes(START)) throw new Error("Apollo's landing page has another form now.");
  // Before anything is loaded: a style sheet that does not arrive delays the scripts after it.
  const fallback = `<script nonce="${nonce}">
  const fallback = () => window.EmbeddedSandbox || location.replace('${GRAPHIQL_PATH}');
  setTimeout(fallback, ${LOADING_MS});
</script>`;
  return page.replace(BEGINNING, BEGINNING + fallback).replace(START, `fallback() && ${START}`);
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
