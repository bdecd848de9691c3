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

export const Coupons = graphql(`
  query Coupons($playerUniqueId: ID!) { player(playerUniqueId: $playerUniqueId) { id coupons { id code } } }
`);

/** A screen with a list: its first page, and another part that can be missing. */
export const ScreenWithFriends = graphql(`
  query ScreenWithFriends($playerUniqueId: ID!) {
    player(playerUniqueId: $playerUniqueId) {
      id
      coupons { id code }
      referredFriendsConnection(first: 20) { pageInfo { hasNextPage endCursor } nodes { id displayName } }
    }
  }
`);

/** The list alone: `fetchMore({ query, variables: { after: pageInfo.endCursor } })` while `hasNextPage`. */
export const FriendsScrolling = graphql(`
  query FriendsScrolling($playerUniqueId: ID!, $after: String) {
    player(playerUniqueId: $playerUniqueId) {
      id
      referredFriendsConnection(first: 20, after: $after) {
        pageInfo { hasNextPage endCursor } edges { node { id displayName } }
      }
    }
  }
`);

/** The link in a language, and a page by its number: each is stored by itself. */
export const Page = graphql(`
  query Page($playerUniqueId: ID!, $lang: LanguageCode!, $page: Int!) {
    player(playerUniqueId: $playerUniqueId) {
      id
      referralLink(lang: $lang)
      referredFriends(page: $page, limit: 20) { nodes { id displayName } }
    }
  }
`);

export const Track = graphql(`mutation Track($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames } }`);

export const Rename = graphql(`
  mutation Rename($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { userErrors { code } } }
`);
