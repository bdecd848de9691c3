// #region tokens
/**
 * A `fetch` that sends the player's token. `fetchToken` asks your login service for one. A request that is refused with 401
 * is sent once more with a new token, which is fetched once for all requests that are under way.
 */
export function authorizedFetch(fetchToken: () => Promise<string>): typeof fetch {
  let token: Promise<string> | undefined;
  return async (url, options) => {
    const send = async () => {
      token ??= fetchToken().catch((error) => {
        token = undefined;
        throw error;
      });
      const used = token;
      const headers = new Headers(options?.headers);
      headers.set('authorization', `Bearer ${await used}`);
      return { used, response: await fetch(url, { ...options, headers }) };
    };
    const { used, response } = await send();
    if (response.status !== 401) return response;
    if (used === token) token = undefined;
    return (await send()).response;
  };
}
// #endregion tokens
