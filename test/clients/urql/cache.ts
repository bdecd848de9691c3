// #region cache
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';

/** What has no `id` is stored inside of what contains it. */
const embedded = () => null;

export const cache = cacheExchange({
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
      deletePlayer: (_result, { input }, store) =>
        store.invalidate({ __typename: 'Player', id: (input as { playerUniqueId: string }).playerUniqueId }),
    },
  },
});
// #endregion cache
