import { type FetchFunction, type GraphQLResponse, Observable, type RequestParameters } from 'relay-runtime';
import type { GatewayResponse } from './errors.ts';
import { heal } from './healing.ts';
import { kindOf, withKeys } from './idempotency.ts';
import { post, send } from './send.ts';
import { authorizedFetch, type Fetch, type Token } from './token.ts';

export interface GatewayFetchOptions {
  /** Where the gateway is, for example `https://gateway.example/graphql`. */
  readonly url: string;
  /** The player's token; see `Token`. One environment for each signed-in player: token and store are kept. */
  readonly token?: Token;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch;
}

/**
 * The function of `Network.create`: sends operations with the token, by the id of a persisted document where the compiler
 * wrote one, and again where that is safe. Data with errors is delivered at once; while the query is retained, its missing
 * parts are then asked for again.
 */
export function createGatewayFetch({ url, token, fetch }: GatewayFetchOptions): FetchFunction {
  const authorized = authorizedFetch(token, fetch);
  return (request, given) => {
    const variables = withKeys(given);
    const isQuery = request.operationKind === 'query';
    const kind = kindOf(isQuery, variables, request.text ?? '');
    const read = async (signal: AbortSignal) =>
      (await send(authorized, url, { ...requestOf(request, variables), signal }, kind)).response;
    return Observable.create<GraphQLResponse>((sink) => {
      const abort = new AbortController();
      const { signal } = abort;
      const show = (response: GatewayResponse) => sink.next(forRelay(response));
      const run = async () => {
        const started = Date.now();
        const response = await read(signal);
        show(response);
        const tookMs = Date.now() - started;
        const shown = {
          response,
          tookMs,
          again: () => read(signal),
          isShown: () => !sink.closed,
          improved: show,
          signal,
        };
        // An error that ends this does not change what the screen shows.
        if (isQuery) await heal(shown).catch(() => undefined);
        sink.complete();
      };
      run().catch((error: unknown) => {
        if (!signal.aborted) sink.error(error instanceof Error ? error : new Error(String(error)));
      });
      return () => abort.abort();
    });
  };
}

function requestOf({ id, text, name }: RequestParameters, variables: object): RequestInit {
  return post({ id: id ?? undefined, query: text ?? undefined, operationName: name }, variables);
}

/** Relay's types want a response to have data or errors, and errors to be its own mutable kind. */
function forRelay({ data, errors = [] }: GatewayResponse): GraphQLResponse {
  const own = errors.map(({ message, path, extensions }) => ({
    message,
    ...(path && { path: [...path] }),
    extensions,
  }));
  if (data == null) return { errors: own };
  return own.length > 0 ? { data, errors: own } : { data };
}
