import type { FieldPolicy, InMemoryCacheConfig } from '@apollo/client';
import { ApolloLink, HttpLink, Observable } from '@apollo/client/core';
import { growingList } from './apollo-lists.ts';
import { isRetryable, type ResponseError, valueAt } from './errors.ts';
import { createFetches, type FetchOptions } from './fetch.ts';
import { isLive, setLive, withoutMissing } from './missing.ts';
import { inBackground } from './retry.ts';
import type { Fetch } from './token.ts';

export interface GatewayLinkOptions extends FetchOptions {
  /** Where the gateway is, for example `https://gateway.example/graphql`. */
  readonly url: string;
}

/**
 * The last link of an Apollo Client: Apollo's own `HttpLink` with `createFetch`, whose options it takes. Headers, client awareness
 * and links in front work as with `HttpLink`. When a whole player cannot be read, what the cache knows of it stays. A part that is
 * still missing when its screen is closed is forgotten, so that the next screen asks for it.
 *
 * Needs `defaultOptions`: with Apollo's own, errors would discard the data. Missing parts are asked for again with `heal` or
 * `useHealing`.
 */
export function createGatewayLink({ url, ...options }: GatewayLinkOptions): ApolloLink {
  const { query, mutation } = createFetches(options);
  const linkOf = (fetch: Fetch) => new HttpLink({ uri: url, fetch: withoutMissing(fetch) });
  const watched = new Set<string>();
  const reading = new ApolloLink(
    (operation, forward) =>
      new Observable((observer) => {
        const next = (result: ApolloLink.Result) => {
          forgetWhenClosed(watched, operation, result.data, result.errors);
          observer.next(result);
        };
        const reading = forward(operation).subscribe({
          next,
          error: (error: unknown) => observer.error(error),
          complete: () => observer.complete(),
        });
        return () => reading.unsubscribe();
      }),
  );
  return ApolloLink.split(
    ({ operationType }) => operationType === 'query',
    reading.concat(linkOf(query)),
    linkOf(mutation),
  );
}

/** How often to look whether a screen is still open, in milliseconds. */
const LOOK_AGAIN_MS = 1_000;

/** The null of a missing part is data for the screen that shows its error; the next one would get it without the error. */
function forgetWhenClosed(
  watched: Set<string>,
  { client, operationName, variables }: ApolloLink.Operation,
  data: unknown,
  errors: readonly ResponseError[] = [],
): void {
  const missing = errors.filter((error) => isRetryable(error) && error.path && error.path.length > 1);
  const key = JSON.stringify([operationName, variables]);
  if (missing.length === 0 || watched.has(key)) return;
  watched.add(key);
  const isShown = () =>
    [...client.getObservableQueries('active')].some(
      (one) => one.hasObservers() && JSON.stringify([one.queryName, one.variables]) === key,
    );
  const timer = inBackground(
    setInterval(() => {
      if (isShown()) return;
      clearInterval(timer);
      watched.delete(key);
      for (const { path = [] } of missing) {
        const id = client.cache.identify(Object(valueAt(data, path.slice(0, -1))));
        if (id) client.cache.modify({ id, fields: (value, { DELETE }) => value ?? DELETE, broadcast: false });
      }
    }, LOOK_AGAIN_MS),
  );
}

/*
 * Each policy names the arguments by which its field is stored: with both `read` and `merge`, Apollo would ignore them.
 */

/** A player: a null says that there is none. */
const player = (...keyArgs: string[]): FieldPolicy => ({
  keyArgs,
  merge(_, incoming, { storage }) {
    setLive(storage, incoming);
    return incoming;
  },
  read: (known, { storage }) => (isLive(storage, known) ? known : undefined),
});

/** A part of a player: a null says that it could not be read, and does not replace what is known. */
const part = (...keyArgs: string[]): FieldPolicy => ({
  ...player(...keyArgs),
  merge(known, incoming, { storage }) {
    setLive(storage, incoming);
    return incoming ?? known ?? null;
  },
});

/** A part without an id: two screens that read different members complete each other. */
const merged = (...keyArgs: string[]): FieldPolicy => ({
  ...player(...keyArgs),
  merge(known, incoming, { storage, mergeObjects }) {
    setLive(storage, incoming);
    return incoming ? mergeObjects(known ?? {}, incoming) : (known ?? null);
  },
});

/** The same, of what is never missing by itself. */
const embedded = { merge: true } as const;

/**
 * The policies of the cache: `new InMemoryCache(cacheConfig)`. All screens share one player, lists grow page by page, and a
 * deleted player is removed by a mutation that selects `deletedPlayerUniqueId`.
 */
export const cacheConfig: InMemoryCacheConfig = {
  possibleTypes: { Node: ['Player'] },
  typePolicies: {
    Query: {
      fields: {
        me: player('lang'),
        node: player('id'),
        // A player that a list had read opens at once. With `lang`, the gateway is asked: its texts are in that language.
        player: {
          ...player('playerUniqueId', 'lang'),
          read(known, { args, toReference, canRead, storage }) {
            const stored = toReference({ __typename: 'Player', id: args?.['playerUniqueId'] });
            if (known === undefined && args?.['lang'] == null && canRead(stored)) return stored;
            return isLive(storage, known) ? known : undefined;
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
        attributes: merged(),
        coupons: part('filter'),
        referralLink: part('lang'),
        referredFriends: merged('page', 'limit'),
        // One list that grows with each page.
        referredFriendsConnection: growingList,
      },
    },
    ReferredFriend: { fields: { player: part('lang') } },
    Coupon: {
      fields: {
        collections: {
          merge: (known, incoming, { mergeObjects }) =>
            known?.length === incoming?.length
              ? known.map((one: object, index: number) => mergeObjects(one, incoming[index]))
              : incoming,
        },
      },
    },
    Product: embedded,
    CouponGroup: embedded,
    CouponOptions: embedded,
    CouponCombination: embedded,
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
