/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import { TypedDocumentString } from '../document.ts';
/** What kind of advantage a coupon gives. */
export type CouponType =
  /** An advantage that you defined. */
  | 'CUSTOM'
  /** A fixed amount off. */
  | 'FIXED_DISCOUNT'
  /** A fixed rate for an amount of points or money. */
  | 'FIXED_RATE_DISCOUNT'
  /** A product costs nothing. */
  | 'FREE_PRODUCT'
  /** Shipping costs nothing. */
  | 'FREE_SHIPPING'
  /** A percentage off. */
  | 'PERCENTAGE_DISCOUNT'
  /** Another kind, which this version of the schema does not have. */
  | 'UNKNOWN';

/** A player to delete. */
export type DeletePlayerInput = {
  /** Your own identifier of the player. */
  playerUniqueId: string;
};

/** A mobile device that receives push notifications. */
export type DeviceInput = {
  /** The device's operating system, for example `android` or `ios`; at most 1,024 characters. */
  osType: string;
  /** The device's push-notification token (FCM), at most 1,024 characters. */
  token?: string | null | undefined;
};

/** Something a player did. */
export type EventInput = {
  /** What is known about the event. */
  metadata?: Record<string, string | number | (string | number)[]> | null | undefined;
  /** The name of the event, for example `place_order`; 1 to 256 characters, no control characters. */
  name: string;
};

/**
 * What is known about a player. An attribute that is left out, null or empty stays as it is: the service cannot clear an
 * attribute. A text has at most 1,024 characters.
 */
export type PlayerAttributesInput = {
  /** Average amount of the player's orders. */
  avgOrderAmount?: number | null | undefined;
  /** City. */
  city?: string | null | undefined;
  /** Country in a form of your choice, for example `US`. */
  country?: string | null | undefined;
  /**
   * Free extra attributes: strings and numbers by name. Names that are left out stay as they are. At most 16 KB (16,384 bytes
   * of JSON).
   */
  custom?: Record<string, string | number> | null | undefined;
  /** Date of birth. */
  dateOfBirth?: string | null | undefined;
  /** Name to show. */
  displayName?: string | null | undefined;
  /** E-mail address. The service can reject an invalid one (`REJECTED`). It counts for a referral only if it is among the first attributes of the player. */
  email?: string | null | undefined;
  /** First name. */
  firstName?: string | null | undefined;
  /** Gender, for example `M`, `F`, `Male` or `Female`. */
  gender?: string | null | undefined;
  /** When the player joined your system. */
  joinDate?: string | null | undefined;
  /** Last name. */
  lastName?: string | null | undefined;
  /** Date of the player's last order. */
  lastOrderDate?: string | null | undefined;
  /** Mobile number. The service can reject an invalid one (`REJECTED`). It counts for a referral only if it is among the first attributes of the player. */
  mobile?: string | null | undefined;
  /** Tags. A tag contains no comma; all tags together, with a comma between each two, have at most 1,024 characters. */
  tags?: Array<string> | null | undefined;
  /** How many orders the player has placed. */
  totalOrders?: number | null | undefined;
  /** Total amount the player has spent. */
  totalSpent?: number | null | undefined;
  /** ZIP or postal code. */
  zip?: string | null | undefined;
};

/** The status of a referral. */
export type ReferralStatus =
  /** The friend has completed the referral action. */
  | 'ACTIVE'
  /** The friend has not completed the referral action yet. */
  | 'PENDING'
  /** Another status, which this version of the schema does not have. */
  | 'UNKNOWN';

/** What a player did. */
export type TrackEventsInput = {
  /** 1 to 500 events; no name twice. */
  events: Array<EventInput>;
  /**
   * A key of your own for these events, 1 to 128 characters, so that sending them again cannot count them twice. For 24
   * hours, events with the same key and player are not sent to the service again: the response is that of the first
   * operation, or `outcome: UNKNOWN` if its outcome is not known. Use a new key, for example a UUID, for other events; the
   * same key with other events is rejected. Without a key, do not send events again whose outcome you do not know.
   */
  idempotencyKey?: string | null | undefined;
  /** Your own identifier of the player. */
  playerUniqueId: string;
};

/** A player to create or update. */
export type UpsertPlayerInput = {
  /** What is known about the player. An attribute that is left out, null or empty stays as it is. */
  attributes?: PlayerAttributesInput | null | undefined;
  /** The player's mobile device, for push notifications. */
  device?: DeviceInput | null | undefined;
  /** Your own identifier of the player; 1 to 1,024 bytes of UTF-8. */
  playerUniqueId: string;
};

