import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { GRAPHQL_PATH } from '../graphql-route.ts';
import type { Example } from './examples.ts';

/** Where GraphiQL is. */
export const GRAPHIQL_PATH = '/graphiql';

/**
 * Serves a GraphiQL that works offline. All of its code is inline in one page, and the page's policy lets the browser load
 * nothing else. The page is 9 MB and is rendered at the first request.
 * @param hint How to get a token; undefined for an open gateway.
 */
export function serveGraphiQL(app: FastifyInstance, examples: readonly Example[], hint: string | undefined): void {
  let page: Promise<Page> | undefined;
  app.get(GRAPHIQL_PATH, async (_request, reply) => {
    page ??= renderPage(examples, hint);
    const { html, policy } = await page;
    return reply.type('text/html; charset=utf-8').header('content-security-policy', policy).send(html);
  });
}

interface Page {
  html: Buffer;
  /** Its Content-Security-Policy. */
  policy: string;
}

const MISSING_TOKEN =
  'This gateway needs a token to show the schema and data. Write it after "Bearer" in the Headers pane of any tab; all tabs then use it. Then press "Re-fetch GraphQL schema" at the bottom left.';

/** What the Headers pane of each tab begins with. */
const HEADERS = JSON.stringify({ authorization: 'Bearer ' }, undefined, 2);

async function renderPage(examples: readonly Example[], hint: string | undefined): Promise<Page> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const rendered = renderGraphiQL({
    title: 'GraphiQL',
    endpoint: GRAPHQL_PATH,
    defaultTabs: examples.map(({ document, variables = null }) => ({ query: document, variables })),
    headers: HEADERS,
    // Headers contain tokens, which must not be in the browser's storage.
    shouldPersistHeaders: false,
    // Where a token is needed, the pane for it is open.
    defaultEditorToolsVisibility: hint === undefined ? 'variables' : 'headers',
  });
  const notice = hint === undefined ? '' : noticeScript(`${MISSING_TOKEN} ${hint}`);
  const html = rendered
    .replace('</style>', (tag) => `${TAB_STYLE}${tag}`)
    .replace('<script>', (tag) => `${tag}${notice}`);
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

/**
 * GraphiQL 5.24 places the tabs while its fonts load, and stores the distance to their final places as a `transform`. Its
 * style sheet applies the `transform` only to a focused tab. So a tab that is pressed jumps away (by 683 px with twelve
 * tabs), the button is released over something else, and the first click is lost. Without the transform, a tab that is
 * dragged still changes places with its neighbours.
 */
const TAB_STYLE = '.graphiql-tab { transform: none !important }';

/**
 * A script that runs before GraphiQL. Without a valid token, GraphiQL says "Error fetching schema" and no more. As long as
 * the gateway answers 401, the script shows `message` above it. Each tab has headers of its own; one whose token is empty
 * uses the last token that was accepted, so that it is entered once. The token is not stored.
 */
function noticeScript(message: string): string {
  return NOTICE.replace('MESSAGE', () => JSON.stringify(message).replaceAll('<', '\\u003c'));
}

const NOTICE = `
{
  const notice = document.createElement('p');
  notice.id = 'notice';
  notice.role = 'alert';
  notice.hidden = true;
  notice.textContent = MESSAGE;
  document.body.prepend(notice);
  const style = document.createElement('style');
  style.textContent =
    'body { display: flex; flex-direction: column; height: 100vh }' +
    '#notice { margin: 0; padding: 8px 16px; background: #fff3cd; color: #3d2f00; font: 15px/1.5 sans-serif }' +
    '#root { flex: 1; min-height: 0 }' +
    '#root .graphiql-container { height: 100% }';
  document.head.append(style);
  const send = window.fetch;
  let accepted = 'Bearer';
  window.fetch = async (url, options) => {
    const headers = new Headers(options?.headers);
    if (headers.get('authorization') === 'Bearer') headers.set('authorization', accepted);
    const response = await send(url, { ...options, headers });
    notice.hidden = response.status !== 401;
    if (response.ok) accepted = headers.get('authorization') ?? accepted;
    return response;
  };
}
`;
