import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { Player as WirePlayer, PlayerAttributes as WirePlayerAttributes } from '../rest/decode/player.ts';
import type { Coupon as WireCoupon, CouponGroup as WireCouponGroup, CouponOptions as WireCouponOptions, Product as WireProduct, Collection as WireCollection } from '../rest/decode/coupon.ts';
import type { ReferredFriend as WireReferredFriend } from '../rest/decode/referral.ts';
import type { ReferredFriendEdgeParent } from '../graphql/loaders/connection.ts';
import type { UpsertPlayerParent, TrackEventsParent } from '../graphql/writes.ts';
import type { Context } from '../graphql/context.ts';
export type Maybe<T> = T | Promise<T | null | undefined> | null | undefined;
export type InputMaybe<T> = T | null | undefined;
export type Omit<T, K extends keyof T> = Pick<T, Exclude<keyof T, K>>;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** Free attributes of a player: an object whose values are strings of at most 1,024 characters or numbers, for example `{ tier: "gold", score: 7 }`. A value that is null or an empty text stays as it is. Booleans, lists and objects as values are rejected. At most 16 KB of JSON. */
  CustomAttributes: { input: Record<string, string | number>; output: Record<string, string | number>; }
  /** A calendar date without a time, written `2025-05-01`. As input a date-time is accepted too: its day is used as written, without a change of time zone. */
  Date: { input: string; output: string; }
  /** A moment in UTC, written as ISO 8601 with milliseconds: `2025-05-01T10:00:00.000Z`. As input, these forms are accepted too: without seconds, with an offset such as `+02`, with a zone in brackets behind an offset, with a comma before the fraction of a second, and the basic format `20250501T100000Z`. Without an offset it is UTC. A date without a time is midnight UTC. */
  DateTime: { input: string; output: string; }
  /** What is known about an event: an object whose values are numbers, strings or arrays of them, for example `{ amount: 49.9, categories: ["toys", "books"] }`. As values, null, booleans, objects, and lists in lists are rejected. */
  EventMetadata: { input: Record<string, string | number | (string | number)[]>; output: Record<string, string | number | (string | number)[]>; }
  /** A language code such as `en`, `fr` or `pt-BR`: a language of two or three letters, and up to four subtags. Where the account does not have it, its primary language is used (`en` for `en-US`), and then the account's default. */
  LanguageCode: { input: string; output: string; }
  /** An absolute URL. Usually `https://`, but an app may have its own scheme. Never a scheme that runs code, such as `javascript:`. */
  URL: { input: string; output: string; }
};

/** A collection of products a coupon can be applied to. */
export type Collection = {
  readonly __typename?: 'Collection';
  /** Identifier of the collection. Null when the service's integer is above 2^53, where JSON numbers are not exact. */
  readonly collectionId?: Maybe<Scalars['ID']['output']>;
  /** Name of the collection. */
  readonly collectionName?: Maybe<Scalars['String']['output']>;
};

/** A coupon a player holds. */
export type Coupon = {
  readonly __typename?: 'Coupon';
  /** The code to enter at checkout. */
  readonly code?: Maybe<Scalars['String']['output']>;
  /** The collections the coupon can be applied to. */
  readonly collections?: Maybe<ReadonlyArray<Collection>>;
  /** What kind of advantage the coupon gives. */
  readonly couponType: CouponType;
  /** When the coupon was created. */
  readonly creationDate?: Maybe<Scalars['DateTime']['output']>;
  /** The currency of the value, for example `USD`. */
  readonly currency?: Maybe<Scalars['String']['output']>;
  /** When the coupon expires. Null: it does not. */
  readonly endAt?: Maybe<Scalars['DateTime']['output']>;
  /** The group the coupon belongs to. */
  readonly group?: Maybe<CouponGroup>;
  /** An opaque, stable identifier for client caches, unique to this coupon of this player. Null for a coupon without a code. */
  readonly id?: Maybe<Scalars['ID']['output']>;
  /** Whether the coupon has expired. */
  readonly isExpired?: Maybe<Scalars['Boolean']['output']>;
  /** Whether this player has used the coupon. */
  readonly isUsed?: Maybe<Scalars['Boolean']['output']>;
  /** The conditions the coupon comes with. */
  readonly options?: Maybe<CouponOptions>;
  /** The free product, when the coupon's type is `FREE_PRODUCT`. */
  readonly product?: Maybe<Product>;
  /** From when the coupon can be applied. Null: from the beginning. */
  readonly startAt?: Maybe<Scalars['DateTime']['output']>;
  /** The coupon's value; for a percentage discount, the percentage. */
  readonly value?: Maybe<Scalars['Float']['output']>;
};

/** Which other discounts a coupon can be combined with. */
export type CouponCombination = {
  readonly __typename?: 'CouponCombination';
  /** Order discounts. */
  readonly orderDiscounts?: Maybe<Scalars['Boolean']['output']>;
  /** Product discounts. */
  readonly productDiscounts?: Maybe<Scalars['Boolean']['output']>;
  /** Shipping discounts. */
  readonly shippingDiscounts?: Maybe<Scalars['Boolean']['output']>;
};

/** Selects the coupons that match every given field; a field that is left out or null does not matter. */
export type CouponFilter = {
  /** Of one of these kinds; at most 100. */
  readonly couponTypes?: InputMaybe<ReadonlyArray<CouponType>>;
  /** Of the group with this handle. */
  readonly group?: InputMaybe<Scalars['String']['input']>;
  /** True: expired. False: not expired. */
  readonly isExpired?: InputMaybe<Scalars['Boolean']['input']>;
  /** True: used. False: not used. */
  readonly isUsed?: InputMaybe<Scalars['Boolean']['input']>;
  /**
   * True: what the player can use now: unexpired, started, of an active group or none, and not used. A used coupon counts
   * as usable when its `options.usageLimit` is above 1: the service does not tell how many uses are left. False: the rest.
   */
  readonly usableNow?: InputMaybe<Scalars['Boolean']['input']>;
};