/** The kinds of problems in a mutation's input. */
export type UserErrorCode =
  /** The same name was given twice. */
  | 'DUPLICATE'
  /** The value has a form that is not accepted. */
  | 'INVALID'
  /** The player does not exist. */
  | 'NOT_FOUND'
  /** The referral and rewards service rejected the input, for example an invalid e-mail address. The message has its status and code. */
  | 'REJECTED'
  /** A required field is missing or empty. */
  | 'REQUIRED'
  /** The value is longer than allowed. */
  | 'TOO_LONG';

export type MobileScreenQueryVariables = Exact<{
  playerUniqueId: string;
}>;


export type MobileScreenQuery = { player: { id: string, referralLink: string | null, attributes: { displayName: string | null, totalOrders: number | null } | null, coupons: Array<{ id: string | null, code: string | null, couponType: CouponType, value: number | null, currency: string | null, endAt: string | null }> | null, referredFriends: { total: number | null, totalActive: number | null, totalPending: number | null, nodes: Array<{ id: string | null, displayName: string | null, status: ReferralStatus }> } | null } | null };

export type MeQueryVariables = Exact<{
  lang?: string | null | undefined;
}>;


export type MeQuery = { me: { id: string, playerUniqueId: string, referralLink: string | null } | null };

export type PlayerProfileQueryVariables = Exact<{
  playerUniqueId: string;
  lang?: string | null | undefined;
}>;


export type PlayerProfileQuery = { player: { id: string, referralLink: string | null, english: string | null, attributes: { displayName: string | null, firstName: string | null, lastName: string | null, email: string | null, mobile: string | null, gender: string | null, dateOfBirth: string | null, joinDate: string | null, tags: Array<string> | null, country: string | null, city: string | null, zip: string | null, totalSpent: number | null, totalOrders: number | null, lastOrderDate: string | null, avgOrderAmount: number | null, custom: Record<string, string | number> | null } | null } | null };

export type PlayersQueryVariables = Exact<{
  playerUniqueIds: Array<string> | string;
  lang?: string | null | undefined;
}>;


export type PlayersQuery = { players: Array<{ id: string, attributes: { displayName: string | null } | null } | null> | null };

export type CouponsQueryVariables = Exact<{
  playerUniqueId: string;
}>;


export type CouponsQuery = { player: { id: string, coupons: Array<{ id: string | null, code: string | null, couponType: CouponType, value: number | null, currency: string | null, isUsed: boolean | null, isExpired: boolean | null, creationDate: string | null, startAt: string | null, endAt: string | null, product: { productId: string | null, productName: string | null, productDisplayName: Array<string> | null, variantId: string | null, variantName: string | null } | null, collections: Array<{ collectionId: string | null, collectionName: string | null }> | null, group: { handle: string | null, title: string | null, description: string | null, url: string | null, iconPath: string | null, maxPerPlayer: number | null, startDate: string | null, expiryDate: string | null, isAvailable: boolean | null, isValid: boolean | null, isActive: boolean | null } | null, options: { expiryAfter: number | null, usageLimit: number | null, capping: number | null, minOrderValue: number | null, productId: string | null, productName: string | null, productDisplayName: string | null, variantId: string | null, variantName: string | null, hasCollections: boolean | null, platforms: Array<string> | null, combinesWith: { shippingDiscounts: boolean | null, productDiscounts: boolean | null, orderDiscounts: boolean | null } | null } | null }> | null } | null };

export type CouponFiltersQueryVariables = Exact<{
  playerUniqueId: string;
}>;


export type CouponFiltersQuery = { player: { id: string, usable: Array<{ id: string | null, code: string | null, couponType: CouponType, value: number | null, currency: string | null }> | null, alreadyUsed: Array<{ id: string | null, code: string | null, couponType: CouponType, value: number | null, currency: string | null }> | null, tooLate: Array<{ id: string | null, code: string | null, couponType: CouponType, value: number | null, currency: string | null }> | null, forFree: Array<{ id: string | null, code: string | null, couponType: CouponType, value: number | null, currency: string | null }> | null, ofWelcomeGroup: Array<{ id: string | null, code: string | null, couponType: CouponType, value: number | null, currency: string | null }> | null } | null };

export type CouponLineFragment = { id: string | null, code: string | null, couponType: CouponType, value: number | null, currency: string | null };

export type FriendsByPageQueryVariables = Exact<{
  playerUniqueId: string;
  page?: number | null | undefined;
  limit?: number | null | undefined;
  lang?: string | null | undefined;
}>;


