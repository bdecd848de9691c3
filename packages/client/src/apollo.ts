import { ApolloLink, type FieldPolicy, type InMemoryCacheConfig } from '@apollo/client';
import { ClientAwarenessLink } from '@apollo/client/link/client-awareness';
import { print } from 'graphql';
import { Observable } from 'rxjs';
import { growingList } from './apollo-lists.ts';
import { type GatewayResponse, isRetryable, valueAt } from './errors.ts';
import { createHealer } from './healing.ts';
import { createKeyMemory, kindOf } from './idempotency.ts';
import { documentId, type Persisted } from './persisted.ts';
import { post, send } from './send.ts';
import { authorizedFetch, type Fetch, type Token } from './token.ts';

export interface GatewayLinkOptions {
  /** Where the gateway is, for example `https://gateway.example/graphql`. */
  readonly url: string;
  /** The player's token; see `Token`. One client for each signed-in player: token and cache are kept. */
  readonly token?: Token;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch;
  /** Which documents are sent by an id. Default: none. */
  readonly persisted?: Persisted;
}

/**
 * The last link of an Apollo Client: sends operations with the token and retries them where that is safe. Data with errors
 * is delivered at once; while a screen watches the query, its missing parts are then asked for again, and written into the
 * cache. Needs `defaultOptions`: with Apollo's own, errors would discard the data. Queries with `no-cache` do not heal.
 *
 * Without a response, the error is a `GatewayError` with the code `NO_RESPONSE`.
 */
export function createGatewayLink({ url, token, fetch, persisted = false }: GatewayLinkOptions): ApolloLink {
  const authorized = authorizedFetch(token, fetch);
  const healQuery = createHealer();
  const withSameKeys = createKeyMemory();
  const improvements = new Map<string, GatewayResponse>();
  const sending = new ApolloLink((operation) => {
    const isQuery = operation.operationType === 'query';
    const text = print(operation.query);
    const variables = withSameKeys(operation, operation.variables);
    const again = async (signal: AbortSignal) => {
      const id = documentId(persisted, operation.query, operation.operationName);
      const names = { id, query: text, operationName: operation.operationName };
      const request = withContext(post(names, variables, persistedQueryOf(operation)), operation);
      return (await send(authorized, url, { ...request, signal }, kindOf(isQuery, variables, text))).response;
    };
    const key = JSON.stringify([text, variables]);
    const improved = (next: GatewayResponse) => {
      const { query, client } = operation;
      const screens = watching(operation);
      if (!next.errors?.length && screens.length === 0) {
        client.writeQuery({ query, variables: operation.variables, data: next.data ?? null });
        return;
      }
      // The cache has no errors: it would lose those that are left, and keep those that are over where it has the data already.
      // So the screens read this response in the place of another request.
      improvements.set(key, next);
      const reads = screens.map((screen) => screen.refetch().catch(() => undefined));
      // A read that joined another request has not taken it.
      Promise.all(reads).then(() => improvements.get(key) === next && improvements.delete(key));
    };
    return new Observable((observer) => {
      const improvement = improvements.get(key);
      if (isQuery && improvement) {
        observer.next(improvement);
        observer.complete();
        return undefined;
      }
      const abort = new AbortController();
      const started = Date.now();
      again(abort.signal).then(
        (response) => {
          const before: unknown =
            response.errors?.length && isQuery ? operation.client.readQuery(operation) : undefined;
          const isShown = (last: GatewayResponse) => {
            if (!isMissing(operation, last, before)) return false;
            const isWatched = watching(operation).length > 0;
            if (!isWatched) forgetMissing(operation, last);
            return isWatched;
          };
          observer.next(response);
          observer.complete();
          if (!isQuery) return;
          improvements.delete(key);
          healQuery(key, { response, tookMs: Date.now() - started, again, isShown, improved });
        },
        (error: unknown) => observer.error(error),
      );
      return () => abort.abort();
    });
  });
  // It sets the headers with the name and version of the client that `ApolloClient` was given.
  return ApolloLink.from([new ClientAwarenessLink(), sending]);
}

/** What shows the operation: a query that is read once, and a page of `fetchMore`, are not asked for again. */
function watching({ client, query, operationName, variables }: ApolloLink.Operation) {
  const wanted = JSON.stringify([operationName ?? print(query), variables]);
  return [...client.getObservableQueries('active')].filter(
    (one) =>
      one.hasObservers() &&
      one.options.fetchPolicy !== 'no-cache' &&
      JSON.stringify([one.queryName ?? print(one.query), one.variables]) === wanted,
  );
}

/**
 * Whether the cache lacks a part that the response lacks, or still has the value of before the response. Another query, or
 * `fetchMore`, can have brought a new one.
 */
