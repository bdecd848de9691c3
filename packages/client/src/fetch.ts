import { isObject, parsed } from './errors.ts';
import { hasKey, isKeyed, type Variables, withKeys } from './idempotency.ts';
import { type Sending, testMode } from './retry.ts';
import { type Init, type Received, responseOf, type Sender, send } from './send.ts';
import { type AuthorizationOptions, type AuthorizedFetch, authorizedFetch, type Input } from './token.ts';

export interface FetchOptions extends Sending, AuthorizationOptions {
  /** The ids of persisted documents by operation name, as `generate-persisted-query-manifest` writes them. Default: none. */
  readonly persisted?:
    | { readonly operations: readonly { readonly id: string; readonly name: string; readonly type?: string }[] }
    | undefined;
}

/** What GraphQL libraries send as JSON. */
interface Body {
  readonly query?: string | undefined;
  readonly operationName?: string | null;
  readonly variables?: Variables | null;
  readonly documentId?: unknown;
}

/**
 * A `fetch` for any GraphQL library: `new HttpLink({ uri, fetch: createFetch({ token }) })`. It adds the token and fetches a
 * new one once after a 401; sends again what may be repeated, with a random share in each pause; gives events a key; ends an
 * attempt after `timeoutMs`; and sends an id in place of a persisted document's text. Everything else of the request, such as
 * headers and signal, stays as the library made it.
 *
 * The same request within a minute after it failed is a repetition: it has one attempt, so that retries of a library do not
 * multiply these, and an event has the same key.
 *
 * Resolves to the last response of the gateway. Rejects with a `GatewayError` of the code `NO_RESPONSE`, `NO_TOKEN` or
 * `TOKEN_UNAVAILABLE`, which `gatewayErrors` finds in any library's error; with the signal's reason when that aborts. What is
 * no JSON body with one operation, such as a GET, is sent once with the token. An id alone does not tell a query from a
 * mutation: without its `type` in `persisted`, it is not sent again when there was no response.
 */
export function createFetch(options: FetchOptions = {}): typeof globalThis.fetch {
  const send = createSend(options);
  return (input, init) => send(input, init);
}

/** A `fetch` for a library that tells whether it sends a query, and by which id. Undefined: the body tells. */
export type Send = (input: Input, init?: RequestInit, isQuery?: boolean, documentId?: unknown) => Promise<Response>;

export function createSend(options: FetchOptions): Send {
  const fetch = authorizedFetch(options);
  const sendOperation = createOperationSend(options, fetch);
  return async (given, more = {}, isQuery, documentId) => {
    // A proxy passes on the request that it got: `fetch(url, request)`. A `Request` has nothing of its own to be spread.
    const [input, init]: [Input, RequestInit] = 'clone' in more ? [new Request(given, more), {}] : [given, more];
    const request = typeof input === 'object' && 'clone' in input ? input : undefined;
    const isJson =
      request && !init.body && new Headers(init.headers ?? request.headers).get('content-type')?.includes('json');
    // A text, or its bytes, as Effect's client makes them; `parsed` catches the error for what is no text. React Native's `Response`
    // would read each byte as a letter.
    const decode = () => new TextDecoder('utf-8', { fatal: true }).decode(Object(init.body));
    const text = ArrayBuffer.isView(init.body) ? { toString: decode } : init.body;
    const operation = parsed(isJson ? await request.clone().text() : text);
    if (!isOperation(operation)) return fetch(input, init);
    const signal = init.signal ?? request?.signal;
    // Not every library sends the name beside the text.
    const { query = '', operationName } = operation;
    const name = operationName ?? /(?:^|[},"])\s*(?:query|mutation)\s+(\w+)/m.exec(query)?.[1];
    const listed = options.persisted?.operations.find((one) => one.name === name);
    const body = { ...operation, documentId: operation.documentId ?? documentId ?? listed?.id };
    const isListedQuery = listed?.type === 'query' || undefined;
    // An automatic persisted query that the gateway does not know is sent again with its text: the same content.
    const hash: unknown = Object(operation).extensions?.persistedQuery?.sha256Hash;
    const content = hash ? JSON.stringify([hash, operationName, operation.variables]) : undefined;
    const received = await sendOperation(input, { ...init, signal }, body, isQuery ?? isListedQuery, content);
    // For `gatewayErrors`: an error of ky or graphql-http has the response, whose body nobody read.
    return Object.assign(responseOf(received), { errors: received.response.errors });
  };
}

/** What a client sends of itself. */
export const POST = {
  method: 'POST',
  headers: { accept: 'application/json', 'content-type': 'application/json' },
};

/**
 * A request that failed. The same content within a minute is a repetition of it, by TanStack Query, Apollo's `RetryLink`, or a person who
 * presses a button a second time. Of equal requests each is repeated once, the oldest first.
 */
interface Failure extends Sender {
  readonly content: string;
  /** With the keys of events. */
  readonly variables: Variables;
  at: number;
}

const REPEATED_WITHIN_MS = 60_000;

/** Sends an operation: `init` has everything of the request but its body. Resolves and rejects as `createFetch` does. */
type OperationSend = (input: Input, init: Init, body: Body, isQuery?: boolean, content?: string) => Promise<Received>;

export function createOperationSend(
  options: FetchOptions,
  fetch: AuthorizedFetch = authorizedFetch(options),
): OperationSend {
  /** A server can have thousands during an outage. */
  let failures: Failure[] = [];
  return async (input, init, body, isKnownQuery, content = JSON.stringify(body)) => {
    // Also when the clock was set back.
    const now = Date.now();
    failures = failures.filter(({ at }) => Math.abs(now - at) <= REPEATED_WITHIN_MS);
    const last = failures.find((one) => one.content === content);
    if (last) failures.splice(failures.indexOf(last), 1);
    const { query, documentId } = body;
    const isQuery = isKnownQuery ?? (query != null && !hasMutation(query));
    const variables = last?.variables ?? (isQuery ? body.variables : withKeys(body.variables ?? {})) ?? {};
    const kind = isQuery ? 'query' : isKeyed(variables, query) ? 'keyed' : 'write';
    // In tests, what stands for the gateway gets the text too.
    const isIdAlone = documentId !== undefined && !testMode.on;
    const text = JSON.stringify({ ...body, query: isIdAlone ? undefined : query, variables });
    const attempts = last?.isFailed ? 1 : options.attempts;
    const call: Failure = { ...last, ...options, attempts, fetch, content, variables, at: 0 };
    const sent = send(call, input, { ...init, body: text }, kind);
    const keep = () => {
      call.at = Date.now();
      if (call.isFailed || (!isQuery && hasKey(variables))) failures.push(call);
    };
    // Also after a final error: when the gateway does not know a hash, the text follows, with the same key. Also when one of two
    // writes failed: if both are sent again, the other is not done a second time.
    const isDone = ({ data, errors }: Received['response']) =>
      data && (!errors?.length || !Object.values(data).includes(null));
    sent.then(({ response }) => isDone(response) || keep(), keep);
    return sent;
  };
}

/**
 * Whether a text has a mutation: where a line begins, or after another definition or a description. A wrong guess, as for such a
 * line of a string, is on the safe side: a mutation is repeated less often than a query.
 */
export const hasMutation = (text: string): boolean => /(?:^|[},"])\s*mutation\b/m.test(text);

/** One operation, as GraphQL libraries send it in JSON: nothing else, such as a list or what another service gets. */
function isOperation(body: unknown): body is Body {
  const { query } = Object(body);
  return isObject(body) && (/\{/.test(query) || ['documentId', 'variables', 'extensions'].some((name) => name in body));
}