export type FriendsByPageQuery = { player: { id: string, referredFriends: { total: number | null, totalActive: number | null, totalPending: number | null, page: number, limit: number, count: number | null, hasNextPage: boolean, nodes: Array<{ id: string | null, playerUniqueId: string | null, displayName: string | null, email: string | null, mobileNumber: string | null, joinDate: string | null, status: ReferralStatus, player: { id: string, referralLink: string | null, coupons: Array<{ id: string | null, code: string | null, isUsed: boolean | null }> | null } | null }> } | null } | null };

export type FriendsConnectionQueryVariables = Exact<{
  playerUniqueId: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type FriendsConnectionQuery = { player: { id: string, referredFriendsConnection: { totalCount: number | null, pageInfo: { hasPreviousPage: boolean, hasNextPage: boolean, startCursor: string | null, endCursor: string | null }, edges: Array<{ cursor: string, node: { id: string | null, displayName: string | null, status: ReferralStatus } }>, nodes: Array<{ id: string | null, playerUniqueId: string | null }> } | null } | null };

export type UpsertPlayerMutationVariables = Exact<{
  input: UpsertPlayerInput;
  lang?: string | null | undefined;
}>;


export type UpsertPlayerMutation = { upsertPlayer: { serviceId: string | null, userErrors: Array<{ code: UserErrorCode, field: Array<string> | null, message: string }>, player: { id: string, referralLink: string | null, attributes: { displayName: string | null, tags: Array<string> | null, custom: Record<string, string | number> | null } | null, coupons: Array<{ id: string | null, code: string | null, couponType: CouponType, value: number | null }> | null } | null } | null };

export type TrackEventsMutationVariables = Exact<{
  input: TrackEventsInput;
  lang?: string | null | undefined;
}>;


export type TrackEventsMutation = { trackEvents: { eventNames: Array<string>, userErrors: Array<{ code: UserErrorCode, field: Array<string> | null, message: string }>, player: { id: string, coupons: Array<{ id: string | null, code: string | null }> | null } | null } | null };

export type DeletePlayerMutationVariables = Exact<{
  input: DeletePlayerInput;
}>;


export type DeletePlayerMutation = { deletePlayer: { deletedPlayerUniqueId: string | null, userErrors: Array<{ code: UserErrorCode, field: Array<string> | null, message: string }> } | null };

export type NodeQueryVariables = Exact<{
  id: string;
}>;


export type NodeQuery = { node: { referralLink: string | null, id: string } | null };

export const MobileScreenDocument: TypedDocumentString<MobileScreenQuery, MobileScreenQueryVariables> = /* @__PURE__ */ new TypedDocumentString(`query MobileScreen($playerUniqueId: ID!) {
  player(playerUniqueId: $playerUniqueId) {
    id
    referralLink
    attributes {
      displayName
      totalOrders
    }
    coupons(filter: {usableNow: true}) {
      id
      code
      couponType
      value
      currency
      endAt
    }
    referredFriends(limit: 3) {
      total
      totalActive
      totalPending
      nodes {
        id
        displayName
        status
      }
    }
  }
}`);

export const MeDocument: TypedDocumentString<MeQuery, MeQueryVariables> = /* @__PURE__ */ new TypedDocumentString(`query Me($lang: LanguageCode) {
  me(lang: $lang) {
    id
    playerUniqueId
    referralLink
  }
}`);

export const PlayerProfileDocument: TypedDocumentString<PlayerProfileQuery, PlayerProfileQueryVariables> = /* @__PURE__ */ new TypedDocumentString(`query PlayerProfile($playerUniqueId: ID!, $lang: LanguageCode) {
  player(playerUniqueId: $playerUniqueId, lang: $lang) {
    id
    referralLink
    english: referralLink(lang: "en")
    attributes {
      displayName
      firstName
      lastName
      email
      mobile
      gender
      dateOfBirth
      joinDate
      tags
      country
      city
      zip
      totalSpent
      totalOrders
      lastOrderDate
      avgOrderAmount
      custom
    }
  }
}`);

export const PlayersDocument: TypedDocumentString<PlayersQuery, PlayersQueryVariables> = /* @__PURE__ */ new TypedDocumentString(`query Players($playerUniqueIds: [ID!]!, $lang: LanguageCode) {
  players(playerUniqueIds: $playerUniqueIds, lang: $lang) {
    id
    attributes {
      displayName
    }
  }
}`);

export const CouponsDocument: TypedDocumentString<CouponsQuery, CouponsQueryVariables> = /* @__PURE__ */ new TypedDocumentString(`query Coupons($playerUniqueId: ID!) {
  player(playerUniqueId: $playerUniqueId) {
    id
    coupons {
      id
      code
      couponType
      value
      currency
      isUsed
      isExpired
      creationDate
      startAt
      endAt
      product {
        productId
        productName
        productDisplayName
        variantId
        variantName
      }
      collections {
        collectionId
        collectionName
      }
      group {
        handle
        title
        description
        url
        iconPath
        maxPerPlayer
        startDate
        expiryDate
        isAvailable
        isValid
        isActive
      }
      options {
        expiryAfter
        usageLimit
        capping
        minOrderValue
        combinesWith {
          shippingDiscounts
          productDiscounts
          orderDiscounts
        }
        productId
        productName
        productDisplayName
        variantId
        variantName
        hasCollections
        platforms
      }
    }
  }
}`);

export const CouponFiltersDocument: TypedDocumentString<CouponFiltersQuery, CouponFiltersQueryVariables> = /* @__PURE__ */ new TypedDocumentString(`query CouponFilters($playerUniqueId: ID!) {
  player(playerUniqueId: $playerUniqueId) {
    id
    usable: coupons(filter: {usableNow: true}) {
      ...CouponLine
    }
    alreadyUsed: coupons(filter: {isUsed: true}) {
      ...CouponLine
    }
    tooLate: coupons(filter: {isUsed: false, isExpired: true}) {
      ...CouponLine
    }
    forFree: coupons(filter: {couponTypes: [FREE_SHIPPING, FREE_PRODUCT]}) {
      ...CouponLine
    }
    ofWelcomeGroup: coupons(filter: {group: "welcome"}) {
      ...CouponLine
    }
  }
}

fragment CouponLine on Coupon {
  id
  code
  couponType
  value
  currency
}`);

export const FriendsByPageDocument: TypedDocumentString<FriendsByPageQuery, FriendsByPageQueryVariables> = /* @__PURE__ */ new TypedDocumentString(`query FriendsByPage($playerUniqueId: ID!, $page: Int = 1, $limit: Int = 5, $lang: LanguageCode) {
  player(playerUniqueId: $playerUniqueId) {
    id
    referredFriends(page: $page, limit: $limit) {
      total
      totalActive
      totalPending
      page
      limit
      count
      hasNextPage
      nodes {
        id
        playerUniqueId
        displayName
        email
        mobileNumber
        joinDate
        status
        player(lang: $lang) {
          id
          referralLink
          coupons {
            id
            code
            isUsed
          }
        }
      }
    }
  }
}`);

export const FriendsConnectionDocument: TypedDocumentString<FriendsConnectionQuery, FriendsConnectionQueryVariables> = /* @__PURE__ */ new TypedDocumentString(`query FriendsConnection($playerUniqueId: ID!, $first: Int = 10, $after: String) {
  player(playerUniqueId: $playerUniqueId) {
    id
    referredFriendsConnection(first: $first, after: $after) {
      totalCount
      pageInfo {
        hasPreviousPage
        hasNextPage
        startCursor
        endCursor
      }
      edges {
        cursor
        node {
          id
          displayName
          status
        }
      }
      nodes {
        id
        playerUniqueId
      }
    }
  }
}`);

export const UpsertPlayerDocument: TypedDocumentString<UpsertPlayerMutation, UpsertPlayerMutationVariables> = /* @__PURE__ */ new TypedDocumentString(`mutation UpsertPlayer($input: UpsertPlayerInput!, $lang: LanguageCode) {
  upsertPlayer(input: $input) {
    userErrors {
      code
      field
      message
    }
    serviceId
    player(lang: $lang) {
      id
      referralLink
      attributes {
        displayName
        tags
        custom
      }
      coupons {
        id
        code
        couponType
        value
      }
    }
  }
}`);

export const TrackEventsDocument: TypedDocumentString<TrackEventsMutation, TrackEventsMutationVariables> = /* @__PURE__ */ new TypedDocumentString(`mutation TrackEvents($input: TrackEventsInput!, $lang: LanguageCode) {
  trackEvents(input: $input) {
    userErrors {
      code
      field
      message
    }
    eventNames
    player(lang: $lang) {
      id
      coupons {
        id
        code
      }
    }
  }
}`);

export const DeletePlayerDocument: TypedDocumentString<DeletePlayerMutation, DeletePlayerMutationVariables> = /* @__PURE__ */ new TypedDocumentString(`mutation DeletePlayer($input: DeletePlayerInput!) {
  deletePlayer(input: $input) {
    userErrors {
      code
      field
      message
    }
    deletedPlayerUniqueId
  }
}`);

export const NodeDocument: TypedDocumentString<NodeQuery, NodeQueryVariables> = /* @__PURE__ */ new TypedDocumentString(`query Node($id: ID!) {
  node(id: $id) {
    id
    ... on Player {
      referralLink
    }
  }
}`);