import { type Kind, kindOf, type Variables, withKeys } from './idempotency.ts';
import { testMode } from './retry.ts';
import { type Sender, type Sending, send } from './send.ts';
import { authorizedFetch, type Fetch, type Token } from './token.ts';

export interface FetchOptions extends Sending {
  /** The player's token; see `Token`. One function for each signed-in player: the token is kept. */
  readonly token?: Token;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch;
  /** Sent with each request; those of the library win. */
  readonly headers?: HeadersInit;
  /** Called with what is left of the caller's operations after each response that says so. Default: nothing. */
  readonly onLimit?: (limit: Limit) => void;
  /** The ids of persisted documents by operation name, as `generate-persisted-query-manifest` writes them. Default: none. */
  readonly persisted?: {
    readonly operations: readonly { readonly id: string; readonly name: string; readonly type?: string }[];
  };
}

/** The gateway's headers `RateLimit-Policy` and `RateLimit`. */
export interface Limit {
  /** Operations in a window. */
  readonly quota: number;
  /** What is left of them. */
  readonly remaining: number;
  /** When all are there again, in milliseconds from now. */
  readonly resetMs: number;
}

/** What GraphQL libraries send as JSON. */
interface Body {
  readonly query?: string;
  readonly operationName?: string | null;
  readonly variables?: Variables | null;
  readonly documentId?: string;
}

/**
 * A `fetch` for any GraphQL library: `new HttpLink({ uri, fetch: createFetch({ token }) })`. It adds the token and fetches a
 * new one once after a 401; sends again what may be repeated, as `createClient` does, with a random share in each pause; gives
 * events a key for the attempts of one call; ends an attempt after `timeoutMs`; and sends an id in place of a persisted
 * document's text. Everything else of the request, such as headers and signal, stays as the library made it.
 *
 * Resolves to the last response of the gateway. Rejects with a `GatewayError` of the code `NO_RESPONSE`, `NO_TOKEN` or
 * `TOKEN_UNAVAILABLE`, which `gatewayErrors` finds in any library's error; with the signal's reason when that aborts. What is
 * no JSON body with one operation, such as a GET, is sent once with the token. An id alone does not tell a query from a
 * mutation: without its `type` in `persisted`, it is not sent again when there was no response.
 */
export function createFetch(options: FetchOptions = {}): Fetch {
  return fetchOf(authorized(options), options);
}

/** Two of them with one token, for a library that tells what it sends. */
export function createFetches(options: FetchOptions): { readonly query: Fetch; readonly mutation: Fetch } {
  const fetch = authorized(options);
  return { query: fetchOf(fetch, options, true), mutation: fetchOf(fetch, options, false) };
}

const authorized = ({ token, fetch, timeoutMs }: FetchOptions): Fetch =>
  authorizedFetch(token, fetch, timeoutMs && timeoutMs / 2);

/** @param isKnownQuery Undefined: the text tells. */
function fetchOf(
  fetch: Fetch,
  { headers = {}, persisted, onLimit, ...sending }: FetchOptions,
  isKnownQuery?: boolean,
): Fetch {
  const sender: Sender = { ...sending, fetch };
  return async (input, init = {}) => {
    const request = typeof input === 'object' && 'clone' in input ? input : undefined;
    const given = new Headers(init.headers ?? request?.headers);
    new Headers(headers).forEach((value, name) => {
      if (!given.has(name)) given.set(name, value);
    });
    const isJson = request && !init.body && given.get('content-type')?.includes('json');
    const body = bodyOf(isJson ? await request.clone().text() : init.body);
    if (!body) return fetch(input, { ...init, headers: given });
    const { query, operationName } = body;
    const listed = persisted?.operations.find(({ name }) => name === operationName);
    const isQuery = isKnownQuery ?? (listed?.type === 'query' || (query !== undefined && !hasMutation(query)));
    const { variables, kind } = keyed(isQuery, body.variables ?? {}, query);
    const documentId = body.documentId ?? listed?.id;
    // In tests, what stands for the gateway gets the text too.
    const isIdAlone = documentId !== undefined && !testMode.on;
    const text = JSON.stringify({ ...body, documentId, variables, ...(isIdAlone && { query: undefined }) });
    const signal = init.signal ?? request?.signal ?? null;
    const received = await send(sender, input, { ...init, headers: given, body: text, signal }, kind);
    const limit = onLimit && limitOf(received.headers);
    if (limit) onLimit(limit);
    return new Response(received.text, { status: received.status, headers: withoutCoding(received.headers) });
  };
}

/** Events get keys, which are those of the attempts of this call. */
function keyed(isQuery: boolean, given: Variables, text?: string): { variables: Variables; kind: Kind } {
  const hasEvents = !isQuery && (text === undefined || /\btrackEvents\b/.test(text));
  const variables = hasEvents ? withKeys(given) : given;
  return { variables, kind: isQuery || hasEvents ? kindOf(isQuery, variables, text) : 'write' };
}

/**
 * Whether a text can have a mutation: it has this word, be it in a string or a comment. Wrong guesses are on the safe side: a
 * mutation is repeated less often than a query.
 */
export const hasMutation = (text: string): boolean => /\bmutation\b/.test(text);

/** The operation that a library sends; undefined for anything else. */
function bodyOf(body: RequestInit['body']): Body | undefined {
  if (typeof body !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `q` of the policy, `r` and `t` (seconds) of the limit: draft-ietf-httpapi-ratelimit-headers. */
function limitOf(headers: Headers): Limit | undefined {
  const [quota, remaining, seconds] = [
    ['ratelimit-policy', 'q'],
    ['ratelimit', 'r'],
    ['ratelimit', 't'],
  ].map(([name = '', item]) => Number(new RegExp(`;\\s*${item}=(\\d+)`).exec(headers.get(name) ?? '')?.[1]));
  if (quota === undefined || remaining === undefined || seconds === undefined) return undefined;
  return Number.isNaN(quota + remaining + seconds) ? undefined : { quota, remaining, resetMs: seconds * 1_000 };
}

/** The text is decoded already. */
function withoutCoding(headers: Headers): Headers {
  const own = new Headers(headers);
  own.delete('content-encoding');
  own.delete('content-length');
  return own;
}
