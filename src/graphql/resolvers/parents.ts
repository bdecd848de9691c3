/* The parents of resolvers that exist only in GraphQL; all others are the wire types of the REST client. */
import type { Coupon, ReferredFriend } from '../../rest/wire.ts';
import type { Referrals } from '../loaders/referral.ts';
import type { UserError } from '../loaders/writes.ts';

/** An object, with its `id` where that is selected. */
export type WithId<Item> = Item | (Item & { id: string });

export type CouponParent = WithId<Coupon>;
export type ReferredFriendParent = WithId<ReferredFriend>;

/** What was found in a player's list of referred friends. */
interface ReferralsParent extends Referrals {
  /** The player who referred them. */
  owner: string;
}

/** A page of referred friends as it was requested, and what was found. */
export interface ReferralPageParent extends ReferralsParent {
  page: number;
  limit: number;
}

/** A range of the list of referred friends: its first row, how many were requested, and what was found. */
export interface ReferralConnectionParent extends ReferralsParent {
  from: number;
  first: number;
}

/** The outcome of a write to a player; when there are user errors, nothing was written. */
export interface WriteParent {
  playerUniqueId: string;
  userErrors: readonly UserError[];
}

export interface UpsertPlayerParent extends WriteParent {
  serviceId: string | null;
}

export interface TrackEventsParent extends WriteParent {
  eventNames: readonly string[];
}
