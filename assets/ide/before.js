/*
 * Runs before GraphiQL. A visit begins with the first tab, the first visit with the documentation. While the gateway answers
 * 401, the notice is shown. Each tab has headers of its own; one whose token is empty uses the last token that was accepted. The
 * token is not stored. `showOperation` is in panel.js, and `given` is what the gateway has put in front of all scripts.
 */
document.head.append(Object.assign(document.createElement('style'), { textContent: given.css }));
const workerOf = (label) => new Blob([given.workers[label]], { type: 'text/javascript' });
self.MonacoEnvironment = { globalAPI: true, getWorkerUrl: (_id, label) => URL.createObjectURL(workerOf(label)) };
const { localStorage: stored, fetch: send } = window;
const state = JSON.parse(stored.getItem('graphiql:tabState'));
const [tab] = state?.tabs ?? [];
if (tab) stored.setItem('graphiql:tabState', JSON.stringify({ ...state, activeTabIndex: 0 }));
for (const name of tab ? ['query', 'variables'] : []) stored.setItem(`graphiql:${name}`, tab[name] ?? '');
// Shares of the width: the documentation's in relation to the rest, the editor's in relation to the response.
const first = { visiblePlugin: 'Documentation Explorer', docExplorerFlex: '0.27', editorFlex: '1.3' };
for (const [name, value] of Object.entries(first)) {
  if (stored.getItem(`graphiql:${name}`) === null) stored.setItem(`graphiql:${name}`, value);
}
// GraphiQL's tabs hold buttons, which no `tab` may: they become a list of buttons, of which one is current.
const root = document.querySelector('#root');
new MutationObserver(() => {
  root.querySelector('.graphiql-tabs')?.removeAttribute('role');
  for (const item of root.querySelectorAll('.graphiql-tab[aria-selected]')) {
    item.querySelector('button').ariaCurrent = item.ariaSelected;
    item.removeAttribute('role');
    item.removeAttribute('aria-selected');
  }
}).observe(root, { subtree: true, childList: true, attributeFilter: ['aria-selected'] });
let accepted = 'Bearer';
window.fetch = async (url, options) => {
  const headers = new Headers(options?.headers);
  if (headers.get('authorization') === 'Bearer') headers.set('authorization', accepted);
  const response = await send(url, { ...options, headers });
  document.querySelector('#notice')?.toggleAttribute('hidden', response.status !== 401);
  if (options?.body)
    response
      .clone()
      .json()
      .then(
        (result) => showOperation(options.body, headers, response, result),
        () => {},
      );
  if (response.ok) accepted = headers.get('authorization') ?? accepted;
  return response;
};
