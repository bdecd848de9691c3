import { type CombinedError, type Exchange, fetchExchange, makeOperation, mapExchange } from '@urql/core';
import {
  type Cache,
  type CacheExchangeOpts,
  cacheExchange,
  type Resolver,
  type UpdateResolver,
} from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { type GatewayError, gatewayErrors, isObject } from './errors.ts';
import { createSend, type FetchOptions, type Send } from './fetch.ts';
import { EMBEDDED } from './generated/embedded.ts';

export interface GatewayExchangesOptions extends FetchOptions {
  /** More for graphcache, for example `schema` or `optimistic`; a setting replaces that of `graphcacheConfig`. */
  readonly cache?: Partial<CacheExchangeOpts>;
}

/**
 * All exchanges of a client: `new Client({ url, exchanges: gatewayExchanges({ token }) })`: graphcache with `graphcacheConfig`, and
 * urql's own `fetchExchange` with `createFetch`, whose options it takes. Missing parts are asked for again with `heal` or
 * `useHealing`. Without a response, `error.networkError` is a `GatewayError`. Exchanges of the application stand behind the first.
 */
export function gatewayExchanges({ cache, ...options }: GatewayExchangesOptions = {}): [Exchange, Exchange, Exchange] {
  const sending: Exchange = (io) => {
    // For each `fetch` of an operation: the client's, its own, or ours when `retryExchange` sends it again. Weak: most are used once.
    const sends = new WeakMap<object, Send>();
    return mapExchange({
      onOperation(operation) {
        const fetchOf = options.fetch ?? operation.context.fetch;
        const byClient = sends.get(fetchOf ?? globalThis) ?? createSend({ ...options, fetch: fetchOf });
        // urql itself sends the id of a document only when graphcache could not read the document.
        const fetch: typeof globalThis.fetch = (input, init) =>
          byClient(input, init, operation.kind === 'query', Object(operation.query).documentId);
        sends.set(fetchOf ?? globalThis, byClient).set(fetch, byClient);
        // Not by GET: variables would be in URLs and logs, and the gateway refuses a GET without a token.
        return makeOperation(operation.kind, operation, { ...operation.context, fetch, preferGetMethod: false });
      },
    })(io);
  };
  return [cacheExchange({ ...graphcacheConfig, ...cache }), sending, fetchExchange];
}

const pagination = relayPagination();

/**
 * urql's pagination, with two corrections. It does not find a field without arguments: the whole query would be null. It makes an
 * empty list where totals alone were read: fields that were not read, such as `edges`, are left out, so graphcache requests them.
 */
const growingList: Resolver = (parent, args, cache, info) => {
  const found: Pick<Cache, 'inspectFields' | 'resolve'> = {
    inspectFields: (entity) => cache.inspectFields(entity).map((one) => ({ ...one, arguments: one.arguments ?? {} })),
    resolve: (entity, name, given) => cache.resolve(entity, name, Object.keys(given ?? {}).length > 0 ? given : null),
  };
  const list: ReturnType<Resolver> = pagination(parent, args, Object.assign(Object.create(cache), found), info);
  const page = found.resolve(info.parentKey, info.fieldName, args);
  // With a schema, graphcache shows the list that is known while it asks for another page.
  if (!isObject(list) || typeof page !== 'string') return list;
  return Object.fromEntries(Object.entries(list).filter(([name]) => cache.resolve(page, name) !== undefined));
};

/** A write that is done can have created its player: where a null is known of it, and in place of `me`, screens ask again. */
const written: UpdateResolver = (result, { input }, store, { fieldName, optimistic }) => {
  if (optimistic || !result[fieldName]) return;
  const { playerUniqueId: id } = Object(input);
  for (const { fieldName: name, arguments: args } of store.inspectFields('Query')) {
    const named = Object.values(args ?? {}).flat();
    const isOfPlayer = name === 'me' || named.includes(id);
    if (isOfPlayer && [store.resolve('Query', name, args)].flat().includes(null)) store.invalidate('Query', name, args);
  }
};

/** Without types that an application cannot name in its own declarations. */
type GraphcacheConfig = Required<Pick<CacheExchangeOpts, 'keys' | 'resolvers' | 'updates'>> & {
  isOfflineError(error: CombinedError | undefined): boolean;
};

/**
 * The settings of graphcache: the keys of all types, lists that grow, and what a write makes invalid; for `offlineExchange`
 * too, which waits for the network when nothing arrived, or when the token cannot be fetched.
 */
export const graphcacheConfig: GraphcacheConfig = {
  isOfflineError(error) {
    const { code, cause }: Partial<GatewayError> = gatewayErrors(error?.networkError)[0] ?? {};
    // What something in between responded has another cause.
    return code === 'TOKEN_UNAVAILABLE' || (code === 'NO_RESPONSE' && isObject(cause));
  },
  // What has no `id` is stored inside of what contains it.
  keys: Object.fromEntries(EMBEDDED.map((name) => [name, () => null])),
  resolvers: {
    Query: {
      // Without it, a player that cannot be read takes the others of the list away. A null is asked for when it is read again.
      players(_, args, cache, info) {
        const list = cache.resolve(info.parentKey, info.fieldName, args);
        info.partial ||= Array.isArray(list) && list.some((one) => one === null);
        return list;
      },
    },
    Player: { referredFriendsConnection: growingList },
  },
  updates: {
    Mutation: {
      trackEvents: written,
      upsertPlayer: written,
      deletePlayer({ deletePlayer }, { input }, store) {
        // Null when it was refused.
        const isRefused = deletePlayer === null || Object(deletePlayer).deletedPlayerUniqueId === null;
        if (!isRefused) store.invalidate({ __typename: 'Player', id: String(Object(input).playerUniqueId) });
      },
    },
  },
};

export { type TypedDocument, toDocument } from './typed-document.ts';
