import { graphql } from './generated';

/** The first screen in one request. What fails is null; the rest arrives. */
export const ScreenQuery = graphql(`
  query Screen {
    me {
      id
      referralLink
      attributes {
        displayName
        joinDate
      }
      coupons(filter: { isUsed: false, isExpired: false }) {
        id
        code
        couponType
        value
        currency
        startAt
        endAt
        product {
          productDisplayName
        }
        options {
          minOrderValue
        }
      }
      referredFriendsConnection(first: 20) {
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
        edges {
          node {
            id
            displayName
            status
          }
        }
      }
    }
  }
`);

/** The next page of friends; the cache makes one list of the pages. */
export const FriendsQuery = graphql(`
  query Friends($after: String) {
    me {
      id
      referredFriendsConnection(first: 20, after: $after) {
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
        edges {
          node {
            id
            displayName
            status
          }
        }
      }
    }
  }
`);

/** Reports an event. The screen is read again afterwards: what it brought is there then, also after `outcome: DONE`. */
export const CheckInMutation = graphql(`
  mutation CheckIn($input: TrackEventsInput!) {
    trackEvents(input: $input) {
      eventNames
      userErrors {
        code
        message
      }
    }
  }
`);
