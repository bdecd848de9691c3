import type { Generated } from 'kysely';

/*
 * The tables on both databases. Times are milliseconds since 1970 in UTC, flags are 0 or 1. What is never searched is
 * stored as JSON text, which libsql and PostgreSQL read alike.
 */

/** An end user of the client's platform. Deleting the row deletes all rows that reference it. */
export interface PlayersTable {
  id: Generated<number>;
  /** The client's own identifier; case-sensitive. */
  player_unique_id: string;
  /** The identifier inside this service, assigned at creation. */
  service_id: string;
  /** The last part of the referral link; random. */
  referral_code: string;
  /** The attributes (JSON object), or null until the first attributes arrive. */
  attributes: string | null;
  device_token: string | null;
  os_type: string | null;
  created_at: number;
  /** When the first attributes arrived and the referral was decided; null before, and in rows from before migration 2. */
  first_attributes_at: number | null;
  /** The decision, for the operator's report. */
  referral_outcome: ReferralOutcome | null;
}

/** Why a player was referred or not. */
export type ReferralOutcome = 'counted' | 'no-contact' | 'not-left' | 'own-link' | 'expired' | 'counted-before';

/**
 * How many friends a player referred, written in the same transaction as the referrals. Not columns of `players`: a
 * friend's request locks the friend's row and then its referrer's totals. If both were one row, two players who refer
 * each other would deadlock.
 */
interface TotalsTable {
  player_id: number;
  pending_friends: Generated<number>;
  active_friends: Generated<number>;
}

/** A contact left on the landing page of a referrer. Among equal contacts, the lowest id was left first. */
export interface ContactsTable {
  id: Generated<number>;
  referrer_id: number;
  kind: 'email' | 'mobile';
  /** The form in which contacts are compared. */
  value: string;
  given_at: number;
  /** The friend whose referral this contact has counted for; the row is deleted with that friend. */
  counted_for: number | null;
}

/** The keyed hashes of all contacts that have ever counted. They are never deleted, not even with the player. */
interface CountedContactsTable {
  hash: string;
  counted_at: number;
}

/** A player that was referred. A player is referred at most once, so the friend is the key. */
interface ReferralsTable {
  friend_id: number;
  referrer_id: number;
  status: 'pending' | 'active';
  referred_at: number;
  activated_at: number | null;
}

/** A kind of coupon, as the programme describes it; stored so that coupons outlive a change of the programme. */
export interface CouponGroupsTable {
  handle: string;
  /** The group of the programme (JSON object). */
  definition: string;
}

export const COUPON_TYPES = [
  'free_shipping',
  'percentage_discount',
  'fixed_discount',
  'free_product',
  'fixed_rate_discount',
  'custom',
] as const;

export interface CouponsTable {
  id: Generated<number>;
  code: string;
  player_id: number;
  group_handle: string;
  coupon_type: (typeof COUPON_TYPES)[number];
  value: number | null;
  currency: string | null;
  created_at: number;
  start_at: number | null;
  end_at: number | null;
  product: string | null;
  collections: string | null;
  options: string | null;
  /** How often the coupon can be used; null for any number of times. */
  usage_limit: number | null;
  uses: Generated<number>;
  /** The step of the referral that the coupon rewards, or `operator`; null in rows from before migration 2. */
  reason: CouponReason | null;
  /** The friend of that referral; null when the operator issued the coupon or the friend was deleted. */
  friend_id: number | null;
}

type CouponReason = 'pending' | 'active' | 'operator';

interface EventsTable {
  id: Generated<number>;
  player_id: number;
  name: string;
  metadata: string;
  received_at: number;
}

/** Values of the store itself: `contact-hash-key` and `demo`. */
interface ServiceStateTable {
  name: string;
  value: string;
}

export interface Tables {
  players: PlayersTable;
  totals: TotalsTable;
  contacts: ContactsTable;
  counted_contacts: CountedContactsTable;
  referrals: ReferralsTable;
  coupon_groups: CouponGroupsTable;
  coupons: CouponsTable;
  events: EventsTable;
  service_state: ServiceStateTable;
}
