import { type Selectable, sql } from 'kysely';
import type { Contact } from '../programme/contacts.ts';
import type { Queries } from './store.ts';
import type { ReferralsTable } from './tables.ts';

export type ReferralRow = Selectable<ReferralsTable>;
export type ReferralStatus = ReferralRow['status'];

/** A referral with what a list shows of the friend. */
export interface FriendRow {
  player_unique_id: string;
  attributes: string | null;
  created_at: number;
  status: ReferralStatus;
}

/** Keeps a contact that was left at a referrer's link. Left there again, it stays where it was in the order. */
export async function addContact(
  queries: Queries,
  referrerId: number,
  { kind, value }: Contact,
  now: number,
): Promise<void> {
  await queries
    .insertInto('contacts')
    .values({ referrer_id: referrerId, kind, value, given_at: now, counted_for: null })
    .onConflict((conflict) => conflict.columns(['referrer_id', 'kind', 'value']).doNothing())
    .execute();
}

/** Who was given one of these contacts first, the friend's own link aside. */
export function firstContact(queries: Queries, friendId: number, contacts: readonly Contact[]) {
  return queries
    .selectFrom('contacts')
    .select(['id', 'referrer_id', 'counted_for'])
    .where((where) => where.or(contacts.map((contact) => where.and({ ...contact }))))
    .where('referrer_id', '!=', friendId)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

/** Marks a contact as counted for a friend; false when it was counted for somebody in the meantime. */
export async function countContact(queries: Queries, contactId: number, friendId: number): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('contacts')
    .set({ counted_for: friendId })
    .where('id', '=', contactId)
    .where('counted_for', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export async function addReferral(queries: Queries, friendId: number, referrerId: number, now: number): Promise<void> {
  await queries
    .insertInto('referrals')
    .values({ friend_id: friendId, referrer_id: referrerId, status: 'pending', referred_at: now, activated_at: null })
    .execute();
}

export function findReferral(queries: Queries, friendId: number): Promise<ReferralRow | undefined> {
  return queries.selectFrom('referrals').selectAll().where('friend_id', '=', friendId).executeTakeFirst();
}

/** Makes a pending referral active; undefined when there is none to make so. */
export function activateReferral(queries: Queries, friendId: number, now: number): Promise<ReferralRow | undefined> {
  return queries
    .updateTable('referrals')
    .set({ status: 'active', activated_at: now })
    .where('friend_id', '=', friendId)
    .where('status', '=', 'pending')
    .returningAll()
    .executeTakeFirst();
}

export interface Totals {
  pending: number;
  active: number;
}

export async function readTotals(queries: Queries, playerId: number): Promise<Totals> {
  const { pending_friends, active_friends } = await queries
    .selectFrom('totals')
    .selectAll()
    .where('player_id', '=', playerId)
    .executeTakeFirstOrThrow();
  return { pending: pending_friends, active: active_friends };
}

/**
 * Adds to a player's totals and holds them until the transaction ends; false when there is no such player any more. Who
 * holds a player's totals is also the only one who gives that player coupons.
 */
export async function addToTotals(queries: Queries, playerId: number, { pending, active }: Totals): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('totals')
    .set({
      pending_friends: sql`pending_friends + ${sql.lit(pending)}`,
      active_friends: sql`active_friends + ${sql.lit(active)}`,
    })
    .where('player_id', '=', playerId)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * A stretch of a referrer's friends, in the order in which they were referred. The index alone finds where the stretch
 * begins; only its friends are then looked up.
 */
export function listFriends(queries: Queries, referrerId: number, offset: number, limit: number): Promise<FriendRow[]> {
  return queries
    .selectFrom((from) =>
      from
        .selectFrom('referrals')
        .select(['friend_id', 'referred_at'])
        .where('referrer_id', '=', referrerId)
        .orderBy('referred_at')
        .orderBy('friend_id')
        .limit(limit)
        .offset(offset)
        .as('stretch'),
    )
    .innerJoin('referrals', 'referrals.friend_id', 'stretch.friend_id')
    .innerJoin('players', 'players.id', 'stretch.friend_id')
    .select(['players.player_unique_id', 'players.attributes', 'players.created_at', 'referrals.status'])
    .orderBy('stretch.referred_at')
    .orderBy('stretch.friend_id')
    .execute();
}
