import { type Exchange, fetchExchange, makeOperation, mapExchange, type Operation } from '@urql/core';
import { type CacheExchangeOpts, cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import type { GatewayResponse } from './errors.ts';
import { improve } from './healing.ts';
import { createKeyMemory, kindOf } from './idempotency.ts';
import { documentId, type Persisted } from './persisted.ts';
import { inBackground, isPartial, pauseBeforeHealing } from './retry.ts';
import { post, type Received, send } from './send.ts';
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
export function gatewayExchanges({ token, fetch, persisted = false, cache }: GatewayExchangesOptions = {}): Exchange[] {
  const authorized = authorizedFetch(token, fetch);
  const config = { ...graphcacheConfig, ...cache };
  return [cacheExchange(config), sendingExchange(authorized, persisted), fetchExchange];
}

/** What the screen of a query with a missing part shows, and which attempt to get the part is next. */
interface Shown {
  readonly last: GatewayResponse;
  /** Of the latest response, which may ask for a longer pause. */
  readonly errors: GatewayResponse['errors'];
  readonly attempt: number;
}

/** The last request of a query, and the timer for the one after it. */
interface QueryRequest {
  timer?: ReturnType<typeof setTimeout>;
}

/** Sends a request, again where that is safe. */
type Read = (...request: Parameters<Fetch>) => Promise<Received>;

/**
 * Gives each operation a `fetch` with the token. While a query is active and a part of it is missing, the query is executed
 * again at growing pauses; until the part is there, the result is the same as before.
 */
function sendingExchange(authorized: Fetch, persisted: Persisted): Exchange {
  return (input) => {
    const requests = new Map<number, QueryRequest>();
    const withSameKeys = createKeyMemory();

    function askLater(operation: Operation, own: QueryRequest, shown: Shown, started: number): void {
      if (requests.get(operation.key) !== own) return;
      if (!isPartial(shown.last)) {
        requests.delete(operation.key);
        return;
      }
      const context = { ...operation.context, requestPolicy: 'network-only' as const, shown: [shown] };
      // urql ignores it when the query is not active any more.
      const ask = () => input.client.reexecuteOperation(makeOperation('query', operation, context));
      const pause = pauseBeforeHealing(shown.attempt, shown.errors ?? [], Date.now() - started);
      own.timer = inBackground(setTimeout(ask, pause));
    }

    function fetchQuery(operation: Operation, read: Read): Fetch {
      return async (...request) => {
        const { key, context } = operation;
        clearTimeout(requests.get(key)?.timer);
        const own: QueryRequest = {};
        requests.set(key, own);
        const started = Date.now();
        // Read once: graphcache may execute this operation again later, with the same context.
        const shown: Shown | undefined = context['shown']?.pop();
        if (!shown) {
          const received = await read(...request);
          askLater(operation, own, { last: received.response, errors: received.response.errors, attempt: 1 }, started);
          return responseOf(received);
        }
        let { errors } = shown;
        const again = async () => {
          const next = (await read(...request)).response;
          errors = next.errors;
          return next;
        };
        // Null: asking again cannot help.
        const better = await improve(shown.last, again).catch(() => null);
        // A request that began later has the result; this one never ends.
        if (requests.get(key) !== own) return new Promise(() => undefined);
        const last = better ?? shown.last;
        if (better !== null) askLater(operation, own, { last, errors, attempt: shown.attempt + 1 }, started);
        return responseOf({ status: 200, text: JSON.stringify(last) });
      };
    }

    return mapExchange({
      onOperation(operation) {
        const { query } = operation;
        // urql numbers the mutations. One that an exchange sends again keeps its number.
        const variables = withSameKeys(operation.context._instance, operation.variables ?? {});
        const isQuery = operation.kind === 'query';
        const kind = kindOf(isQuery, variables, query.loc?.source.body);
        // What it throws is the network error of this request.
        const read: Read = async (url, options = {}) => {
          const id = documentId(persisted, query, nameOf(operation));
          const request = id === undefined ? options : { ...options, body: post({ id }, variables).body ?? null };
          return await send(authorized, String(url), request, kind);
        };
        const fetch: Fetch = isQuery
          ? fetchQuery(operation, read)
          : async (...request) => responseOf(await read(...request));
        // Not by GET: variables would be in URLs and logs, and the gateway refuses a GET without a token.
        const context = { ...operation.context, fetch, preferGetMethod: false };
        return makeOperation(operation.kind, { ...operation, variables }, context);
      },
    })(input);
  };
}

function responseOf({ text, status }: Pick<Received, 'text' | 'status'>): Response {
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
