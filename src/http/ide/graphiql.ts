/**
 * The script of a GraphiQL that works offline, 9 MB. `needsToken`: whether the gateway has a token setting. `asset` reads a file
 * below assets/: the panel beside GraphiQL, and what runs before it.
 */
export async function createScript(
  endpoint: string,
  examples: readonly { document: string; variables: string | undefined }[],
  needsToken: boolean,
  asset: (name: string) => string,
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
  return `${asset('ide/panel.js')}
${asset('ide/before.js')}
  document.head.append(Object.assign(document.createElement('style'), { textContent: ${JSON.stringify(css + asset('ide/panel.css'))} }));
  const workers = ${JSON.stringify({ editorWorkerService, json, graphql })};
  const workerOf = (label) => new Blob([workers[label]], { type: 'text/javascript' });
  self.MonacoEnvironment = { globalAPI: true, getWorkerUrl: (_id, label) => URL.createObjectURL(workerOf(label)) };
  ${js};
  monaco.editor.onDidCreateEditor((editor) => editor.updateOptions({ fontSize: 13, lineDecorationsWidth: 4, wordWrap: 'on' }));
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), ${JSON.stringify(options)});`;
}
