import type { FetchFunction, GraphQLResponse, PayloadError } from 'relay-runtime';
import { Observable } from 'relay-runtime';
import { createSend, type FetchOptions } from './fetch.ts';

export interface GatewayFetchOptions extends Omit<FetchOptions, 'persisted'> {
  /** Where the gateway is, for example `https://gateway.example/graphql`. */
  readonly url: string;
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
          const { data, errors }: { data?: object | null; errors?: PayloadError[] } = await response.json();
          sink.next(data == null ? { errors: errors ?? [] } : { data, ...(errors && { errors }) });
          sink.complete();
        })
        .catch((error: unknown) => {
          if (!abort.signal.aborted) sink.error(error instanceof Error ? error : new Error(String(error)));
        });
      return () => abort.abort();
    });
}
