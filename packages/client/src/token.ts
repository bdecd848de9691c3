import { GatewayError, notSent } from './errors.ts';
import { reasonOf, unlessAborted, within } from './retry.ts';

/** How long the function for the token may take by default, in milliseconds. */
const TOKEN_TIMEOUT_MS = 15_000;

/**
 * The player's access token, or what fetches one. A function is called for the first request, and once more after the
 * gateway rejected the token with 401; until then its result is kept. White space around it is left out. Not given: no token, for
 * a gateway in development. A function that returns nothing, or what cannot be a bearer token, such as HTML or JSON, is
 * `NO_TOKEN`: the player is signed out. One that throws, or takes more than 15 s (or half of `timeoutMs`), is `TOKEN_UNAVAILABLE`
 * and called again.
 */
export type Token = Text | (() => Text | Promise<Text>);
type Text = string | null | undefined;

export type Fetch = typeof globalThis.fetch;

/** The characters of a bearer token (RFC 6750, section 2.1). */
const BEARER_TOKEN = /^[\w.~+/-]+=*$/;

/**
 * A `fetch` that sends the token. A request that is rejected with 401 is sent once more with a new token, which is fetched
 * once for all requests that are under way. Nothing was done for a request with status 401. A signal that aborts ends the
 * request, also while it waits for the token: it rejects with the signal's reason.
 */
export function authorizedFetch(token: Token, fetch: Fetch = globalFetch, timeoutMs: number = TOKEN_TIMEOUT_MS): Fetch {
  const fetchToken = async () => {
    const value = String((typeof token === 'function' ? await token() : token) ?? '').trim();
    if (BEARER_TOKEN.test(value)) return value;
    // A login page, for example.
    const cause = value ? new TypeError('The token has characters that no bearer token has.') : undefined;
    throw notSent('There is no token.', 'NO_TOKEN', cause);
  };
  let current: Promise<string> | undefined;
  const send = async (...[url, options]: Parameters<Fetch>) => {
    // A `Request` can be sent once, so each attempt sends a copy.
    const given: Request | undefined = Object(url).clone?.();
    // Not `throwIfAborted`: React Native has none.
    const signal = options?.signal ?? given?.signal;
    if (signal?.aborted) throw reasonOf(signal);
    const headers = new Headers(options?.headers ?? given?.headers);
    if (token != null) {
      current ??= within(timeoutMs, undefined, fetchToken).catch((cause: unknown) => {
        current = undefined;
        if (cause instanceof GatewayError) throw cause;
        throw notSent('The token cannot be fetched.', 'TOKEN_UNAVAILABLE', cause);
      });
    }
    const used = current;
    if (used) headers.set('authorization', `Bearer ${await unlessAborted(used, signal)}`);
    return { used, response: await fetch(given ?? url, { ...options, headers }) };
  };
  return async (url, options) => {
    const { used, response } = await send(url, options);
    const isStream = Object(options?.body).getReader !== undefined;
    if (response.status !== 401 || typeof token !== 'function' || isStream) return response;
    if (used === current) current = undefined;
    return (await send(url, options)).response;
  };
}

/** The one of the moment, which a test or a tool for errors can replace. Jest's jsdom has none. */
const globalFetch: Fetch = async (...request) => {
  if (!globalThis.fetch) throw notSent('There is no global fetch: give the option `fetch`.');
  return await globalThis.fetch(...request);
};
