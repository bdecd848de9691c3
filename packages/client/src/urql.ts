import { type Client, type Exchange, fetchExchange, makeOperation, mapExchange, type Operation } from '@urql/core';
import { type CacheExchangeOpts, cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { isKeyed, withKeys } from './idempotency.ts';
import { documentId, type Persisted } from './persisted.ts';
import { inBackground, isPartial, pauseBeforeHealing } from './retry.ts';
import { post, send } from './send.ts';
import { authorizedFetch, type Fetch, type Token } from './token.ts';

export interface GatewayExchangesOptions {
  /** The player's token; see `Token`. One client for each signed-in player: token and cache are kept. */
  readonly token?: Token;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch;
  /** Which documents are sent by an id. Default: none. */
  readonly persisted?: Persisted;
  /** More for graphcache, for example `schema` or `optimistic`; a setting replaces that of `graphcacheConfig`. */
  readonly cache?: Partial<CacheExchangeOpts>;
}

/**
 * All exchanges of a client: `new Client({ url, exchanges: gatewayExchanges({ token }) })`. Results are cached by graphcache,
 * operations are sent with the token and again where that is safe. Data with errors is delivered at once; while a query is
 * active, its missing parts are then asked for again.
 *
 * Without a response, `error.networkError` is a `GatewayError` with the code `NO_RESPONSE`.
 */
export function gatewayExchanges({ token, fetch, persisted = false, cache }: GatewayExchangesOptions): Exchange[] {
  const authorized = authorizedFetch(token, fetch);
  const config = { ...graphcacheConfig, ...cache };
  return [cacheExchange(config), healingExchange, sendingExchange(authorized, persisted), fetchExchange];
}

/** Gives each operation the `fetch` that knows whether it may be sent again. */
function sendingExchange(authorized: Fetch, persisted: Persisted): Exchange {
  return mapExchange({
    onOperation(operation) {
      if (operation.kind === 'teardown') return operation;
      const variables = withKeys(operation.variables ?? {});
      const isSafe = operation.kind === 'query' || isKeyed(variables, operation.query.loc?.source.body);
      const id = documentId(persisted, operation.query, nameOf(operation));
      const fetch: Fetch = async (url, options = {}) => {
        const request = id === undefined ? options : { ...options, ...post({ id }, variables) };
        const { status, text } = await send(authorized, String(url), request, isSafe);
        return new Response(text, { status, headers: { 'content-type': 'application/json' } });
      };
      // Not by GET: variables would be in URLs and logs, and the gateway refuses a GET without a token.
      const context = { ...operation.context, fetch, preferGetMethod: false };
      return makeOperation(operation.kind, { ...operation, variables }, context);
    },
  });
}

/** Asks for the missing parts of a query again, after its data was delivered. */
const healingExchange: Exchange = (input) => {
  const started = new Map<number, number>();
  const waiting = new Map<number, { attempt: number; timer?: ReturnType<typeof setTimeout> }>();
  const stop = (key: number) => {
    clearTimeout(waiting.get(key)?.timer);
    waiting.delete(key);
    started.delete(key);
  };
  return mapExchange({
    onOperation(operation) {
      if (operation.kind === 'teardown') stop(operation.key);
      if (operation.kind === 'query') started.set(operation.key, Date.now());
    },
    onResult({ operation, data, error }) {
      const { kind, key } = operation;
      if (kind !== 'query') return;
      const errors = error?.graphQLErrors ?? [];
      if (!isPartial({ data, errors })) {
        // A request without a response says nothing: the part is still missing.
        if (!error?.networkError || !waiting.has(key)) return stop(key);
      }
      const attempt = (waiting.get(key)?.attempt ?? 0) + 1;
      clearTimeout(waiting.get(key)?.timer);
      const tookMs = Date.now() - (started.get(key) ?? Date.now());
      const pause = pauseBeforeHealing(attempt, errors, tookMs);
      const timer = inBackground(setTimeout(() => readAgain(input.client, operation), pause));
      waiting.set(key, { attempt, timer });
    },
  })(input);
};

/** urql drops this when nothing shows the query any more. */
function readAgain(client: Client, operation: Operation): void {
  client.reexecuteOperation(makeOperation('query', operation, { ...operation.context, requestPolicy: 'network-only' }));
}

function nameOf({ query }: Operation): string | undefined {
  const [operation] = query.definitions.filter((definition) => definition.kind === 'OperationDefinition');
  return operation?.name?.value;
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