/** A group of coupons. */
export type CouponGroup = {
  readonly __typename?: 'CouponGroup';
  /** What the group is about. */
  readonly description?: Maybe<Scalars['String']['output']>;
  /** After this date, coupons of the group can no longer be redeemed. */
  readonly expiryDate?: Maybe<Scalars['DateTime']['output']>;
  /** Unique identifier of the group. */
  readonly handle?: Maybe<Scalars['String']['output']>;
  /** Path of the group's icon, on the host of the referral and rewards account. */
  readonly iconPath?: Maybe<Scalars['String']['output']>;
  /** Whether the group is marked active and its dates are valid. */
  readonly isActive?: Maybe<Scalars['Boolean']['output']>;
  /** Whether coupons of the group are available to be redeemed. */
  readonly isAvailable?: Maybe<Scalars['Boolean']['output']>;
  /** Whether now lies between the start and the expiry date. */
  readonly isValid?: Maybe<Scalars['Boolean']['output']>;
  /** How many times a player can obtain coupons from this group. */
  readonly maxPerPlayer?: Maybe<Scalars['Int']['output']>;
  /** From when coupons of the group can be redeemed. */
  readonly startDate?: Maybe<Scalars['DateTime']['output']>;
  /** Title to show. */
  readonly title?: Maybe<Scalars['String']['output']>;
  /** Address of the group. */
  readonly url?: Maybe<Scalars['URL']['output']>;
};

/** The conditions a coupon comes with. */
export type CouponOptions = {
  readonly __typename?: 'CouponOptions';
  /** The largest total discount on an order. */
  readonly capping?: Maybe<Scalars['Float']['output']>;
  /** Which other discounts the coupon can be combined with. */
  readonly combinesWith?: Maybe<CouponCombination>;
  /** Days until the coupon expires. */
  readonly expiryAfter?: Maybe<Scalars['Int']['output']>;
  /** Whether the coupon can be applied to collections. */
  readonly hasCollections?: Maybe<Scalars['Boolean']['output']>;
  /** The smallest order amount that qualifies. */
  readonly minOrderValue?: Maybe<Scalars['Float']['output']>;
  /** The platforms the coupon can be used on. */
  readonly platforms?: Maybe<ReadonlyArray<Scalars['String']['output']>>;
  /** Name of the product to show. */
  readonly productDisplayName?: Maybe<Scalars['String']['output']>;
  /** Identifier of the product. */
  readonly productId?: Maybe<Scalars['ID']['output']>;
  /** Name of the product. */
  readonly productName?: Maybe<Scalars['String']['output']>;
  /** How many times the coupon can be used. */
  readonly usageLimit?: Maybe<Scalars['Int']['output']>;
  /** Identifier of the variant. */
  readonly variantId?: Maybe<Scalars['ID']['output']>;
  /** Name of the variant. */
  readonly variantName?: Maybe<Scalars['String']['output']>;
};

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
  readonly playerUniqueId: Scalars['ID']['input'];
};

/** The outcome of `deletePlayer`. */
export type DeletePlayerPayload = {
  readonly __typename?: 'DeletePlayerPayload';
  /** The identifier of the player that was deleted. Null when nothing was deleted. */
  readonly deletedPlayerUniqueId?: Maybe<Scalars['ID']['output']>;
  /** The problems that the caller can correct in the input; empty when the player was deleted. */
  readonly userErrors: ReadonlyArray<UserError>;
};

/** A mobile device that receives push notifications. */
export type DeviceInput = {
  /** The device's operating system, for example `android` or `ios`; at most 1,024 characters. */
  readonly osType: Scalars['String']['input'];
  /** The device's push-notification token (FCM), at most 1,024 characters. */
  readonly token?: InputMaybe<Scalars['String']['input']>;
};

/** Something a player did. */
export type EventInput = {
  /** What is known about the event. */
  readonly metadata?: InputMaybe<Scalars['EventMetadata']['input']>;
  /** The name of the event, for example `place_order`; 1 to 256 characters, no control characters. */
  readonly name: Scalars['String']['input'];
};

/**
 * What can be written. Mistakes that the caller can correct are returned as `userErrors`; nothing was written then. Every error
 * with a path has an `outcome`: whether the write was done.
 */
export type Mutation = {
  readonly __typename?: 'Mutation';
  /** Deletes a player with its attributes, rewards and actions. This cannot be undone. */
  readonly deletePlayer?: Maybe<DeletePlayerPayload>;
  /** Reports what a player did, for the referral and rewards service to evaluate. A player that does not exist yet is created. */
  readonly trackEvents?: Maybe<TrackEventsPayload>;
  /**
   * Creates a player, or updates it when it exists. An attribute that is left out, null or empty stays as it is.
   * A referral is counted when the player's e-mail address or mobile number was entered on a referral landing page before.
   * Only the first attributes of a player count for this, whoever sends them: a contact in a later call counts for no referral.
   */
  readonly upsertPlayer?: Maybe<UpsertPlayerPayload>;
};


/**
 * What can be written. Mistakes that the caller can correct are returned as `userErrors`; nothing was written then. Every error
 * with a path has an `outcome`: whether the write was done.
 */
export type MutationDeletePlayerArgs = {
  input: DeletePlayerInput;
};


/**
 * What can be written. Mistakes that the caller can correct are returned as `userErrors`; nothing was written then. Every error
 * with a path has an `outcome`: whether the write was done.
 */
export type MutationTrackEventsArgs = {
  input: TrackEventsInput;
};


