import { GatewayError } from './errors.ts';
import { inBackground, reasonOf, unlessAborted } from './retry.ts';

/** How long the function for the token may take by default, in milliseconds. */
const TOKEN_TIMEOUT_MS = 15_000;

/**
 * The player's access token, or what fetches one. A function is called for the first request, and once more after the
 * gateway rejected the token with 401; until then its result is kept. White space around it is left out. Undefined: no
 * token, for a gateway in development. What cannot be a bearer token, such as an empty text, HTML or JSON, is `NO_TOKEN`: the
 * player is signed out. A function that throws, or takes more than 15 s (or half of `timeoutMs`), is `TOKEN_UNAVAILABLE` and asked again.
 */
export type Token = string | undefined | (() => string | undefined | Promise<string | undefined>);

export type Fetch = typeof globalThis.fetch;

/** The characters of a bearer token (RFC 6750, section 2.1). */
const BEARER_TOKEN = /^[\w.~+/-]+=*$/;

/**
 * A `fetch` that sends the token. A request that is rejected with 401 is sent once more with a new token, which is fetched
 * once for all requests that are under way. Nothing was done for a request with status 401. A signal that aborts ends the
 * request, also while it waits for the token: it rejects with the signal's reason.
 */
export function authorizedFetch(
  token: Token,
  fetch: Fetch = (...request) => globalThis.fetch(...request),
  timeoutMs: number = TOKEN_TIMEOUT_MS,
): Fetch {
  const fetchToken = async () => (typeof token === 'function' ? await token() : token);
  let current: Promise<string | undefined> | undefined;
  const send: (...request: Parameters<Fetch>) => Promise<{ used: typeof current; response: Response }> = async (
    url,
    options,
  ) => {
    // A `Request` can be sent once, so each attempt sends a copy.
    const given = typeof url === 'object' && 'clone' in url ? url.clone() : undefined;
    // Not `throwIfAborted`: React Native has none.
    const signal = options?.signal ?? given?.signal;
    if (signal?.aborted) throw reasonOf(signal);
    current ??= within(timeoutMs, fetchToken()).catch((cause: unknown) => {
      current = undefined;
      throw unavailable(cause);
    });
    const used = current;
    const value = (await unlessAborted(used, signal))?.trim();
    const headers = new Headers(options?.headers ?? given?.headers);
    if (value !== undefined) {
      // A login page, for example.
      if (!BEARER_TOKEN.test(value)) {
        if (used === current) current = undefined;
        throw noToken(new TypeError('The token has characters that no bearer token has.'));
      }
      headers.set('authorization', `Bearer ${value}`);
    }
    return { used, response: await fetch(given ?? url, { ...options, headers }) };
  };
  return async (url, options) => {
    const { used, response } = await send(url, options);
    if (response.status !== 401 || typeof token !== 'function') return response;
    if (used === current) current = undefined;
    return (await send(url, options)).response;
  };
}

function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`There was no token within ${milliseconds} ms.`));
    const timer = inBackground(setTimeout(late, milliseconds));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function unavailable(cause: unknown): GatewayError {
  const extensions = { code: 'TOKEN_UNAVAILABLE', retryable: true, outcome: 'NOT_DONE' };
  return new GatewayError({ message: 'The token for the gateway cannot be fetched.', extensions }, { cause });
}

function noToken(cause: unknown): GatewayError {
  const extensions = { code: 'NO_TOKEN', retryable: false, outcome: 'NOT_DONE' };
  return new GatewayError({ message: 'There is no token for the gateway.', extensions }, { cause });
}
