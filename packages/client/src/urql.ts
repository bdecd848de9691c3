import { type Exchange, fetchExchange, makeOperation, mapExchange, type Operation } from '@urql/core';
import { type CacheExchangeOpts, cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import type { GatewayResponse } from './errors.ts';
import { improve } from './healing.ts';
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
  return [cacheExchange(config), sendingExchange(authorized, persisted), fetchExchange];
}

/** What a query has shown that is asked for again. */
interface Shown {
  readonly last: GatewayResponse;
  readonly attempt: number;
}

/**
 * Gives each operation a `fetch` that sends it again where that is safe. While a query is active and a part of it is missing, it
 * is sent again for the part; until that is there, it has the same response as before.
 */
function sendingExchange(authorized: Fetch, persisted: Persisted): Exchange {
  return (input) => {
    const timers = new Map<number, ReturnType<typeof setTimeout>>();
    return mapExchange({
      onOperation(operation) {
        const { kind, key } = operation;
        const variables = withKeys(operation.variables ?? {});
        const isSafe = kind === 'query' || isKeyed(variables, operation.query.loc?.source.body);
        const id = documentId(persisted, operation.query, nameOf(operation));
        const fetch: Fetch = async (url, options = {}) => {
          clearTimeout(timers.get(key));
          timers.delete(key);
          const request = id === undefined ? options : { ...options, ...post({ id }, variables) };
          const read = () => send(authorized, String(url), request, isSafe);
          const started = Date.now();
          // Taken once: graphcache may send this operation again later.
          const shown: Shown | undefined = operation.context['shown']?.pop();
          if (!shown) {
            const { status, text, response } = await read();
            if (kind === 'query') askLater(response, 1, started);
            return responseOf(text, status);
          }
          const { last, attempt } = shown;
          try {
            const better = await improve(last, async () => (await read()).response);
            askLater(better ?? last, attempt + 1, started);
            return responseOf(JSON.stringify(better ?? last));
          } catch {
            // Asking again is of no use. What the screen shows stays.
            return responseOf(JSON.stringify(last));
          }
        };
        const askLater = (last: GatewayResponse, attempt: number, started: number) => {
          if (!isPartial(last)) return;
          const again = { ...operation.context, requestPolicy: 'network-only' as const, shown: [{ last, attempt }] };
          // urql drops it when nothing shows the query any more.
          const ask = () => input.client.reexecuteOperation(makeOperation('query', operation, again));
          const pause = pauseBeforeHealing(attempt, last.errors ?? [], Date.now() - started);
          timers.set(key, inBackground(setTimeout(ask, pause)));
        };
        // Not by GET: variables would be in URLs and logs, and the gateway refuses a GET without a token.
        const context = { ...operation.context, fetch, preferGetMethod: false };
        return makeOperation(kind, { ...operation, variables }, context);
      },
    })(input);
  };
}

function responseOf(text: string, status = 200): Response {
  return new Response(text, { status, headers: { 'content-type': 'application/json' } });
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
