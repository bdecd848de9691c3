/*
 * The parameters and results of the REST client.
 *
 * The generated types are those of the interface document. The types here are the result of lenient decoding, in the form of
 * GraphQL results: dates in UTC with milliseconds, ids as text, members in camelCase, and undefined for members that are
 * absent, null or could not be decoded. Results can be shared between operations: they must not be changed.
 */
import type { components } from '../generated/rest.ts';

type Schemas = components['schemas'];

/** The names of the wire in upper case, and `UNKNOWN` for one that this gateway does not know. */
export type CouponType = Uppercase<NonNullable<Schemas['Coupon']['couponType']>> | 'UNKNOWN';
export type ReferralStatus = Uppercase<NonNullable<Schemas['ReferredFriend']['status']>> | 'UNKNOWN';

export interface Player {
  /** The same as `playerUniqueId`. GraphQL clients normalise their caches by it. */
  id: string;
  /** The requested id. */
  playerUniqueId: string;
  attributes: PlayerAttributes | undefined;
  referralLink: string | undefined;
}

export interface PlayerAttributes {
  displayName: string | undefined;
  firstName: string | undefined;
  lastName: string | undefined;
  mobile: string | undefined;
  gender: string | undefined;
  email: string | undefined;
  dateOfBirth: string | undefined;
  joinDate: string | undefined;
  tags: string[] | undefined;
  country: string | undefined;
  city: string | undefined;
  zip: string | undefined;
  totalSpent: number | undefined;
  totalOrders: number | undefined;
  /** A calendar date, `2025-05-01`. */
  lastOrderDate: string | undefined;
  avgOrderAmount: number | undefined;
  custom: Record<string, string | number> | undefined;
}

export interface Coupon {
  code: string | undefined;
  isUsed: boolean | undefined;
  value: number | undefined;
  currency: string | undefined;
  creationDate: string | undefined;
  couponType: CouponType;
  product: Product | undefined;
  startAt: string | undefined;
  endAt: string | undefined;
  isExpired: boolean | undefined;
  collections: Collection[] | undefined;
  group: CouponGroup | undefined;
  options: CouponOptions | undefined;
}

export interface Product {
  productId: string | undefined;
  productName: string | undefined;
  productDisplayName: string[] | undefined;
  variantId: string | undefined;
  variantName: string | undefined;
}

export interface Collection {
  collectionId: string | undefined;
  collectionName: string | undefined;
}

export interface CouponGroup {
  handle: string | undefined;
  title: string | undefined;
  url: string | undefined;
  iconPath: string | undefined;
  description: string | undefined;
  maxPerPlayer: number | undefined;
  startDate: string | undefined;
  expiryDate: string | undefined;
  isAvailable: boolean | undefined;
  isValid: boolean | undefined;
  isActive: boolean | undefined;
}

export interface CouponOptions {
  expiryAfter: number | undefined;
  usageLimit: number | undefined;
  capping: number | undefined;
  minOrderValue: number | undefined;
  combinesWith: CouponCombination | undefined;
  productId: string | undefined;
  productName: string | undefined;
  variantId: string | undefined;
  variantName: string | undefined;
  productDisplayName: string | undefined;
  hasCollections: boolean | undefined;
  platforms: string[] | undefined;
}

export interface CouponCombination {
  shippingDiscounts: boolean | undefined;
  productDiscounts: boolean | undefined;
  orderDiscounts: boolean | undefined;
}

export interface ReferredFriend {
  playerUniqueId: string | undefined;
  displayName: string | undefined;
  email: string | undefined;
  mobileNumber: string | undefined;
  joinDate: string | undefined;
  status: ReferralStatus;
}

export interface ReferralPage {
  referredFriends: ReferredFriend[];
  count: number | undefined;
  total: number | undefined;
  totalPending: number | undefined;
  totalActive: number | undefined;
}

export interface PlayerUpsertResponse {
  playerUniqueId: string;
  serviceId: string | undefined;
  referralLink: string | undefined;
}

/** The members of a request body; null and undefined are not sent. */
type Sendable<Body> = { [Member in keyof Body]?: Body[Member] | null | undefined };

export type PlayerUpsertRequest = Sendable<
  Omit<Schemas['PlayerUpsertRequest'], 'playerUniqueId' | 'playerAttributes'>
> & {
  playerUniqueId: string;
  playerAttributes?: Sendable<Schemas['PlayerAttributes']> | null | undefined;
};

export type TrackEventsRequest = Schemas['TrackEventsRequest'];
