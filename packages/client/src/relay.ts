import type { FetchFunction, GraphQLResponse } from 'relay-runtime';
import { Observable } from 'relay-runtime';
import type { ClientOptions } from './client.ts';
import { createOperationSend, POST } from './fetch.ts';

export type GatewayFetchOptions = Omit<ClientOptions, 'persisted'>;

/**
 * The function of `Network.create`: `createFetch`, whose options it takes, for what Relay wants of a network. A persisted document
 * is sent by the id that the compiler gave it. A request that Relay no longer needs is aborted.
 */
export function createGatewayFetch({ url, ...options }: GatewayFetchOptions): FetchFunction {
  const send = createOperationSend(options);
  return ({ id, text, name, operationKind }, variables) =>
    Observable.create<GraphQLResponse>((sink) => {
      const abort = new AbortController();
      const body = { ...(id == null ? { query: text ?? '' } : { documentId: id }), operationName: name, variables };
      send(url, { ...POST, signal: abort.signal }, body, operationKind === 'query')
        .then(({ response }) => {
          sink.next(Object(response));
          sink.complete();
        })
        .catch((error: unknown) => {
          if (!abort.signal.aborted) sink.error(error instanceof Error ? error : new Error(String(error)));
        });
      return () => abort.abort();
    });
}
