import { GatewayError, isOfFramework, notSent } from './errors.ts';
import { type Sending, TIMEOUT_MS, unlessAborted, within } from './retry.ts';

/**
 * The player's access token, or what fetches one. A function is called for the first request, and its result is kept. When the
 * gateway rejects the token with 401, it is called again, with the rejected token. White space around a token is left out. Not
 * given: no token, for a gateway in development. A function that returns nothing, or what cannot be a bearer token, such as HTML or JSON, is
 * `NO_TOKEN`: the player is signed out. One that throws, or takes more than half of `timeoutMs`, is `TOKEN_UNAVAILABLE` and called
 * again.
 */
export type Token = Text | ((rejected?: string) => Text | Promise<Text>);
type Text = string | null | undefined;

/** What sends a request, as the global one. Not its type, which has more than a function can have in Bun. */
export type Fetch = (...request: Parameters<typeof globalThis.fetch>) => Promise<Response>;
export type Input = Parameters<Fetch>[0];

/** `isRejected` while the gateway has rejected the request with 401, and it waits for another token. */
export interface Progress {
  isRejected?: boolean;
}

export type AuthorizedFetch = (url: Input, init?: RequestInit, progress?: Progress) => Promise<Response>;

export interface AuthorizationOptions {
  /** The player's token; see `Token`. One function for each signed-in player: the token is kept. */
  readonly token?: Token;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Sent with each request; those of the library win. */
  readonly headers?: RequestInit['headers'];
}

/** The characters of a bearer token (RFC 6750, section 2.1). */
const BEARER_TOKEN = /^[\w.~+/-]+=*$/;

/**
 * A `fetch` that sends the token. A request that is rejected with 401 is sent once more with a new token, which is fetched
 * once for all requests that are under way. Nothing was done for a request with status 401. A signal that aborts ends the
 * request, also while it waits for the token: it rejects with the signal's reason.
 */
export function authorizedFetch(options: AuthorizationOptions & Sending): AuthorizedFetch {
  const { token, fetch = globalFetch, timeoutMs = TIMEOUT_MS } = options;
  const fetchToken = async () => {
    const value = String((typeof token === 'function' ? await token(rejected) : token) ?? '').trim();
    if (BEARER_TOKEN.test(value)) return value;
    // A login page, for example.
    const cause = value ? new TypeError('The token has characters that no bearer token has.') : undefined;
    throw notSent('There is no token.', 'NO_TOKEN', cause);
  };
  let current: Promise<string> | undefined;
  let rejected: string | undefined;
  const send = async (url: Input, init: RequestInit | undefined, progress: Progress) => {
    // A `Request` can be sent once, so each attempt sends a copy.
    const given: Request | undefined = Object(url).clone?.();
    const address = String(given?.url ?? url);
    const wrong = () => notSent(`"${address}" is not an absolute URL, or fetch does not take it.`);
    // A framework's own `fetch` can know what an address is relative to.
    if (!options.fetch && !isAddress(address)) throw wrong();
    const signal = init?.signal ?? given?.signal;
    // Not `Headers`: a `fetch` of the application may spread them.
    const headers: Record<string, string> = {};
    for (const one of [options.headers, init?.headers ?? given?.headers])
      headersOf(one).forEach((value, name) => {
        headers[name] = value;
      });
    // A text can have the key of an event by now.
    if (typeof init?.body === 'string') delete headers['content-length'];
    if (token != null) {
      current ??= within(timeoutMs / 2, undefined, fetchToken).catch((cause: unknown) => {
        current = undefined;
        if (cause instanceof GatewayError || isOfFramework(cause)) throw cause;
        throw notSent('The token cannot be fetched.', 'TOKEN_UNAVAILABLE', cause);
      });
    }
    const used = current;
    if (used) headers['authorization'] = `Bearer ${await unlessAborted(used, signal)}`;
    progress.isRejected = false;
    // A redirect would take the token to another address. Not `error`, which Cloudflare's workers refuse.
    try {
      return { used, response: await fetch(given ?? url, { ...init, headers, redirect: 'manual' }) };
    } catch (error) {
      // So says every runtime of an address that it cannot read. A lost connection is of the "url", or of "NSURLErrorDomain".
      throw /\bURLs?\b/.test(Object(error).message) ? wrong() : error;
    }
  };
  return async (url, init, progress = {}) => {
    const { used, response } = await send(url, init, progress);
    const isStream = Object(init?.body).getReader !== undefined;
    if (response.status !== 401 || typeof token !== 'function' || isStream) return response;
    progress.isRejected = true;
    // An unread body keeps its connection open, and edge workers have few connections.
    response.text().catch(() => undefined);
    const text = await used;
    if (used === current) [current, rejected] = [undefined, text];
    return (await send(url, init, progress)).response;
  };
}

/** The one of the moment, which a test or a tool for errors can replace. Jest's jsdom has none. */
const globalFetch: Fetch = async (...request) => {
  if (!globalThis.fetch) throw notSent('There is no global fetch: give the option `fetch`.');
  return await globalThis.fetch(...request);
};

/** A name with a space, or a value with a letter outside Latin-1, is a mistake of the program: no attempt can send it. */
function headersOf(given: RequestInit['headers']): Headers {
  try {
    return new Headers(given);
  } catch (cause) {
    throw notSent(String(cause), undefined, cause);
  }
}

/**
 * On a server there is no page that an address is relative to. `localhost:4000/graphql` has a scheme, but no host; `fetch` takes
 * no other scheme, and no password.
 */
function isAddress(url: string): boolean {
  return /^[^/?#]+:/.test(url) ? /^\s*https?:\/\/[^/?#@]+([/?#]|$)/i.test(url) : !!globalThis.location;
}
