import type { ErrorPolicy, FieldMergeFunction, FieldPolicy, InMemoryCacheConfig, Reference } from '@apollo/client';
import type { Modifier } from '@apollo/client/cache';
import { ApolloLink, HttpLink, Observable } from '@apollo/client/core';
import { growingList } from './apollo-lists.ts';
import { forgetMissing, isLive, isMissing, setLive, withoutMissing } from './apollo-missing.ts';
import type { ClientOptions } from './client.ts';
import { createSend, type FetchOptions } from './fetch.ts';
import { EMBEDDED } from './generated/embedded.ts';

export type GatewayLinkOptions = FetchOptions & Pick<ClientOptions, 'url'>;

/**
 * The last link of an Apollo Client: Apollo's own `HttpLink` with `createFetch`, whose options it takes. Headers, client awareness
 * and links in front work as with `HttpLink`. When nothing of a player can be read, the cached player stays. Each screen that
 * begins asks for the parts that are missing, although the cache has a null for them.
 *
 * Needs `defaultOptions`: with Apollo's own, errors would discard the data. Missing parts are asked for again with `heal` or
 * `useHealing`.
 */
export function createGatewayLink({ url, ...options }: GatewayLinkOptions): ApolloLink {
  const send = createSend(options);
  const linkOf = (isQuery: boolean) => new HttpLink({ uri: url, fetch: (input, init) => send(input, init, isQuery) });
  const noteMissing = new ApolloLink(
    (operation, forward) =>
      new Observable((observer) =>
        forward(operation).subscribe({
          next: (result) => {
            observer.next(withoutMissing(operation, result));
            forgetMissing(operation, result);
          },
          error: (error: unknown) => observer.error(error),
          complete: () => observer.complete(),
        }),
      ),
  );
  const sending = ApolloLink.split(({ operationType }) => operationType === 'query', linkOf(true), linkOf(false));
  return noteMissing.concat(sending);
}

/**
 * A policy by what is kept when a field is read again. It names the arguments by which the field is stored: with both `read` and
 * `merge`, Apollo would ignore them.
 */
const stored =
  (merge: FieldMergeFunction) =>
  (...keyArgs: string[]): FieldPolicy => ({
    keyArgs,
    merge(known, incoming, options) {
      setLive(options.storage, incoming);
      return merge(known, incoming, options);
    },
    read: (known, { storage }) => (isLive(storage, known) ? known : undefined),
  });

/** A player: a null says that there is none. */
const player = stored((_, incoming) => incoming);
/** A part of a player: a null says that it could not be read, and does not replace what is known. */
const part = stored((known, incoming) => incoming ?? known ?? null);
/** A part without an id: the members that two screens read are merged. */
const merged = stored((known, incoming, { mergeObjects }) =>
  incoming ? mergeObjects(known ?? {}, incoming) : (known ?? null),
);

/** A write that is done can have created its player: where a null is known of it, and in place of `me`, screens ask again. */
const written: FieldPolicy = {
  merge(_, incoming, { args, cache }) {
    const id = JSON.stringify(args?.['input']?.playerUniqueId);
    const forget: Modifier<unknown> = (value, { DELETE, fieldName, storeFieldName }) =>
      isMissing(value) && (fieldName === 'me' || storeFieldName.includes(id)) ? DELETE : value;
    if (incoming) cache.modify({ fields: { me: forget, node: forget, player: forget, players: forget } });
    return incoming;
  },
};

/** Whether two collections of a coupon have different ids. A document need not select them. */
const isOther = (...collections: readonly [object, object]) => {
  const [known, incoming] = collections.map((one) => Reflect.get(one, 'collectionId'));
  return known != null && incoming != null && known !== incoming;
};

/**
 * The policies of the cache: `new InMemoryCache(cacheConfig)`. All screens share one player, lists grow page by page, and a
 * deleted player is removed by a mutation that selects `deletedPlayerUniqueId`.
 */
export const cacheConfig: InMemoryCacheConfig = {
  possibleTypes: { Node: ['Player'] },
  typePolicies: {
    // Of what has no id, the members that two screens read are merged.
    ...Object.fromEntries(EMBEDDED.map((name) => [name, { merge: true }])),
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
        // In the order of the ids: Apollo would leave a deleted player out, and the others would get its place.
        players: {
          read: (list, { canRead }) => list?.map((one: Reference | null) => (canRead(one) ? one : null)),
        },
      },
    },
    Mutation: {
      fields: {
        trackEvents: written,
        upsertPlayer: written,
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
        // Null where the service has none.
        collections: {
          merge: (known, incoming, { mergeObjects }) =>
            known && known.length === incoming?.length
              ? known.map((one: object, index: number) =>
                  isOther(one, incoming[index]) ? incoming[index] : mergeObjects(one, incoming[index]),
                )
              : incoming,
        },
      },
    },
  },
};

/**
 * `new ApolloClient({ defaultOptions, … })`. Data and errors both arrive, because one part of a screen can be missing; what is
 * read again does not replace a list that has grown.
 */
export const defaultOptions = {
  watchQuery: { errorPolicy: 'all', refetchWritePolicy: 'merge' },
  query: { errorPolicy: 'all' },
  mutate: { errorPolicy: 'all' },
} as const;

/** Apollo's types allow these options, and require none: an application can have another client. */
declare module '@apollo/client' {
  namespace ApolloClient.DeclareDefaultOptions {
    interface WatchQuery {
      errorPolicy?: ErrorPolicy;
    }
    interface Query {
      errorPolicy?: ErrorPolicy;
    }
    interface Mutate {
      errorPolicy?: ErrorPolicy;
    }
  }
}

export { type TypedDocument, toDocument } from './typed-document.ts';