/**
 * What can be written. Mistakes that the caller can correct are returned as `userErrors`; nothing was written then. Every error
 * with a path has an `outcome`: whether the write was done.
 */
export type MutationUpsertPlayerArgs = {
  input: UpsertPlayerInput;
};

/** An object with a global `id`, by which `node` returns it. `Player` is the only one. */
export type Node = {
  /** A stable identifier for client caches. */
  readonly id: Scalars['ID']['output'];
};

/** The position of a range in the whole list. */
export type PageInfo = {
  readonly __typename?: 'PageInfo';
  /** The cursor of the last friend; null when there is none. */
  readonly endCursor?: Maybe<Scalars['String']['output']>;
  /** Whether there are more friends after this range. */
  readonly hasNextPage: Scalars['Boolean']['output'];
  /** Whether there are friends before this range. */
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  /** The cursor of the first friend; null when there is none. */
  readonly startCursor?: Maybe<Scalars['String']['output']>;
};

/** An end user of your platform. */
export type Player = Node & {
  readonly __typename?: 'Player';
  /** What is known about the player. Each field that is not known is null. */
  readonly attributes?: Maybe<PlayerAttributes>;
  /** The player's coupons. Null with an error when they cannot be read; the other fields of the player are returned all the same. */
  readonly coupons?: Maybe<ReadonlyArray<Coupon>>;
  /** A stable identifier for client caches, and for `node`; equal to `playerUniqueId`. */
  readonly id: Scalars['ID']['output'];
  /** Your own identifier of the player: a database id, an e-mail address, any string that is unique per player. */
  readonly playerUniqueId: Scalars['ID']['output'];
  /** The link this player shares to refer friends. */
  readonly referralLink?: Maybe<Scalars['URL']['output']>;
  /** One page of the friends this player referred, with totals. For tables with page numbers. */
  readonly referredFriends?: Maybe<ReferredFriendPage>;
  /** The friends this player referred, as a connection. For lists that grow while the user scrolls. */
  readonly referredFriendsConnection?: Maybe<ReferredFriendConnection>;
};


/** An end user of your platform. */
export type PlayerCouponsArgs = {
  filter?: InputMaybe<CouponFilter>;
};


/** An end user of your platform. */
export type PlayerReferralLinkArgs = {
  lang?: InputMaybe<Scalars['LanguageCode']['input']>;
};


/** An end user of your platform. */
export type PlayerReferredFriendsArgs = {
  limit?: InputMaybe<Scalars['Int']['input']>;
  page?: InputMaybe<Scalars['Int']['input']>;
};


/** An end user of your platform. */
export type PlayerReferredFriendsConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};

/** What is known about a player. A null field is not known. */
export type PlayerAttributes = {
  readonly __typename?: 'PlayerAttributes';
  /** Average amount of the player's orders. */
  readonly avgOrderAmount?: Maybe<Scalars['Float']['output']>;
  /** City as you sent it. */
  readonly city?: Maybe<Scalars['String']['output']>;
  /** Country as you sent it, for example `US`: no form is checked. */
  readonly country?: Maybe<Scalars['String']['output']>;
  /** Free extra attributes: strings and numbers by name. */
  readonly custom?: Maybe<Scalars['CustomAttributes']['output']>;
  /** Date of birth, a day: show it in UTC, in another zone it can be the day before. */
  readonly dateOfBirth?: Maybe<Scalars['DateTime']['output']>;
  /** Name to show. */
  readonly displayName?: Maybe<Scalars['String']['output']>;
  /** E-mail address. */
  readonly email?: Maybe<Scalars['String']['output']>;
  /** First name. */
  readonly firstName?: Maybe<Scalars['String']['output']>;
  /** Gender as you sent it, for example `F` or `Female`. */
  readonly gender?: Maybe<Scalars['String']['output']>;
  /** When the player joined your system. */
  readonly joinDate?: Maybe<Scalars['DateTime']['output']>;
  /** Last name. */
  readonly lastName?: Maybe<Scalars['String']['output']>;
  /** Date of the player's last order. */
  readonly lastOrderDate?: Maybe<Scalars['Date']['output']>;
  /** Mobile number. It counts for a referral only if it is among the first attributes of the player. */
  readonly mobile?: Maybe<Scalars['String']['output']>;
  /** Tags that you gave the player. */
  readonly tags?: Maybe<ReadonlyArray<Scalars['String']['output']>>;
  /** How many orders the player has placed. Null for more than 2,147,483,647, the largest `Int`. */
  readonly totalOrders?: Maybe<Scalars['Int']['output']>;
  /** Total amount the player has spent. */
  readonly totalSpent?: Maybe<Scalars['Float']['output']>;
  /** ZIP or postal code as you sent it. */
  readonly zip?: Maybe<Scalars['String']['output']>;
};

/**
 * What is known about a player. An attribute that is left out, null or empty stays as it is: the service cannot clear an
 * attribute. A text has at most 1,024 characters.
 */
