import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { GRAPHQL_PATH } from '../graphql-route.ts';
import { type Example, sendPage } from './pages.ts';

/**
 * Serves a GraphiQL that works offline: a small page, and a script of 9 MB. Its address contains a hash of it, so browsers keep
 * it.
 * @param hint How to get a token, as HTML; undefined for an open gateway.
 */
export function serveGraphiQL(app: FastifyInstance, examples: readonly Example[], hint: string | undefined): void {
  let script: Promise<string> | undefined;
  const load = () => {
    script ??= createScript(examples, hint !== undefined);
    return script;
  };
  app.get('/graphiql', async (_request, reply) => {
    const version = hash('sha256', await load()).slice(0, 16);
    const notice = hint === undefined ? '' : `<p id="notice" role="alert" hidden>${MISSING_TOKEN} ${hint}</p>`;
    const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>GraphiQL</title><link rel="icon" href="data:,">
<body>${notice}<div id="root"></div><script src="/graphiql/script.js?${version}"></script></body></html>
`;
    return sendPage(reply, { html, policy: POLICY });
  });
  app.get('/graphiql/script.js', async (_request, reply) => {
    void reply.type('text/javascript; charset=utf-8').header('cache-control', 'public, max-age=31536000, immutable');
    return await load();
  });
}

async function createScript(examples: readonly Example[], needsToken: boolean): Promise<string> {
  const { css, editorWorkerService, graphqlWorker, js, jsonWorker } = await import(
    '@graphql-yoga/render-graphiql/graphiql'
  );
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
  const workers = ${JSON.stringify({ editorWorkerService, json: jsonWorker, graphql: graphqlWorker })};
  const open = (text) => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  self.MonacoEnvironment = { getWorkerUrl: (_id, label) => open(workers[label]) };
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
  body { display: flex; flex-direction: column; height: 100vh }
  #notice { margin: 0; padding: 8px 16px; background: #fff3cd; color: #3d2f00; font: 15px/1.5 sans-serif }
  #root { flex: 1; min-height: 0 } #root .graphiql-container { height: 100% }
  .graphiql-container .graphiql-session-header { height: auto } .graphiql-tabs { flex-wrap: wrap }
  .graphiql-tab { transform: none !important }`;

const MISSING_TOKEN =
  'This gateway needs a token to show the schema and data. Write it after "Bearer" in the Headers pane of any tab; all tabs then use it. Then press "Re-fetch GraphQL schema" at the bottom left.';

/**
 * Runs before GraphiQL. A visit begins with the first tab. While the gateway answers 401, the notice is shown. Each tab has
 * headers of its own; one whose token is empty uses the last token that was accepted. The token is not stored.
 */
const BEFORE = `
  const state = JSON.parse(localStorage.getItem('graphiql:tabState'));
  if (state?.tabs?.[0]) {
    localStorage.setItem('graphiql:tabState', JSON.stringify({ ...state, activeTabIndex: 0 }));
    for (const name of ['query', 'variables']) localStorage.setItem('graphiql:' + name, state.tabs[0][name] ?? '');
  }
  const send = window.fetch;
  let accepted = 'Bearer';
  window.fetch = async (url, options) => {
    const headers = new Headers(options?.headers);
    if (headers.get('authorization') === 'Bearer') headers.set('authorization', accepted);
    const response = await send(url, { ...options, headers });
    document.querySelector('#notice')?.toggleAttribute('hidden', response.status !== 401);
    if (response.ok) accepted = headers.get('authorization') ?? accepted;
    return response;
  };`;
