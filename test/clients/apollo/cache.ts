// #region cache
import { InMemoryCache } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';

export const createCache = () =>
  new InMemoryCache({
    possibleTypes: { Node: ['Player'] },
    typePolicies: {
      Query: {
        fields: {
          // A player that a list had read opens at once. With `lang`, the gateway is asked: its texts are in that language.
          player: {
            read: (known, { args, toReference }) =>
              known ??
              (args?.['lang'] == null ? toReference({ __typename: 'Player', id: args?.['playerUniqueId'] }) : known),
          },
        },
      },
      Player: {
        fields: {
          // Has no id: two screens that read different attributes complete each other.
          attributes: { merge: true },
          // One list that grows with each page. Each value of `page` and `limit` of `referredFriends` is stored by itself.
          referredFriendsConnection: relayStylePagination(),
        },
      },
    },
  });
// #endregion cache
