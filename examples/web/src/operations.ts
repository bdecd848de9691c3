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
      coupons(filter: { usableNow: true }) {
        id
        code
        couponType
        value
        currency
        endAt
        product {
          productDisplayName
        }
      }
    }
  }
`);

/** One page of friends; the cache makes one list of the pages. */
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

/** Reports an event. The player comes back with the coupons that it brought. */
export const CheckInMutation = graphql(`
  mutation CheckIn($input: TrackEventsInput!) {
    trackEvents(input: $input) {
      eventNames
      userErrors {
        code
        message
      }
      player {
        id
        coupons(filter: { usableNow: true }) {
          id
          code
          couponType
          value
          currency
          endAt
          product {
            productDisplayName
          }
        }
      }
    }
  }
`);
