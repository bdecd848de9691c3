import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { GRAPHQL_PATH } from '../graphql-route.ts';
import { type Example, pageOf } from './pages.ts';

/**
 * Serves a GraphiQL that works offline: a page, and a script of 9 MB, which browsers keep: its address contains its hash.
 * @param hint How to get a token, as HTML; undefined for an open gateway.
 */
export function serveGraphiQL(app: FastifyInstance, examples: readonly Example[], hint: string | undefined): void {
  let script: Promise<string> | undefined;
  const load = () => {
    script ??= createScript(examples, hint !== undefined);
    return script;
  };
  const notice = `<p id="notice" role="alert" hidden>This gateway needs a token to show the schema and data. Write it after "Bearer" in the Headers pane of any tab; all tabs then use it. Then press "Re-fetch GraphQL schema" at the bottom left. ${hint}</p>`;
  app.get('/graphiql', async (_request, reply) => {
    const version = hash('sha256', await load()).slice(0, 16);
    const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>GraphiQL</title><link rel="icon" href="data:,">
<body>${hint === undefined ? '' : notice}<div id="root"></div><script src="/graphiql/script.js?${version}"></script></body></html>
`;
    return pageOf(html, POLICY)(reply);
  });
  app.get('/graphiql/script.js', async (_request, reply) => {
    void reply.type('text/javascript; charset=utf-8').header('cache-control', 'public, max-age=31536000, immutable');
    return await load();
  });
}

async function createScript(examples: readonly Example[], needsToken: boolean): Promise<string> {
  const graphiql = await import('@graphql-yoga/render-graphiql/graphiql');
  const { css, js, editorWorkerService, jsonWorker: json, graphqlWorker: graphql } = graphiql;
  const options = {
    endpoint: GRAPHQL_PATH,
    defaultTabs: examples.map(({ document, variables = null }) => ({ query: document, variables })),
    // What the Headers pane of each tab begins with. Tokens must not be in the browser's storage.
    headers: JSON.stringify({ authorization: 'Bearer ' }, undefined, 2),
    shouldPersistHeaders: false,
    defaultEditorToolsVisibility: needsToken ? 'headers' : 'variables',
  };
  return `${BEFORE}
  document.head.append(Object.assign(document.createElement('style'), { textContent: ${JSON.stringify(css + STYLE)} }));
  const workers = ${JSON.stringify({ editorWorkerService, json, graphql })};
  const workerOf = (label) => new Blob([workers[label]], { type: 'text/javascript' });
  self.MonacoEnvironment = { getWorkerUrl: (_id, label) => URL.createObjectURL(workerOf(label)) };
  ${js};
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), ${JSON.stringify(options)});`;
}

/** The editor runs its language services in blob workers, and adds inline styles. */
const POLICY =
  "default-src 'none'; script-src 'self'; worker-src blob:; style-src 'unsafe-inline'; font-src data:; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Tabs wrap, so that all of them can be seen. GraphiQL 5.24 stores how far a tab moved while fonts loaded as a `transform`
 * that only a focused tab has: without it, a tab that is pressed stays in place.
 */
const STYLE = `
  body { display: flex; flex-direction: column; height: 100vh } #root { flex: 1; min-height: 0 }
  #notice { margin: 0; padding: 8px 16px; background: #fff3cd; color: #3d2f00; font: 15px/1.5 sans-serif }
  .graphiql-container .graphiql-session-header { height: auto } .graphiql-tabs { flex-wrap: wrap }
  .graphiql-tab { transform: none !important } #root .graphiql-container { height: 100% }`;

/**
 * Runs before GraphiQL. A visit begins with the first tab. While the gateway answers 401, the notice is shown. Each tab has
 * headers of its own; one whose token is empty uses the last token that was accepted. The token is not stored.
 */
const BEFORE = `
  const { localStorage: stored, fetch: send } = window;
  const state = JSON.parse(stored.getItem('graphiql:tabState'));
  const [tab] = state?.tabs ?? [];
  if (tab) stored.setItem('graphiql:tabState', JSON.stringify({ ...state, activeTabIndex: 0 }));
  for (const name of tab ? ['query', 'variables'] : []) stored.setItem('graphiql:' + name, tab[name] ?? '');
  let accepted = 'Bearer';
  window.fetch = async (url, options) => {
    const headers = new Headers(options?.headers);
    if (headers.get('authorization') === 'Bearer') headers.set('authorization', accepted);
    const response = await send(url, { ...options, headers });
    document.querySelector('#notice')?.toggleAttribute('hidden', response.status !== 401);
    if (response.ok) accepted = headers.get('authorization') ?? accepted;
    return response;
  };`;