export type PlayerAttributesInput = {
  /** Average amount of the player's orders. */
  readonly avgOrderAmount?: InputMaybe<Scalars['Float']['input']>;
  /** City. */
  readonly city?: InputMaybe<Scalars['String']['input']>;
  /** Country in a form of your choice, for example `US`. */
  readonly country?: InputMaybe<Scalars['String']['input']>;
  /**
   * Free extra attributes: strings and numbers by name. Names that are left out stay as they are. At most 16 KB (16,384 bytes
   * of JSON).
   */
  readonly custom?: InputMaybe<Scalars['CustomAttributes']['input']>;
  /** Date of birth. */
  readonly dateOfBirth?: InputMaybe<Scalars['DateTime']['input']>;
  /** Name to show. */
  readonly displayName?: InputMaybe<Scalars['String']['input']>;
  /** E-mail address. The service can reject an invalid one (`REJECTED`). It counts for a referral only if it is among the first attributes of the player. */
  readonly email?: InputMaybe<Scalars['String']['input']>;
  /** First name. */
  readonly firstName?: InputMaybe<Scalars['String']['input']>;
  /** Gender, for example `M`, `F`, `Male` or `Female`. */
  readonly gender?: InputMaybe<Scalars['String']['input']>;
  /** When the player joined your system. */
  readonly joinDate?: InputMaybe<Scalars['DateTime']['input']>;
  /** Last name. */
  readonly lastName?: InputMaybe<Scalars['String']['input']>;
  /** Date of the player's last order. */
  readonly lastOrderDate?: InputMaybe<Scalars['Date']['input']>;
  /** Mobile number. The service can reject an invalid one (`REJECTED`). It counts for a referral only if it is among the first attributes of the player. */
  readonly mobile?: InputMaybe<Scalars['String']['input']>;
  /** Tags. A tag contains no comma; all tags together, with a comma between each two, have at most 1,024 characters. */
  readonly tags?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  /** How many orders the player has placed. */
  readonly totalOrders?: InputMaybe<Scalars['Int']['input']>;
  /** Total amount the player has spent. */
  readonly totalSpent?: InputMaybe<Scalars['Float']['input']>;
  /** ZIP or postal code. */
  readonly zip?: InputMaybe<Scalars['String']['input']>;
};

/** The free product of a coupon. */
export type Product = {
  readonly __typename?: 'Product';
  /** Names of the product to show. */
  readonly productDisplayName?: Maybe<ReadonlyArray<Scalars['String']['output']>>;
  /** Identifier of the product. Null when the service's integer is above 2^53, where JSON numbers are not exact. */
  readonly productId?: Maybe<Scalars['ID']['output']>;
  /** Name of the product. */
  readonly productName?: Maybe<Scalars['String']['output']>;
  /** Identifier of the variant, when the product has variants. Null when the service's integer is above 2^53, where JSON numbers are not exact. */
  readonly variantId?: Maybe<Scalars['ID']['output']>;
  /** Name of the variant, when the product has variants. */
  readonly variantName?: Maybe<Scalars['String']['output']>;
};

/** What can be read: players, with their coupons and referred friends. */
export type Query = {
  readonly __typename?: 'Query';
  /** The player of the caller's token. Null for a token without a player, or when that player does not exist. */
  readonly me?: Maybe<Player>;
  /** A player by its `id`: the field with which Relay reads an object again. Null when no such player exists. */
  readonly node?: Maybe<Node>;
  /** One player by your own identifier. Null when no such player exists. */
  readonly player?: Maybe<Player>;
  /** Several players, in the order of the identifiers, null for each one that does not exist. At most 50 identifiers. */
  readonly players?: Maybe<ReadonlyArray<Maybe<Player>>>;
};


/** What can be read: players, with their coupons and referred friends. */
export type QueryMeArgs = {
  lang?: InputMaybe<Scalars['LanguageCode']['input']>;
};


/** What can be read: players, with their coupons and referred friends. */
export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};


/** What can be read: players, with their coupons and referred friends. */
export type QueryPlayerArgs = {
  lang?: InputMaybe<Scalars['LanguageCode']['input']>;
  playerUniqueId: Scalars['ID']['input'];
};


/** What can be read: players, with their coupons and referred friends. */
export type QueryPlayersArgs = {
  lang?: InputMaybe<Scalars['LanguageCode']['input']>;
  playerUniqueIds: ReadonlyArray<Scalars['ID']['input']>;
};

/** The status of a referral. */
export type ReferralStatus =
  /** The friend has completed the referral action. */
  | 'ACTIVE'
  /** The friend has not completed the referral action yet. */
  | 'PENDING'
  /** Another status, which this version of the schema does not have. */
  | 'UNKNOWN';

/** A friend that a player referred. */
export type ReferredFriend = {
  readonly __typename?: 'ReferredFriend';
  /** Name to show. */
  readonly displayName?: Maybe<Scalars['String']['output']>;
  /** E-mail address. */
  readonly email?: Maybe<Scalars['String']['output']>;
  /** An opaque, stable identifier for client caches, different for each player who referred this friend. Null for a friend without an identifier. */
  readonly id?: Maybe<Scalars['ID']['output']>;
  /** When the friend joined the store. */
  readonly joinDate?: Maybe<Scalars['DateTime']['output']>;
  /** Mobile number. */
  readonly mobileNumber?: Maybe<Scalars['String']['output']>;
  /** The friend as a player. Needs one more REST call for each friend. */
  readonly player?: Maybe<Player>;
  /** Your own identifier of the friend. */
  readonly playerUniqueId?: Maybe<Scalars['ID']['output']>;
  /** The status of the referral. */
  readonly status: ReferralStatus;
};


/** A friend that a player referred. */
export type ReferredFriendPlayerArgs = {
  lang?: InputMaybe<Scalars['LanguageCode']['input']>;
};

/** The friends a player referred, following the Relay connection convention. */
export type ReferredFriendConnection = {
  readonly __typename?: 'ReferredFriendConnection';
  /** The friends, each with its cursor. */
  readonly edges: ReadonlyArray<ReferredFriendEdge>;
  /** The friends without their cursors. */
  readonly nodes: ReadonlyArray<ReferredFriend>;
  /** The position of this range in the whole list. */
  readonly pageInfo: PageInfo;
  /** How many friends the player referred. */
  readonly totalCount?: Maybe<Scalars['Int']['output']>;
};

/** A friend and its position in the list. */
export type ReferredFriendEdge = {
  readonly __typename?: 'ReferredFriendEdge';
  /** Identifies this position in the list; opaque. */
  readonly cursor: Scalars['String']['output'];
  /** The friend. */
  readonly node: ReferredFriend;
};

