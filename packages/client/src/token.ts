import { GatewayError, isOfFramework, notSent } from './errors.ts';
import { type Sending, TIMEOUT_MS, within } from './retry.ts';

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

export type AuthorizedFetch = (url: Input, init: RequestInit, progress?: Progress) => Promise<Response>;

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
  const { token, timeoutMs = TIMEOUT_MS } = options;
  const fetchToken = async () => {
    const value = String((typeof token === 'function' ? await token(rejected) : token) ?? '').trim();
    if (BEARER_TOKEN.test(value)) return value;
    // A login page, for example.
    throw notSent(value ? 'The token has wrong characters.' : 'There is no token.', 'NO_TOKEN');
  };
  let current: Promise<string> | undefined;
  let rejected: string | undefined;
  return async (url, init, progress = {}) => {
    const given: Partial<Request> = Object(url);
    const address = addressOf(url);
    const wrong = (cause?: unknown) => notSent(`fetch cannot read "${address}" as an absolute URL.`, undefined, cause);
    // `localhost:4000/graphql` has a scheme, but no host; `fetch` takes no other scheme, and no password. On a server there is no page
    // that an address is relative to, but a framework's own `fetch` can know one.
    const hasScheme = /^[^/?#]+:/.test(address);
    const isAddress = hasScheme ? /^\s*https?:\/\/[^/?#@]+([/?#]|$)/i.test(address) : globalThis.location;
    if (!options.fetch && !isAddress) throw wrong();
    const isStream = 'getReader' in Object(init.body);
    // Not `Headers`: a `fetch` of the application may spread them.
    const headers: Record<string, string> = {};
    try {
      for (const one of [options.headers, init.headers ?? given.headers])
        new Headers(one).forEach((value, name) => {
          headers[name] = value;
        });
    } catch (cause) {
      // A name with a space, or a value with a letter outside Latin-1: no attempt can send it.
      throw notSent(String(cause), undefined, cause);
    }
    // A text can have the key of an event by now.
    if (!isStream) delete headers['content-length'];
    for (let isRepeated = false; ; isRepeated = true) {
      if (token != null) {
        current ??= within(timeoutMs / 2, undefined, fetchToken).catch((cause: unknown) => {
          current = undefined;
          if (cause instanceof GatewayError || isOfFramework(cause)) throw cause;
          throw notSent('The token cannot be fetched.', 'TOKEN_UNAVAILABLE', cause);
        });
        // Nobody waits for it when the signal has aborted already.
        current.catch(() => undefined);
      }
      const used = current;
      const text = used && (await within(timeoutMs, init.signal ?? given.signal, () => used));
      if (text) headers['authorization'] = `Bearer ${text}`;
      progress.isRejected = false;
      // Read for each request, because a test or a tool for errors can replace it. Jest's jsdom has none.
      const fetch: Fetch | undefined = options.fetch ?? globalThis.fetch;
      if (!fetch) throw notSent('There is no fetch: give the option `fetch`.');
      // A `Request` can be sent once, so each attempt sends a copy. A redirect would take the token to another address. Not `error`,
      // which Cloudflare's workers refuse.
      const sent = (async () =>
        fetch(given.clone?.() ?? url, { ...init, headers: { ...headers }, redirect: 'manual' }))();
      const response = await sent.catch((error: unknown) => {
        // Every runtime's error for an address that it cannot read has the word URL, also for a `Request` of another library. Those of
        // lost connections have "url", "NSURL…" or, in happy-dom, `with URL "…": `.
        throw /\bURLs?\b(?! "[^"]*": )/.test(Object(error).message) ? wrong(error) : error;
      });
      if (response.status !== 401 || typeof token !== 'function' || isStream || isRepeated) return response;
      progress.isRejected = true;
      // An unread body keeps its connection open, and edge workers have few connections.
      response.text().catch(() => undefined);
      if (used === current) {
        current = undefined;
        rejected = text;
      }
    }
  };
}

/** The address of a request, as text. */
export const addressOf = (input: Input): string => String(Object(input).url ?? input);
