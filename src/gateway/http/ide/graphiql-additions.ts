/* What the gateway adds to GraphiQL's page. */

/**
 * GraphiQL 5.24 places the tabs while its fonts load, and stores the distance to their final places as a `transform`. Its
 * style sheet applies the `transform` only to a focused tab. So a tab that is pressed jumps away (by 683 px with twelve
 * tabs), the button is released over something else, and the first click is lost. Without the transform, a tab that is
 * dragged still changes places with its neighbours.
 */
export const TAB_STYLE = '.graphiql-tab { transform: none !important }';

/**
 * A script that runs before GraphiQL. Without a valid token, GraphiQL says "Error fetching schema" and no more. As long as
 * the gateway answers 401, the script shows `message` above it. Each tab has headers of its own; one whose token is empty
 * uses the last token that was accepted, so that it is entered once. The token is not stored.
 */
export function noticeScript(message: string): string {
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
