import type { Generated } from 'kysely';

/*
 * The tables on both databases. Times are milliseconds since 1970 in UTC. What is never searched is stored as JSON
 * text, which SQLite and PostgreSQL read alike.
 */

/** An end user of the client's platform. Deleting the row deletes all rows that reference it. */
export interface PlayersTable {
  id: Generated<number>;
  player_unique_id: string;
  service_id: string;
  /** The last part of the referral link; random. */
  referral_code: string;
  created_at: number;
  device_token: string | null;
  os_type: string | null;
  /** The attributes that a page of friends shows have columns of their own. */
  display_name: string | null;
  email: string | null;
  mobile: string | null;
  join_date: string | null;
  /** All other attributes (JSON object); null until the first attributes of any kind arrive. */
  more_attributes: string | null;
}

/**
 * How many friends a player referred, written in the same transaction as the referrals. Counting them takes 4 ms for
 * 100,000 friends. Not columns of `players`: a friend's request locks the friend's row and then its referrer's totals.
 * If both were one row, two players who refer each other would deadlock.
 */
interface TotalsTable {
  player_id: number;
  pending_friends: Generated<number>;
  active_friends: Generated<number>;
  /** The position of the friend that was referred last. */
  last_position: Generated<number>;
}

/** A contact left on the landing page of a referrer. Among equal contacts, the lowest id was left first. */
export interface ContactsTable {
  id: Generated<number>;
  referrer_id: number;
  kind: 'email' | 'mobile';
  /** The form in which contacts are compared. */
  value: string;
  given_at: number;
  /** A player that has or had this contact; the row is deleted with that player. A contact that has counted has no row. */
  counted_for: number | null;
}

/** A player that was referred. A player is referred at most once, so the friend is the key. */
interface ReferralsTable {
  friend_id: number;
  referrer_id: number;
  status: 'pending' | 'active';
  /** The place in the referrer's list, given under the lock of its totals: the order of commits. Never used twice. */
  position: number;
  referred_at: number;
}

export interface CouponsTable {
  id: Generated<number>;
  code: string;
  player_id: number;
  group_handle: string;
  /** The group of the programme when the coupon was issued (JSON object): coupons outlive a change of the programme. */
  definition: string;
  created_at: number;
  start_at: number | null;
  end_at: number | null;
  /** How often the coupon can be used; null for any number of times. */
  usage_limit: number | null;
  uses: Generated<number>;
}

export interface Tables {
  players: PlayersTable;
  totals: TotalsTable;
  contacts: ContactsTable;
  /**
   * The keyed hashes of contacts that have counted or that a deleted player had. They are never deleted. The row of the
   * time 0 is the mark of the keys.
   */
  counted_contacts: { hash: string; counted_at: number };
  /** The keyed hashes of contacts that a player had before its present ones. */
  earlier_contacts: { player_id: number; hash: string };
  referrals: ReferralsTable;
  coupons: CouponsTable;
  events: { id: Generated<number>; player_id: number; name: string; metadata: string; received_at: number };
  /** How many forms of the landing page came from an address or for a link, by the keyed hash of it, until a time. */
  form_counts: { key: string; count: number; until: number };
  /** Values of the store itself: `contact-hash-key`, the inner one of the two keys of the hashes. */
  service_state: { name: string; value: string };
}
