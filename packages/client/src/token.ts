import { GatewayError } from './errors.ts';

/**
 * The player's access token, or what fetches one. A function is called for the first request, and once more after the
 * gateway rejected the token with 401; until then its result is kept. Undefined: no token, for a gateway in development.
 */
export type Token = string | undefined | (() => string | undefined | Promise<string | undefined>);

export type Fetch = typeof globalThis.fetch;

/**
 * A `fetch` that sends the token. A request that is rejected with 401 is sent once more with a new token, which is fetched
 * once for all requests that are under way. Nothing was done for a request with status 401.
 */
export function authorizedFetch(token: Token, fetch: Fetch = (...request) => globalThis.fetch(...request)): Fetch {
  const fetchToken = async () => (typeof token === 'function' ? await token() : token);
  let current: Promise<string | undefined> | undefined;
  const send: (...request: Parameters<Fetch>) => Promise<{ used: typeof current; response: Response }> = async (
    url,
    options,
  ) => {
    current ??= fetchToken().catch((cause: unknown) => {
      current = undefined;
      throw noToken(cause);
    });
    const used = current;
    const value = await used;
    const headers = new Headers(options?.headers);
    try {
      if (value !== undefined) headers.set('authorization', `Bearer ${value}`);
    } catch (cause) {
      // No header has such a value: a login page, for example.
      if (used === current) current = undefined;
      throw noToken(cause);
    }
    return { used, response: await fetch(url, { ...options, headers }) };
  };
  return async (url, options) => {
    const { used, response } = await send(url, options);
    if (response.status !== 401 || typeof token !== 'function') return response;
    if (used === current) current = undefined;
    return (await send(url, options)).response;
  };
}

function noToken(cause: unknown): GatewayError {
  const extensions = { code: 'NO_TOKEN', retryable: false, outcome: 'NOT_DONE' };
  return new GatewayError({ message: 'There is no token for the gateway.', extensions }, { cause });
}
