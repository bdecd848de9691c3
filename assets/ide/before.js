/*
 * Runs before GraphiQL. A visit begins with the first tab, the first visit with the documentation. While the gateway answers
 * 401, the notice is shown. Each tab has headers of its own; one whose token is empty uses the last token that was accepted. The
 * token is not stored. `showOperation` is in panel.js.
 */
const { localStorage: stored, fetch: send } = window;
const state = JSON.parse(stored.getItem('graphiql:tabState'));
const [tab] = state?.tabs ?? [];
if (tab) stored.setItem('graphiql:tabState', JSON.stringify({ ...state, activeTabIndex: 0 }));
for (const name of tab ? ['query', 'variables'] : []) stored.setItem(`graphiql:${name}`, tab[name] ?? '');
if (stored.getItem('graphiql:visiblePlugin') === null)
  stored.setItem('graphiql:visiblePlugin', 'Documentation Explorer');
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
