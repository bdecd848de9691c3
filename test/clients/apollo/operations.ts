import { TypedDocumentString } from '@referral-gateway/client';
import { graphql } from './generated';
import type { FriendsPageQuery, FriendsPageQueryVariables } from './generated/graphql';

export const Screen = graphql(`
  query Screen($playerUniqueId: ID!) {
    player(playerUniqueId: $playerUniqueId) {
      id
      referralLink
      attributes { displayName joinDate }
      coupons(filter: { usableNow: true }) { id code couponType value currency }
    }
  }
`);

export const Track = graphql(`
  mutation Track($input: TrackEventsInput!) {
    trackEvents(input: $input) {
      eventNames
      userErrors { code field message }
      player { id coupons(filter: { usableNow: true }) { id code couponType value currency } }
    }
  }
`);

/** One list that grows: `fetchMore({ variables: { after: pageInfo.endCursor } })` while `hasNextPage`. */
export const FriendsScrolling = graphql(`
  query FriendsScrolling($playerUniqueId: ID!, $after: String) {
    player(playerUniqueId: $playerUniqueId) {
      id
      referredFriendsConnection(first: 20, after: $after) {
        totalCount
        pageInfo { hasNextPage endCursor }
        edges { node { id displayName status } }
      }
    }
  }
`);

/** Pages with numbers: another `page` is another query. */
export const FriendsPage = graphql(`
  query FriendsPage($playerUniqueId: ID!, $page: Int!) {
    player(playerUniqueId: $playerUniqueId) {
      id
      referredFriends(page: $page, limit: 20) {
        total
        hasNextPage
        nodes { id displayName status }
      }
    }
  }
`);

/** The link in two languages. A cache that stores a player by its id keeps both, because they are two fields. */
export const Links = graphql(`
  query Links($playerUniqueId: ID!, $lang: LanguageCode!) {
    player(playerUniqueId: $playerUniqueId) {
      id
      referralLink(lang: $lang)
    }
  }
`);

/** As `documentMode: 'string'` of the code generator writes it, with the hash of `persistedDocuments`. */
export const FriendsText = new TypedDocumentString<FriendsPageQuery, FriendsPageQueryVariables>('', {
  hash: Reflect.get(FriendsPage, '__meta__')?.hash,
});

export const Rename = graphql(`
  mutation Rename($input: UpsertPlayerInput!) {
    upsertPlayer(input: $input) { userErrors { code } }
  }
`);

export const Coupons = graphql(`
  query Coupons($playerUniqueId: ID!) {
    player(playerUniqueId: $playerUniqueId) {
      id
      coupons { id code }
    }
  }
`);
