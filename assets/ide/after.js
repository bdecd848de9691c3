/* Runs after GraphiQL's own script, and shows it. `given` is what the gateway has put in front of all scripts. */
monaco.editor.onDidCreateEditor((editor) =>
  editor.updateOptions({ fontSize: 13, lineDecorationsWidth: 4, wordWrap: 'on' }),
);
YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), {
  endpoint: '/graphql',
  title: 'Referral gateway',
  logo: '<svg viewBox="0 0 40 40" aria-hidden="true"><path d="M4 20h12l14-9M16 20l14 9" stroke="#2f7d5b" stroke-width="4" fill="none"/></svg>',
  defaultTabs: given.tabs,
  // What the Headers pane of each tab begins with. Tokens must not be in the browser's storage.
  headers: JSON.stringify({ authorization: 'Bearer ' }, undefined, 2),
  shouldPersistHeaders: false,
  defaultEditorToolsVisibility: given.needsToken ? 'headers' : 'variables',
});
