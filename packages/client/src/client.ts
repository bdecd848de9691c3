import { errorsOf, GatewayError, type Result } from './errors.ts';
import { createOperationSend, type FetchOptions, hasMutation, POST } from './fetch.ts';
import { healErrors } from './heal.ts';
import { withParts } from './keep-parts.ts';
import { hasData } from './retry.ts';

export interface ClientOptions extends Omit<FetchOptions, 'persisted'> {
  /** Where the gateway is, for example `https://gateway.example/graphql`. */
  readonly url: string;
  /**
   * True: documents that have a hash, such as those of GraphQL Code Generator with `persistedDocuments`, are sent as this
   * hash. Default false. A document without its text must contain no other write than events.
   */
  readonly persisted?: boolean | undefined;
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
  /** Ends the request and its retries. */
  readonly signal?: AbortSignal | undefined;
}

/** The variables may be left out where none is required. */
type Arguments<Variables> =
  Record<string, never> extends Variables
    ? [variables?: Variables, options?: RequestOptions]
    : [variables: Variables, options?: RequestOptions];

export interface Client {
  /**
   * Sends an operation, as `createFetch` does. Resolves as soon as there is data, also when a part of it is missing. Rejects with
   * a `GatewayError` when there is no data: there are errors and `data` is null or has null fields alone, or there was no
   * response. So a mutation of one field rejects when it failed; `outcome` says what became of the write in all attempts.
   */
  request<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: Document<Data, Variables>,
    ...rest: Arguments<Variables>
  ): Promise<Result<Data>>;

  /**
   * For a screen: sends a query, and calls `onResult` as soon as there is data. While a part of it is missing and can be asked
   * for again, sends the query again at pauses that grow from 2 s to 60 s, and calls `onResult` when such a part is there or will not
   * come any more, with all parts that were there before; see `keepParts`. Resolves when nothing is left to ask for, or when the signal aborts: abort it when the
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
export function createClient({ url, persisted, ...options }: ClientOptions): Client {
  const send = createOperationSend(options);
  const read = async <Data, Variables>(
    document: Document<Data, Variables>,
    variables: Variables | undefined,
    signal: AbortSignal | undefined,
    isQuery?: boolean,
  ): Promise<Result<Data>> => {
    const documentId: unknown = persisted ? Object(document).__meta__?.hash : undefined;
    // A document that is its hash alone has no text. It can be that of a mutation.
    const query = document.length ? String(document) : undefined;
    const body = { query, documentId, variables: Object(variables) };
    const { response } = await send(url, { ...POST, signal }, body, isQuery);
    const errors = errorsOf(response);
    if (!hasData(response)) throw errors[0];
    // The gateway validates the document against its schema: this is where the types of a document become true.
    return { data: response.data as Data, errors };
  };
  return {
    request<Data, Variables>(
      document: Document<Data, Variables>,
      variables?: Variables,
      { signal }: RequestOptions = {},
    ) {
      return read(document, variables, signal);
    },
    async watch<Data, Variables>(
      document: Document<Data, Variables>,
      variables: Variables,
      onResult: (result: Result<Data>) => void,
      { signal }: RequestOptions = {},
    ) {
      if (hasMutation(String(document))) throw new TypeError('A mutation cannot be watched.');
      let shown: Result<Data> | undefined;
      let outline: string | undefined;
      let failure: unknown;
      const show = ({ data, errors }: Result<Data>) => {
        failure = undefined;
        const last = outline;
        shown = { data: withParts(shown, data, errors, true), errors };
        // What a screen can tell of a result: the data, which parts have errors, and whether these parts can still come.
        outline = JSON.stringify([shown.data, errors.map(({ path, retryable }) => [path, retryable])]);
        if (!signal?.aborted && outline !== last) onResult(shown);
        return errors;
      };
      const fail = (error: unknown) => {
        failure = error;
        return error instanceof GatewayError ? errorsOf(error) : [];
      };
      const again = () => read(document, variables, signal, true).then(show).catch(fail);
      const errors = await again();
      // The first failure is final, as that of `request`: it was sent again already.
      if (shown) await healErrors(errors, again, signal);
      if (failure && !signal?.aborted) throw failure;
    },
  };
}