/** One page of the friends a player referred, with totals over all pages. */
export type ReferredFriendPage = {
  readonly __typename?: 'ReferredFriendPage';
  /** How many friends are on this page. */
  readonly count?: Maybe<Scalars['Int']['output']>;
  /** Whether there is a page after this one. */
  readonly hasNextPage: Scalars['Boolean']['output'];
  /** How many friends a page holds. */
  readonly limit: Scalars['Int']['output'];
  /** The friends on this page. */
  readonly nodes: ReadonlyArray<ReferredFriend>;
  /** The requested page. */
  readonly page: Scalars['Int']['output'];
  /** How many friends the player referred. */
  readonly total?: Maybe<Scalars['Int']['output']>;
  /** How many of them have completed the referral action. */
  readonly totalActive?: Maybe<Scalars['Int']['output']>;
  /** How many of them still have to complete the referral action. */
  readonly totalPending?: Maybe<Scalars['Int']['output']>;
};

/** What a player did. */
export type TrackEventsInput = {
  /** 1 to 500 events; no name twice. */
  readonly events: ReadonlyArray<EventInput>;
  /**
   * A key of your own for these events, 1 to 128 characters, so that sending them again cannot count them twice. For 24
   * hours, events with the same key and player are not sent to the service again: the response is that of the first
   * operation, or `outcome: UNKNOWN` if its outcome is not known. Use a new key, for example a UUID, for other events; the
   * same key with other events is rejected. Without a key, do not send events again whose outcome you do not know.
   */
  readonly idempotencyKey?: InputMaybe<Scalars['String']['input']>;
  /** Your own identifier of the player. */
  readonly playerUniqueId: Scalars['ID']['input'];
};

/** The outcome of `trackEvents`. */
export type TrackEventsPayload = {
  readonly __typename?: 'TrackEventsPayload';
  /** The names of the events that were received; empty when the input was rejected. */
  readonly eventNames: ReadonlyArray<Scalars['String']['output']>;
  /** The player as it is after the events were evaluated. Null when the input was rejected. */
  readonly player?: Maybe<Player>;
  /** The problems that the caller can correct in the input; empty when the events were received. */
  readonly userErrors: ReadonlyArray<UserError>;
};


/** The outcome of `trackEvents`. */
export type TrackEventsPayloadPlayerArgs = {
  lang?: InputMaybe<Scalars['LanguageCode']['input']>;
};

/** A player to create or update. */
export type UpsertPlayerInput = {
  /** What is known about the player. An attribute that is left out, null or empty stays as it is. */
  readonly attributes?: InputMaybe<PlayerAttributesInput>;
  /** The player's mobile device, for push notifications. */
  readonly device?: InputMaybe<DeviceInput>;
  /** Your own identifier of the player; 1 to 1,024 bytes of UTF-8. */
  readonly playerUniqueId: Scalars['ID']['input'];
};

/** The outcome of `upsertPlayer`. */
export type UpsertPlayerPayload = {
  readonly __typename?: 'UpsertPlayerPayload';
  /** The player as it is after the write. Null when the input was rejected. */
  readonly player?: Maybe<Player>;
  /** The player's identifier inside the referral and rewards service. */
  readonly serviceId?: Maybe<Scalars['ID']['output']>;
  /** The problems that the caller can correct in the input; empty when the write was done. */
  readonly userErrors: ReadonlyArray<UserError>;
};


/** The outcome of `upsertPlayer`. */
export type UpsertPlayerPayloadPlayerArgs = {
  lang?: InputMaybe<Scalars['LanguageCode']['input']>;
};

/** A problem in a mutation's input that the caller can correct. Nothing was written. */
export type UserError = {
  readonly __typename?: 'UserError';
  /** The kind of problem, for programs. */
  readonly code: UserErrorCode;
  /** The path to the invalid field of the input; it begins with `input`. Null when the problem is not in a single field. */
  readonly field?: Maybe<ReadonlyArray<Scalars['String']['output']>>;
  /** What is wrong and how to correct it, in a sentence for developers. */
  readonly message: Scalars['String']['output'];
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



export type ResolverTypeWrapper<T> = Promise<T> | T;


export type ResolverWithResolve<TResult, TParent, TContext, TArgs> = {
  resolve: ResolverFn<TResult, TParent, TContext, TArgs>;
};
export type Resolver<TResult, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = ResolverFn<TResult, TParent, TContext, TArgs> | ResolverWithResolve<TResult, TParent, TContext, TArgs>;

export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => Promise<TResult> | TResult;

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<TResult, TKey extends string, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

export type TypeResolveFn<TTypes, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  parent: TParent,
  context: TContext,
  info: GraphQLResolveInfo
) => Maybe<TTypes> | Promise<Maybe<TTypes>>;

export type IsTypeOfResolverFn<T = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (obj: T, context: TContext, info: GraphQLResolveInfo) => boolean | Promise<boolean>;

export type NextResolverFn<T> = () => Promise<T>;

