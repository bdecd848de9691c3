/** The script of a GraphiQL that works offline, 9 MB. `needsToken`: whether the gateway has a token setting. `assets`: the panel beside it. */
export async function createScript(
  endpoint: string,
  examples: readonly { document: string; variables: string | undefined }[],
  needsToken: boolean,
  assets: { css: string; js: string },
): Promise<string> {
  const graphiql = await import('@graphql-yoga/render-graphiql/graphiql');
  const { css, js, editorWorkerService, jsonWorker: json, graphqlWorker: graphql } = graphiql;
  const options = {
    endpoint,
    title: 'Referral gateway',
    logo: '<svg viewBox="0 0 40 40" aria-hidden="true"><path d="M4 20h12l14-9M16 20l14 9" stroke="#2f7d5b" stroke-width="4" fill="none"/></svg>',
    defaultTabs: examples.map(({ document, variables = null }) => ({ query: document, variables })),
    // What the Headers pane of each tab begins with. Tokens must not be in the browser's storage.
    headers: JSON.stringify({ authorization: 'Bearer ' }, undefined, 2),
    shouldPersistHeaders: false,
    defaultEditorToolsVisibility: needsToken ? 'headers' : 'variables',
  };
  return `${assets.js}
${BEFORE}
  document.head.append(Object.assign(document.createElement('style'), { textContent: ${JSON.stringify(css + assets.css)} }));
  const workers = ${JSON.stringify({ editorWorkerService, json, graphql })};
  const workerOf = (label) => new Blob([workers[label]], { type: 'text/javascript' });
  self.MonacoEnvironment = { getWorkerUrl: (_id, label) => URL.createObjectURL(workerOf(label)) };
  ${js};
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), ${JSON.stringify(options)});`;
}

/**
 * Runs before GraphiQL. A visit begins with the first tab, the first visit with the documentation. While the gateway answers 401, the notice is shown. Each tab has
 * headers of its own; one whose token is empty uses the last token that was accepted. The token is not stored.
 */
const BEFORE = `
  const { localStorage: stored, fetch: send } = window;
  const state = JSON.parse(stored.getItem('graphiql:tabState'));
  const [tab] = state?.tabs ?? [];
  if (tab) stored.setItem('graphiql:tabState', JSON.stringify({ ...state, activeTabIndex: 0 }));
  for (const name of tab ? ['query', 'variables'] : []) stored.setItem('graphiql:' + name, tab[name] ?? '');
  if (stored.getItem('graphiql:visiblePlugin') === null) stored.setItem('graphiql:visiblePlugin', 'Documentation Explorer');
  let accepted = 'Bearer';
  window.fetch = async (url, options) => {
    const headers = new Headers(options?.headers);
    if (headers.get('authorization') === 'Bearer') headers.set('authorization', accepted);
    const response = await send(url, { ...options, headers });
    document.querySelector('#notice')?.toggleAttribute('hidden', response.status !== 401);
    if (options?.body) response.clone().json().then((result) => showOperation(options.body, headers, response, result), () => {});
    if (response.ok) accepted = headers.get('authorization') ?? accepted;
    return response;
  };`;
