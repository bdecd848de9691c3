import type { FetchFunction, GraphQLResponse, PayloadError } from 'relay-runtime';
import { Observable } from 'relay-runtime';
import { createSend, type FetchOptions } from './fetch.ts';

export interface GatewayFetchOptions extends Omit<FetchOptions, 'persisted'> {
  /** Where the gateway is, for example `https://gateway.example/graphql`. */
  readonly url: string;
}

interface Body {
  readonly data?: object | null;
  readonly errors?: PayloadError[];
  /** With `requestId`, which names the request in the gateway's log. */
  readonly extensions?: object;
}

/**
 * The function of `Network.create`: `createFetch`, whose options it takes, for what Relay wants of a network. A persisted document
 * is sent by the id that the compiler gave it. A request that Relay no longer needs is aborted.
 */
export function createGatewayFetch({ url, ...options }: GatewayFetchOptions): FetchFunction {
  const send = createSend(options);
  return ({ id, text, name, operationKind }, variables) =>
    Observable.create<GraphQLResponse>((sink) => {
      const abort = new AbortController();
      const body = JSON.stringify({
        ...(id == null ? { query: text } : { documentId: id }),
        operationName: name,
        variables,
      });
      const headers = { accept: 'application/json', 'content-type': 'application/json' };
      send(url, { method: 'POST', headers, body, signal: abort.signal }, operationKind === 'query')
        .then(async (response) => {
          const { data, errors, extensions = {} }: Body = await response.json();
          sink.next(
            data == null ? { errors: errors ?? [], extensions } : { data, ...(errors && { errors }), extensions },
          );
          sink.complete();
        })
        .catch((error: unknown) => {
          if (!abort.signal.aborted) sink.error(error instanceof Error ? error : new Error(String(error)));
        });
      return () => abort.abort();
    });
}
