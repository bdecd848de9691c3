import type { Generated } from 'kysely';
import type { CouponTemplate } from '../programme/schema.ts';

/*
 * The tables, as both databases hold them. Instants are whole milliseconds since 1970 in UTC, flags are 0 or 1, and what
 * is stored as it came and never searched is JSON text: one form that libsql and PostgreSQL read alike.
 */

/** An end user of the client's platform. Deleting the row deletes everything that hangs on it. */
export interface PlayersTable {
  id: Generated<number>;
  /** The client's own identifier; case counts. */
  player_unique_id: string;
  /** The identifier inside this service, given out at creation. */
  service_id: string;
  /** What the referral link ends with; cannot be guessed. */
  referral_code: string;
  /** The attributes (JSON object), or null until the first attributes arrive: then a referral is looked for. */
  attributes: string | null;
  device_token: string | null;
  os_type: string | null;
  created_at: number;
}

/**
 * How many friends a player referred, kept in the same transaction as the referrals that it counts. A row of its own
 * beside each player's: a friend's request changes its referrer's totals while it holds the friend, and two players who
 * refer each other would wait for each other if totals and players were the same rows.
 */
export interface TotalsTable {
  player_id: number;
  pending_friends: Generated<number>;
  active_friends: Generated<number>;
}

/** A contact left on the landing page of a referrer. The lowest id among equal contacts was given first. */
export interface ContactsTable {
  id: Generated<number>;
  referrer_id: number;
  kind: 'email' | 'mobile';
  /** In the form in which contacts are compared. */
  value: string;
  given_at: number;
  /** The player this contact was counted for; one contact counts once. */
  counted_for: number | null;
}

/** A player that was referred. A player is referred at most once, so the friend is the key. */
export interface ReferralsTable {
  friend_id: number;
  referrer_id: number;
  status: 'pending' | 'active';
  referred_at: number;
  activated_at: number | null;
}

/** A kind of coupon, as the programme describes it; kept here so that coupons outlive a change of the programme. */
export interface CouponGroupsTable {
  handle: string;
  /** The group as the programme says it (JSON object). */
  definition: string;
}

export interface CouponsTable {
  id: Generated<number>;
  code: string;
  player_id: number;
  group_handle: string;
  coupon_type: CouponTemplate['type'];
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
}

export interface EventsTable {
  id: Generated<number>;
  player_id: number;
  name: string;
  metadata: string;
  received_at: number;
}

export interface Tables {
  players: PlayersTable;
  totals: TotalsTable;
  contacts: ContactsTable;
  referrals: ReferralsTable;
  coupon_groups: CouponGroupsTable;
  coupons: CouponsTable;
  events: EventsTable;
}