export type DirectiveResolverFn<TResult = Record<PropertyKey, never>, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = (
  next: NextResolverFn<TResult>,
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;




/** Mapping of interface types */
export type ResolversInterfaceTypes<_RefType extends Record<string, unknown>> = {
  Node: ( WirePlayer );
};

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Collection: ResolverTypeWrapper<WireCollection>;
  Coupon: ResolverTypeWrapper<WireCoupon>;
  CouponCombination: ResolverTypeWrapper<CouponCombination>;
  CouponFilter: CouponFilter;
  CouponGroup: ResolverTypeWrapper<WireCouponGroup>;
  CouponOptions: ResolverTypeWrapper<WireCouponOptions>;
  CouponType: CouponType;
  CustomAttributes: ResolverTypeWrapper<Scalars['CustomAttributes']['output']>;
  Date: ResolverTypeWrapper<Scalars['Date']['output']>;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  DeletePlayerInput: DeletePlayerInput;
  DeletePlayerPayload: ResolverTypeWrapper<DeletePlayerPayload>;
  DeviceInput: DeviceInput;
  EventInput: EventInput;
  EventMetadata: ResolverTypeWrapper<Scalars['EventMetadata']['output']>;
  Float: ResolverTypeWrapper<Scalars['Float']['output']>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  LanguageCode: ResolverTypeWrapper<Scalars['LanguageCode']['output']>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Node: ResolverTypeWrapper<ResolversInterfaceTypes<ResolversTypes>['Node']>;
  PageInfo: ResolverTypeWrapper<PageInfo>;
  Player: ResolverTypeWrapper<WirePlayer>;
  PlayerAttributes: ResolverTypeWrapper<WirePlayerAttributes>;
  PlayerAttributesInput: PlayerAttributesInput;
  Product: ResolverTypeWrapper<WireProduct>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  ReferralStatus: ReferralStatus;
  ReferredFriend: ResolverTypeWrapper<WireReferredFriend>;
  ReferredFriendConnection: ResolverTypeWrapper<Omit<ReferredFriendConnection, 'edges' | 'nodes'> & { edges: ReadonlyArray<ResolversTypes['ReferredFriendEdge']>, nodes: ReadonlyArray<ResolversTypes['ReferredFriend']> }>;
  ReferredFriendEdge: ResolverTypeWrapper<ReferredFriendEdgeParent>;
  ReferredFriendPage: ResolverTypeWrapper<Omit<ReferredFriendPage, 'nodes'> & { nodes: ReadonlyArray<ResolversTypes['ReferredFriend']> }>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  TrackEventsInput: TrackEventsInput;
  TrackEventsPayload: ResolverTypeWrapper<TrackEventsParent>;
  URL: ResolverTypeWrapper<Scalars['URL']['output']>;
  UpsertPlayerInput: UpsertPlayerInput;
  UpsertPlayerPayload: ResolverTypeWrapper<UpsertPlayerParent>;
  UserError: ResolverTypeWrapper<UserError>;
  UserErrorCode: UserErrorCode;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Boolean: Scalars['Boolean']['output'];
  Collection: WireCollection;
  Coupon: WireCoupon;
  CouponCombination: CouponCombination;
  CouponFilter: CouponFilter;
  CouponGroup: WireCouponGroup;
  CouponOptions: WireCouponOptions;
  CustomAttributes: Scalars['CustomAttributes']['output'];
  Date: Scalars['Date']['output'];
  DateTime: Scalars['DateTime']['output'];
  DeletePlayerInput: DeletePlayerInput;
  DeletePlayerPayload: DeletePlayerPayload;
  DeviceInput: DeviceInput;
  EventInput: EventInput;
  EventMetadata: Scalars['EventMetadata']['output'];
  Float: Scalars['Float']['output'];
  ID: Scalars['ID']['output'];
  Int: Scalars['Int']['output'];
  LanguageCode: Scalars['LanguageCode']['output'];
  Mutation: Record<PropertyKey, never>;
  Node: ResolversInterfaceTypes<ResolversParentTypes>['Node'];
  PageInfo: PageInfo;
  Player: WirePlayer;
  PlayerAttributes: WirePlayerAttributes;
  PlayerAttributesInput: PlayerAttributesInput;
  Product: WireProduct;
  Query: Record<PropertyKey, never>;
  ReferredFriend: WireReferredFriend;
  ReferredFriendConnection: Omit<ReferredFriendConnection, 'edges' | 'nodes'> & { edges: ReadonlyArray<ResolversParentTypes['ReferredFriendEdge']>, nodes: ReadonlyArray<ResolversParentTypes['ReferredFriend']> };
  ReferredFriendEdge: ReferredFriendEdgeParent;
  ReferredFriendPage: Omit<ReferredFriendPage, 'nodes'> & { nodes: ReadonlyArray<ResolversParentTypes['ReferredFriend']> };
  String: Scalars['String']['output'];
  TrackEventsInput: TrackEventsInput;
  TrackEventsPayload: TrackEventsParent;
  URL: Scalars['URL']['output'];
  UpsertPlayerInput: UpsertPlayerInput;
  UpsertPlayerPayload: UpsertPlayerParent;
  UserError: UserError;
};

export type AccessDirectiveArgs = {
  exceptOwn?: Scalars['Boolean']['input'];
  names?: Maybe<Scalars['String']['input']>;
  player?: Maybe<Scalars['String']['input']>;
  scope: Scalars['String']['input'];
};

export type AccessDirectiveResolver<Result, Parent, ContextType = Context, Args = AccessDirectiveArgs> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type CostDirectiveArgs = {
  weight: Scalars['String']['input'];
};

export type CostDirectiveResolver<Result, Parent, ContextType = Context, Args = CostDirectiveArgs> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type FriendIdDirectiveArgs = { };

export type FriendIdDirectiveResolver<Result, Parent, ContextType = Context, Args = FriendIdDirectiveArgs> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type ListSizeDirectiveArgs = {
  assumedSize?: Maybe<Scalars['Int']['input']>;
  requireOneSlicingArgument?: Maybe<Scalars['Boolean']['input']>;
  sizedFields?: Maybe<ReadonlyArray<Scalars['String']['input']>>;
  slicingArguments?: Maybe<ReadonlyArray<Scalars['String']['input']>>;
};

export type ListSizeDirectiveResolver<Result, Parent, ContextType = Context, Args = ListSizeDirectiveArgs> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type RestDirectiveArgs = {
  operation: Scalars['String']['input'];
};

