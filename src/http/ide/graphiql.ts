/** The script of a GraphiQL that works offline, 9 MB. `needsToken`: whether the gateway has a token setting. */
export async function createScript(
  endpoint: string,
  examples: readonly { document: string; variables: string | undefined }[],
  needsToken: boolean,
): Promise<string> {
  const graphiql = await import('@graphql-yoga/render-graphiql/graphiql');
  const { css, js, editorWorkerService, jsonWorker: json, graphqlWorker: graphql } = graphiql;
  const options = {
    endpoint,
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
