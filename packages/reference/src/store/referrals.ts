import { sql } from 'kysely';
import type { Queries } from './store.ts';

/** A referral with what a list shows of the friend. */
export type FriendRow = Awaited<ReturnType<typeof listFriends>>[number];

/** The two players of a referral, by their ids in the store. */
export interface Referral {
  friend: number;
  referrer: number;
}

interface Totals {
  pending: number;
  active: number;
}

/** Stores a pending referral at the end of the referrer's list. The referrer's totals must be locked. */
export async function addReferral(queries: Queries, { friend, referrer }: Referral, now: number): Promise<void> {
  const { last_position } = await queries
    .updateTable('totals')
    .set({ pending_friends: sql`pending_friends + 1`, last_position: sql`last_position + 1` })
    .where('player_id', '=', referrer)
    .returning('last_position')
    .executeTakeFirstOrThrow();
  await queries
    .insertInto('referrals')
    .values({ friend_id: friend, referrer_id: referrer, status: 'pending', position: last_position, referred_at: now })
    .execute();
}

/** Makes a pending referral active; undefined if there is no pending one. The caller must update the totals. */
export async function activateReferral(queries: Queries, friend: number): Promise<Referral | undefined> {
  const row = await queries
    .updateTable('referrals')
    .set({ status: 'active' })
    .where('friend_id', '=', friend)
    .where('status', '=', 'pending')
    .returning('referrer_id')
    .executeTakeFirst();
  return row && { friend, referrer: row.referrer_id };
}

/** Subtracts a friend that is about to be deleted from its referrer's totals. */
export async function removeReferral(queries: Queries, friendId: number): Promise<void> {
  const referral = await queries
    .selectFrom('referrals')
    .select(['referrer_id', 'status'])
    .where('friend_id', '=', friendId)
    .executeTakeFirst();
  if (referral) await addToTotals(queries, referral.referrer_id, { pending: 0, active: 0, [referral.status]: -1 });
}

export async function readTotals(queries: Queries, playerId: number): Promise<Totals> {
  const { pending_friends, active_friends } = await queries
    .selectFrom('totals')
    .select(['pending_friends', 'active_friends'])
    .where('player_id', '=', playerId)
    .executeTakeFirstOrThrow();
  return { pending: pending_friends, active: active_friends };
}

/**
 * Locks a player's totals until the transaction ends; false if there is no such player. Coupons are issued and friends
 * are added only under this lock. The update that changes nothing is the lock: one statement for both databases.
 */
export function lockTotals(queries: Queries, playerId: number): Promise<boolean> {
  return addToTotals(queries, playerId, { pending: 0, active: 0 });
}

/** Changes a player's totals and locks them; false if there is no such player. */
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

/** A page of a referrer's friends, in the order of their referrals. The inner query reads the index alone. */
export function listFriends(queries: Queries, referrerId: number, offset: number, limit: number) {
  return queries
    .selectFrom((from) =>
      from
        .selectFrom('referrals')
        .select(['friend_id', 'position'])
        .where('referrer_id', '=', referrerId)
        .orderBy('position')
        .limit(limit)
        .offset(offset)
        .as('page'),
    )
    .innerJoin('referrals', 'referrals.friend_id', 'page.friend_id')
    .innerJoin('players', 'players.id', 'page.friend_id')
    .select(['player_unique_id', 'display_name', 'email', 'mobile', 'join_date', 'created_at', 'referrals.status'])
    .orderBy('page.position')
    .execute();
}
