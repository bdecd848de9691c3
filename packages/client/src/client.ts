import { errorsOf, type GatewayError, type GatewayResponse } from './errors.ts';
import { heal } from './healing.ts';
import { kindOf, withKeys } from './idempotency.ts';
import { documentId } from './persisted.ts';
import { hasData } from './retry.ts';
import { post, send } from './send.ts';
import { authorizedFetch, type Fetch, type Token } from './token.ts';

export interface ClientOptions {
  /** Where the gateway is, for example `https://gateway.example/graphql`. */
  readonly url: string;
  /** The player's token; see `Token`. One client for each signed-in player: the token is kept. */
  readonly token?: Token;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch;
  /**
   * True: documents that have a hash, such as those of GraphQL Code Generator with `persistedDocuments`, are sent as this
   * hash. Default false. Of a document without its text, the client sees the variables alone: without a
   * response, it is sent again if each input reports events with a key. Such a document must contain no other write.
   */
  readonly persisted?: boolean;
  /** Attempts of an operation that has nothing to show, the first one included. Default 5. */
  readonly attempts?: number;
  /** How long an attempt may take, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A document of this package, of GraphQL Code Generator in string mode, or a plain text. */
export type Document<Data, Variables> = string | TypedText<Data, Variables>;

/** A text with types. `length` tells it from a parsed document, which is of no use here. */
export interface TypedText<Data, Variables> {
  readonly __apiType?: ((variables: Variables) => Data) | undefined;
  readonly __meta__?: Readonly<Record<string, unknown>> | undefined;
  readonly length: number;
  toString(): string;
}

export interface RequestOptions {
  /** Ends the request and its retries. Without one, a request has as much time as the gateway and the network take. */
  readonly signal?: AbortSignal | undefined;
}

export interface Result<Data> {
  /** What was asked for. A field that could not be read is null, and `errors` has an error with its path. */
  readonly data: Data;
  /** Empty when everything is there. */
  readonly errors: readonly GatewayError[];
}

/** The variables may be left out where none is required. */
type Arguments<Variables> =
  Record<string, never> extends Variables
    ? [variables?: Variables, options?: RequestOptions]
    : [variables: Variables, options?: RequestOptions];

export interface Client {
  /**
   * Sends an operation. Resolves as soon as there is data, also when a part of it is missing. Without data it is sent up to
   * four times more, where that is safe, at the pauses that the gateway asks for, if they are at most 60 s. Events get an
   * idempotency key if they have none, and keep it.
   *
   * Rejects with a `GatewayError` when there is no data: there are errors and `data` is null or has null fields alone, or
   * there was no response. So a mutation of one field rejects when it failed; `outcome` says what became of the write in
   * all attempts.
   * Rejects with the signal's reason when that ends it.
   */
  request<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: Document<Data, Variables>,
    ...rest: Arguments<Variables>
  ): Promise<Result<Data>>;

  /**
   * For a screen: sends a query, and calls `onResult` as soon as there is data. While a part of it is missing and can be asked
   * for again, sends the query again at pauses that grow from 2 s to 60 s, and calls `onResult` when such a part is there, with
   * all parts that were there before. Resolves when nothing is left to ask for, or when the signal aborts: abort it when the
   * screen is closed. Rejects as `request` does, also after a first result, for example when the token expires.
   */
  watch<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    query: Document<Data, Variables>,
    variables: Variables,
    onResult: (result: Result<Data>) => void,
    options?: RequestOptions,
  ): Promise<void>;
}

/** A client of the gateway without dependencies. */
export function createClient({ url, token, fetch, persisted = false, headers, ...sending }: ClientOptions): Client {
  const authorized = authorizedFetch(token, fetch, sending.timeoutMs && sending.timeoutMs / 2);
  const read = async <Data, Variables>(
    document: Document<Data, Variables>,
    given: Variables | undefined,
    signal?: AbortSignal,
    // A hash without a text can be that of a mutation.
    isQuery = document.length > 0 && !hasMutation(String(document)),
  ) => {
    const text = String(document);
    const variables = withKeys(given ?? {});
    const id = typeof document === 'string' ? undefined : documentId(persisted, document);
    const plain = post({ query: text, id }, variables);
    const request = { ...plain, headers: { ...headers, ...plain.headers }, ...(signal && { signal }) };
    return (await send(authorized, url, request, kindOf(isQuery, variables, text), sending)).response;
  };
  return {
    async request<Data, Variables>(
      document: Document<Data, Variables>,
      variables?: Variables,
      { signal }: RequestOptions = {},
    ): Promise<Result<Data>> {
      return resultOf(await read(document, variables, signal));
    },
    async watch<Data, Variables>(
      document: Document<Data, Variables>,
      variables: Variables,
      onResult: (result: Result<Data>) => void,
      { signal = new AbortController().signal }: RequestOptions = {},
    ): Promise<void> {
      if (hasMutation(String(document))) throw new TypeError('A mutation cannot be watched: it would be repeated.');
      const again = () => read(document, variables, signal, true);
      const improved = (next: GatewayResponse) => onResult(resultOf(next));
      const started = Date.now();
      const response = await again().catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (!response || signal.aborted) return;
      improved(response);
      await heal({ response, tookMs: Date.now() - started, again, isShown: () => true, improved, signal });
    },
  };
}

function resultOf<Data>(response: GatewayResponse): Result<Data> {
  const errors = errorsOf(response);
  if (errors[0] && !hasData(response)) throw errors[0];
  // The gateway validates the document against its schema: this is where the types of a document become true.
  return { data: response.data as Data, errors };
}

/**
 * Whether a text can have a mutation: it has this word, be it in a string or a comment. Wrong guesses are on the safe side: a
 * mutation is repeated less often than a query.
 */
const hasMutation = (text: string) => /\bmutation\b/.test(text);
