// #region graphql
import { initGraphQLTada } from 'gql.tada';
import type { introspection } from './generated/schema';

export const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: {
    Date: string;
    DateTime: string;
    URL: string;
    LanguageCode: string;
    CustomAttributes: Record<string, string | number>;
    EventMetadata: Record<string, string | number | (string | number)[]>;
  };
}>();
// #endregion graphql

export const Friends = graphql(`
  query Friends($playerUniqueId: ID!, $after: String) {
    player(playerUniqueId: $playerUniqueId) {
      __typename
      id
      referredFriendsConnection(first: 20, after: $after) {
        __typename
        pageInfo { __typename hasNextPage endCursor }
        edges { __typename node { __typename id displayName status } }
      }
    }
  }
`);

export const Track = graphql(`mutation Track($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames } }`);

export const Rename = graphql(`
  mutation Rename($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { userErrors { code } } }
`);

export const Coupons = graphql(`
  query Screen($playerUniqueId: ID!) {
    player(playerUniqueId: $playerUniqueId) { id attributes { displayName } coupons { id code } }
  }
`);

export const Remove = graphql(`
  mutation Remove($input: DeletePlayerInput!) { deletePlayer(input: $input) { deletedPlayerUniqueId } }
`);

export const FriendsPersisted = graphql.persisted(
  'sha256:2f28e1261378ce3377a84b7f1bd1db5269c92d1029412493d962ef6628cbb531',
  Friends,
);
