import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Example } from './examples.ts';

/** Where GraphiQL is. */
export const GRAPHIQL_PATH = '/graphiql';

/**
 * Serves a GraphiQL that works offline. All of its code is inline in one page, and the page's policy lets the browser load
 * nothing else. The page is 9 MB and is rendered at the first request.
 * @param graphqlPath The path to which GraphiQL sends operations.
 */
export function serveGraphiQL(app: FastifyInstance, graphqlPath: string, examples: readonly Example[]): void {
  let page: Promise<Page> | undefined;
  app.get(GRAPHIQL_PATH, async (_request, reply) => {
    page ??= renderPage(graphqlPath, examples);
    const { html, policy } = await page;
    return reply.type('text/html; charset=utf-8').header('content-security-policy', policy).send(html);
  });
}

interface Page {
  html: Buffer;
  /** Its Content-Security-Policy. */
  policy: string;
}

async function renderPage(endpoint: string, examples: readonly Example[]): Promise<Page> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const html = renderGraphiQL({
    title: 'GraphiQL',
    endpoint,
    defaultTabs: examples.map(({ document, variables = null }) => ({ query: document, variables })),
    // Headers contain tokens, which must not be in the browser's storage.
    shouldPersistHeaders: false,
  });
  return { html: Buffer.from(html), policy: policyOf(html) };
}

/** Allows only the page's own script, and requests only to this gateway. */
function policyOf(html: string): string {
  const script = html.slice(html.indexOf('<script>') + '<script>'.length, html.lastIndexOf('</script>'));
  return [
    "default-src 'none'",
    `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
    // The editor runs its language services in blob workers and adds inline styles.
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    'font-src data:',
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