export type RestDirectiveResolver<Result, Parent, ContextType = Context, Args = RestDirectiveArgs> = DirectiveResolverFn<Result, Parent, ContextType, Args>;

export type CollectionResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Collection'] = ResolversParentTypes['Collection']> = {
  collectionId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  collectionName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type CouponResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Coupon'] = ResolversParentTypes['Coupon']> = {
  code?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  collections?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Collection']>>, ParentType, ContextType>;
  couponType?: Resolver<ResolversTypes['CouponType'], ParentType, ContextType>;
  creationDate?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  currency?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  endAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  group?: Resolver<Maybe<ResolversTypes['CouponGroup']>, ParentType, ContextType>;
  id?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  isExpired?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
  isUsed?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
  options?: Resolver<Maybe<ResolversTypes['CouponOptions']>, ParentType, ContextType>;
  product?: Resolver<Maybe<ResolversTypes['Product']>, ParentType, ContextType>;
  startAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  value?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
};

export type CouponCombinationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['CouponCombination'] = ResolversParentTypes['CouponCombination']> = {
  orderDiscounts?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
  productDiscounts?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
  shippingDiscounts?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
};

export type CouponGroupResolvers<ContextType = Context, ParentType extends ResolversParentTypes['CouponGroup'] = ResolversParentTypes['CouponGroup']> = {
  description?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  expiryDate?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  handle?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  iconPath?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  isActive?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
  isAvailable?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
  isValid?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
  maxPerPlayer?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  startDate?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  title?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  url?: Resolver<Maybe<ResolversTypes['URL']>, ParentType, ContextType>;
};

export type CouponOptionsResolvers<ContextType = Context, ParentType extends ResolversParentTypes['CouponOptions'] = ResolversParentTypes['CouponOptions']> = {
  capping?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  combinesWith?: Resolver<Maybe<ResolversTypes['CouponCombination']>, ParentType, ContextType>;
  expiryAfter?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  hasCollections?: Resolver<Maybe<ResolversTypes['Boolean']>, ParentType, ContextType>;
  minOrderValue?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  platforms?: Resolver<Maybe<ReadonlyArray<ResolversTypes['String']>>, ParentType, ContextType>;
  productDisplayName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  productId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  productName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  usageLimit?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  variantId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  variantName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export interface CustomAttributesScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['CustomAttributes'], any> {
  name: 'CustomAttributes';
}

export interface DateScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['Date'], any> {
  name: 'Date';
}

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type DeletePlayerPayloadResolvers<ContextType = Context, ParentType extends ResolversParentTypes['DeletePlayerPayload'] = ResolversParentTypes['DeletePlayerPayload']> = {
  deletedPlayerUniqueId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  userErrors?: Resolver<ReadonlyArray<ResolversTypes['UserError']>, ParentType, ContextType>;
};

export interface EventMetadataScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['EventMetadata'], any> {
  name: 'EventMetadata';
}

export interface LanguageCodeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['LanguageCode'], any> {
  name: 'LanguageCode';
}

export type MutationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  deletePlayer?: Resolver<Maybe<ResolversTypes['DeletePlayerPayload']>, ParentType, ContextType, RequireFields<MutationDeletePlayerArgs, 'input'>>;
  trackEvents?: Resolver<Maybe<ResolversTypes['TrackEventsPayload']>, ParentType, ContextType, RequireFields<MutationTrackEventsArgs, 'input'>>;
  upsertPlayer?: Resolver<Maybe<ResolversTypes['UpsertPlayerPayload']>, ParentType, ContextType, RequireFields<MutationUpsertPlayerArgs, 'input'>>;
};

export type NodeResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Node'] = ResolversParentTypes['Node']> = {
  __resolveType: TypeResolveFn<'Player', ParentType, ContextType>;
};

export type PageInfoResolvers<ContextType = Context, ParentType extends ResolversParentTypes['PageInfo'] = ResolversParentTypes['PageInfo']> = {
  endCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  hasNextPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  hasPreviousPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  startCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type PlayerResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Player'] = ResolversParentTypes['Player']> = {
  attributes?: Resolver<Maybe<ResolversTypes['PlayerAttributes']>, ParentType, ContextType>;
  coupons?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Coupon']>>, ParentType, ContextType, Partial<PlayerCouponsArgs>>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  playerUniqueId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  referralLink?: Resolver<Maybe<ResolversTypes['URL']>, ParentType, ContextType, Partial<PlayerReferralLinkArgs>>;
  referredFriends?: Resolver<Maybe<ResolversTypes['ReferredFriendPage']>, ParentType, ContextType, RequireFields<PlayerReferredFriendsArgs, 'limit' | 'page'>>;
  referredFriendsConnection?: Resolver<Maybe<ResolversTypes['ReferredFriendConnection']>, ParentType, ContextType, RequireFields<PlayerReferredFriendsConnectionArgs, 'first'>>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type PlayerAttributesResolvers<ContextType = Context, ParentType extends ResolversParentTypes['PlayerAttributes'] = ResolversParentTypes['PlayerAttributes']> = {
  avgOrderAmount?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  city?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  country?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  custom?: Resolver<Maybe<ResolversTypes['CustomAttributes']>, ParentType, ContextType>;
  dateOfBirth?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  displayName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  email?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  firstName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  gender?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  joinDate?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  lastName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  lastOrderDate?: Resolver<Maybe<ResolversTypes['Date']>, ParentType, ContextType>;
  mobile?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  tags?: Resolver<Maybe<ReadonlyArray<ResolversTypes['String']>>, ParentType, ContextType>;
  totalOrders?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  totalSpent?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  zip?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type ProductResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Product'] = ResolversParentTypes['Product']> = {
  productDisplayName?: Resolver<Maybe<ReadonlyArray<ResolversTypes['String']>>, ParentType, ContextType>;
  productId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  productName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  variantId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  variantName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type QueryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  me?: Resolver<Maybe<ResolversTypes['Player']>, ParentType, ContextType, Partial<QueryMeArgs>>;
  node?: Resolver<Maybe<ResolversTypes['Node']>, ParentType, ContextType, RequireFields<QueryNodeArgs, 'id'>>;
  player?: Resolver<Maybe<ResolversTypes['Player']>, ParentType, ContextType, RequireFields<QueryPlayerArgs, 'playerUniqueId'>>;
  players?: Resolver<Maybe<ReadonlyArray<Maybe<ResolversTypes['Player']>>>, ParentType, ContextType, RequireFields<QueryPlayersArgs, 'playerUniqueIds'>>;
};

export type ReferredFriendResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ReferredFriend'] = ResolversParentTypes['ReferredFriend']> = {
  displayName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  email?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  id?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  joinDate?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  mobileNumber?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  player?: Resolver<Maybe<ResolversTypes['Player']>, ParentType, ContextType, Partial<ReferredFriendPlayerArgs>>;
  playerUniqueId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  status?: Resolver<ResolversTypes['ReferralStatus'], ParentType, ContextType>;
};

