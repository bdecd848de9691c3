import { kindOf, type Variables, withKeys } from './idempotency.ts';
import { post, type Sending, send } from './send.ts';
import { authorizedFetch, type Fetch, type Token } from './token.ts';

export interface FetchOptions extends Sending {
  /** The player's token; see `Token`. One function for each signed-in player: the token is kept. */
  readonly token?: Token;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch;
  /** Sent with each request; those of the library win. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The ids of persisted documents by operation name, as `generate-persisted-query-manifest` writes them. Default: none. */
  readonly persisted?: { readonly operations: readonly { readonly id: string; readonly name: string }[] };
}

/** What GraphQL libraries send as JSON. */
interface Body {
  readonly query?: string;
  readonly operationName?: string | null;
  readonly variables?: Variables | null;
  readonly extensions?: Readonly<Record<string, unknown>>;
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
 * no JSON body with one operation, such as a GET, is sent once with the token.
 */
export function createFetch({ token, fetch, headers = {}, persisted, ...sending }: FetchOptions = {}): Fetch {
  const authorized = authorizedFetch(token, fetch, sending.timeoutMs && sending.timeoutMs / 2);
  return async (input, init = {}) => {
    const given = new Headers(
      init.headers ?? (input instanceof Object && 'headers' in input ? input.headers : undefined),
    );
    for (const [name, value] of Object.entries(headers)) if (!given.has(name)) given.set(name, value);
    const body = bodyOf(init.body);
    if (!body) return authorized(input, { ...init, headers: given });
    const variables = withKeys(body.variables ?? {});
    const { query, operationName, extensions } = body;
    const id = body.documentId ?? persisted?.operations.find(({ name }) => name === operationName)?.id;
    const { body: text = null } = post({ id, query, operationName: operationName ?? undefined }, variables, {
      ...(extensions && { extensions }),
    });
    // A text without this word has no mutation. An id says nothing.
    const isQuery = query !== undefined && !/\bmutation\b/.test(query);
    const kind = kindOf(isQuery, variables, query);
    const url = String(typeof input === 'object' && 'url' in input ? input.url : input);
    const received = await send(authorized, url, { ...init, headers: given, body: text }, kind, sending);
    return new Response(received.text, { status: received.status, headers: withoutCoding(received.headers) });
  };
}

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

/** The text is decoded already. */
function withoutCoding(headers: Headers | undefined): Headers {
  const own = new Headers(headers);
  own.delete('content-encoding');
  own.delete('content-length');
  return own;
}
