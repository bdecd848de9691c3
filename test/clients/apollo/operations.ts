// #region operations
import { graphql } from './generated';

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
// #endregion operations

export const Track = graphql(`
  mutation Track($input: TrackEventsInput!) {
    trackEvents(input: $input) {
      eventNames
      userErrors { code field message }
      player { id coupons(filter: { usableNow: true }) { id code couponType value currency } }
    }
  }
`);

/** One list that grows: `fetchMore({ query, variables: { after: pageInfo.endCursor } })` while `hasNextPage`. */
export const FriendsScrolling = graphql(`
  query FriendsScrolling($playerUniqueId: ID!, $after: String) {
    player(playerUniqueId: $playerUniqueId) {
      id
      referredFriendsConnection(first: 20, after: $after) {
        totalCount pageInfo { hasNextPage endCursor } edges { node { id displayName status } }
      }
    }
  }
`);

/** A screen with a list: its first page, and another part that can be missing. */
export const ScreenWithFriends = graphql(`
  query ScreenWithFriends($playerUniqueId: ID!) {
    player(playerUniqueId: $playerUniqueId) {
      id
      coupons { id code }
      referredFriendsConnection(first: 20) {
        totalCount pageInfo { hasNextPage endCursor } nodes { id displayName status }
      }
    }
  }
`);

/** Pages with numbers: another `page` is another query. */
export const FriendsPage = graphql(`
  query FriendsPage($playerUniqueId: ID!, $page: Int!) {
    player(playerUniqueId: $playerUniqueId) {
      id
      referredFriends(page: $page, limit: 20) { total hasNextPage nodes { id displayName status } }
    }
  }
`);

/** The link in two languages. A cache that stores a player by its id keeps both, because they are two fields. */
export const Links = graphql(`
  query Links($playerUniqueId: ID!, $lang: LanguageCode!) {
    player(playerUniqueId: $playerUniqueId) { id referralLink(lang: $lang) }
  }
`);

export const Rename = graphql(`
  mutation Rename($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { userErrors { code } } }
`);

export const Coupons = graphql(`
  query Coupons($playerUniqueId: ID!) { player(playerUniqueId: $playerUniqueId) { id coupons { id code } } }
`);
