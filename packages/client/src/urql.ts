import { type Exchange, fetchExchange, makeOperation, mapExchange } from '@urql/core';
import { type CacheExchangeOpts, cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { createFetches, type FetchOptions } from './fetch.ts';
import type { Fetch } from './token.ts';

export interface GatewayExchangesOptions extends FetchOptions {
  /** More for graphcache, for example `schema` or `optimistic`; a setting replaces that of `graphcacheConfig`. */
  readonly cache?: Partial<CacheExchangeOpts>;
}

/**
 * All exchanges of a client: `new Client({ url, exchanges: gatewayExchanges({ token }) })`: graphcache with `graphcacheConfig`, and
 * urql's own `fetchExchange` with `createFetch`, whose options it takes. Missing parts are asked for again with `heal` or
 * `useHealing`. Without a response, `error.networkError` is a `GatewayError`.
 */
export function gatewayExchanges({ cache, ...options }: GatewayExchangesOptions = {}): Exchange[] {
  const { query, mutation } = createFetches(options);
  const sending = mapExchange({
    onOperation(operation) {
      const send = operation.kind === 'query' ? query : mutation;
      const id = 'documentId' in operation.query ? operation.query.documentId : undefined;
      // Not by GET: variables would be in URLs and logs, and the gateway refuses a GET without a token.
      const context = { ...operation.context, fetch: id ? byId(send, id) : send, preferGetMethod: false };
      return makeOperation(operation.kind, operation, context);
    },
  });
  return [cacheExchange({ ...graphcacheConfig, ...cache }), sending, fetchExchange];
}

/** urql itself sends the id of a document only when graphcache could not read the document. */
function byId(fetch: Fetch, documentId: string): Fetch {
  return (input, init) =>
    fetch(input, { ...init, body: JSON.stringify({ ...JSON.parse(String(init?.body)), documentId }) });
}

/** What has no `id` is stored inside of what contains it. */
const embedded = () => null;

/** The settings of graphcache: the keys of all types, lists that grow, and what a deletion makes invalid. */
export const graphcacheConfig: CacheExchangeOpts = {
  keys: {
    PlayerAttributes: embedded,
    ReferredFriendPage: embedded,
    Product: embedded,
    Collection: embedded,
    CouponGroup: embedded,
    CouponOptions: embedded,
    CouponCombination: embedded,
  },
  resolvers: { Player: { referredFriendsConnection: relayPagination() } },
  updates: {
    Mutation: {
      deletePlayer(_result, { input }, store) {
        const id = typeof input === 'object' && input !== null ? Reflect.get(input, 'playerUniqueId') : undefined;
        if (typeof id === 'string') store.invalidate({ __typename: 'Player', id });
      },
    },
  },
};

export { type TypedDocument, toDocument } from './typed-document.ts';