function isMissing(
  { client, query, variables }: ApolloLink.Operation,
  { errors = [] }: GatewayResponse,
  before: unknown,
): boolean {
  const known: unknown = client.readQuery({ query, variables });
  return errors.some((error) => {
    const [value, old] = [known, before].map((data) => valueAt(data, error.path ?? []));
    return isRetryable(error) && (value == null || JSON.stringify(value) === JSON.stringify(old));
  });
}

/** Nobody asks for the missing parts any more: the cache must not give their nulls, without an error, to the next screen. */
function forgetMissing({ client: { cache } }: ApolloLink.Operation, { data, errors = [] }: GatewayResponse): void {
  for (const { path = [] } of errors.filter(isRetryable)) {
    const parent = Object(valueAt(data, path.slice(0, -1)));
    const id = path.length > 1 ? cache.identify(parent) : 'ROOT_QUERY';
    if (id) cache.modify({ id, fields: (value, { DELETE }) => value ?? DELETE, broadcast: false });
  }
}

/** What Apollo's link for automatic persisted queries, in front of this one, asks to send: a hash, and perhaps no text. */
function persistedQueryOf(operation: ApolloLink.Operation): Record<string, unknown> {
  const { http } = operation.getContext();
  if (!http?.includeExtensions) return {};
  return { extensions: operation.extensions, ...(http.includeQuery === false ? { query: undefined } : {}) };
}

/** What links in front set, as `HttpLink` of Apollo sends it. */
function withContext(request: RequestInit, operation: ApolloLink.Operation): RequestInit {
  const { headers, credentials, fetchOptions } = operation.getContext();
  const all = { ...request.headers, ...headers };
  return { ...fetchOptions, ...(credentials && { credentials }), ...request, headers: all };
}

/** A part that could not be read arrives as null, with an error. The null does not replace the value in the cache. */
const keepsKnown: FieldPolicy = { merge: (known, incoming) => incoming ?? known ?? null };

/**
 * The policies of the cache: `new InMemoryCache(cacheConfig)`. All screens share one player, lists grow page by page, and a
 * deleted player is removed by a mutation that selects `deletedPlayerUniqueId`.
 */
export const cacheConfig: InMemoryCacheConfig = {
  possibleTypes: { Node: ['Player'] },
  typePolicies: {
    Query: {
      fields: {
        // A player that a list had read opens at once. With `lang`, the gateway is asked: its texts are in that language.
        // A null does not replace a player of the cache: here, a failed read cannot be told from a deletion.
        player: {
          read(known, { args, toReference, canRead }) {
            const stored = toReference({ __typename: 'Player', id: args?.['playerUniqueId'] });
            return known ?? (args?.['lang'] == null && canRead(stored) ? stored : known);
          },
        },
      },
    },
    Mutation: {
      fields: {
        deletePlayer: {
          merge(_, deleted, { cache }) {
            const id = cache.identify({ __typename: 'Player', id: deleted?.deletedPlayerUniqueId });
            if (id) cache.evict({ id });
            return deleted;
          },
        },
      },
    },
    Player: {
      fields: {
        // Has no id: two screens that read different attributes complete each other.
        attributes: {
          merge: (known, incoming, { mergeObjects }) =>
            incoming ? mergeObjects(known ?? {}, incoming) : (known ?? null),
        },
        coupons: keepsKnown,
        referralLink: keepsKnown,
        referredFriends: keepsKnown,
        // One list that grows with each page. Each value of `page` and `limit` of `referredFriends` is stored by itself.
        referredFriendsConnection: growingList,
      },
    },
  },
};

/**
 * `new ApolloClient({ defaultOptions, … })`. Data and errors both arrive, because one part of a screen can be missing; what is
 * read again does not replace a list that has grown.
 */
export const defaultOptions: {
  readonly watchQuery: { readonly errorPolicy: 'all'; readonly refetchWritePolicy: 'merge' };
  readonly query: { readonly errorPolicy: 'all' };
  readonly mutate: { readonly errorPolicy: 'all' };
} = {
  watchQuery: { errorPolicy: 'all', refetchWritePolicy: 'merge' },
  query: { errorPolicy: 'all' },
  mutate: { errorPolicy: 'all' },
};

/** Apollo's types of results follow these options. */
declare module '@apollo/client' {
  namespace ApolloClient.DeclareDefaultOptions {
    interface WatchQuery {
      errorPolicy: 'all';
    }
    interface Query {
      errorPolicy: 'all';
    }
    interface Mutate {
      errorPolicy: 'all';
    }
  }
}

export { type TypedDocument, toDocument } from './typed-document.ts';