export type ReferredFriendConnectionResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ReferredFriendConnection'] = ResolversParentTypes['ReferredFriendConnection']> = {
  edges?: Resolver<ReadonlyArray<ResolversTypes['ReferredFriendEdge']>, ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['ReferredFriend']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
  totalCount?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
};

export type ReferredFriendEdgeResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ReferredFriendEdge'] = ResolversParentTypes['ReferredFriendEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['ReferredFriend'], ParentType, ContextType>;
};

export type ReferredFriendPageResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ReferredFriendPage'] = ResolversParentTypes['ReferredFriendPage']> = {
  count?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  hasNextPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  limit?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  nodes?: Resolver<ReadonlyArray<ResolversTypes['ReferredFriend']>, ParentType, ContextType>;
  page?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  total?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  totalActive?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  totalPending?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
};

export type TrackEventsPayloadResolvers<ContextType = Context, ParentType extends ResolversParentTypes['TrackEventsPayload'] = ResolversParentTypes['TrackEventsPayload']> = {
  eventNames?: Resolver<ReadonlyArray<ResolversTypes['String']>, ParentType, ContextType>;
  player?: Resolver<Maybe<ResolversTypes['Player']>, ParentType, ContextType, Partial<TrackEventsPayloadPlayerArgs>>;
  userErrors?: Resolver<ReadonlyArray<ResolversTypes['UserError']>, ParentType, ContextType>;
};

export interface UrlScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['URL'], any> {
  name: 'URL';
}

export type UpsertPlayerPayloadResolvers<ContextType = Context, ParentType extends ResolversParentTypes['UpsertPlayerPayload'] = ResolversParentTypes['UpsertPlayerPayload']> = {
  player?: Resolver<Maybe<ResolversTypes['Player']>, ParentType, ContextType, Partial<UpsertPlayerPayloadPlayerArgs>>;
  serviceId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  userErrors?: Resolver<ReadonlyArray<ResolversTypes['UserError']>, ParentType, ContextType>;
};

export type UserErrorResolvers<ContextType = Context, ParentType extends ResolversParentTypes['UserError'] = ResolversParentTypes['UserError']> = {
  code?: Resolver<ResolversTypes['UserErrorCode'], ParentType, ContextType>;
  field?: Resolver<Maybe<ReadonlyArray<ResolversTypes['String']>>, ParentType, ContextType>;
  message?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type Resolvers<ContextType = Context> = {
  Collection?: CollectionResolvers<ContextType>;
  Coupon?: CouponResolvers<ContextType>;
  CouponCombination?: CouponCombinationResolvers<ContextType>;
  CouponGroup?: CouponGroupResolvers<ContextType>;
  CouponOptions?: CouponOptionsResolvers<ContextType>;
  CustomAttributes?: GraphQLScalarType;
  Date?: GraphQLScalarType;
  DateTime?: GraphQLScalarType;
  DeletePlayerPayload?: DeletePlayerPayloadResolvers<ContextType>;
  EventMetadata?: GraphQLScalarType;
  LanguageCode?: GraphQLScalarType;
  Mutation?: MutationResolvers<ContextType>;
  Node?: NodeResolvers<ContextType>;
  PageInfo?: PageInfoResolvers<ContextType>;
  Player?: PlayerResolvers<ContextType>;
  PlayerAttributes?: PlayerAttributesResolvers<ContextType>;
  Product?: ProductResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  ReferredFriend?: ReferredFriendResolvers<ContextType>;
  ReferredFriendConnection?: ReferredFriendConnectionResolvers<ContextType>;
  ReferredFriendEdge?: ReferredFriendEdgeResolvers<ContextType>;
  ReferredFriendPage?: ReferredFriendPageResolvers<ContextType>;
  TrackEventsPayload?: TrackEventsPayloadResolvers<ContextType>;
  URL?: GraphQLScalarType;
  UpsertPlayerPayload?: UpsertPlayerPayloadResolvers<ContextType>;
  UserError?: UserErrorResolvers<ContextType>;
};

export type DirectiveResolvers<ContextType = Context> = {
  access?: AccessDirectiveResolver<any, any, ContextType>;
  cost?: CostDirectiveResolver<any, any, ContextType>;
  friendId?: FriendIdDirectiveResolver<any, any, ContextType>;
  listSize?: ListSizeDirectiveResolver<any, any, ContextType>;
  rest?: RestDirectiveResolver<any, any, ContextType>;
};
