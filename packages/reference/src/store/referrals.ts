import { sql } from 'kysely';
import type { Queries } from './store.ts';

/** A referral with what a list shows of the friend. */
export type FriendRow = Awaited<ReturnType<typeof listFriends>>[number];

export function findReferral(queries: Queries, friendId: number) {
  return queries.selectFrom('referrals').selectAll().where('friend_id', '=', friendId).executeTakeFirst();
}

/** Makes a pending referral active; undefined if there is no pending one. */
export function activateReferral(queries: Queries, friendId: number, now: number) {
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
 * Adds to a player's totals and locks them until the transaction ends; false if there is no such player. Coupons are
 * issued only under the lock of the player's totals.
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

export function lockTotals(queries: Queries, playerId: number): Promise<boolean> {
  return addToTotals(queries, playerId, { pending: 0, active: 0 });
}

/** A page of a referrer's friends, in the order of their referrals. The inner query reads the index alone. */
export function listFriends(queries: Queries, referrerId: number, offset: number, limit: number) {
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
        .as('page'),
    )
    .innerJoin('referrals', 'referrals.friend_id', 'page.friend_id')
    .innerJoin('players', 'players.id', 'page.friend_id')
    .select(['players.player_unique_id', 'players.attributes', 'players.created_at', 'referrals.status'])
    .orderBy('page.referred_at')
    .orderBy('page.friend_id')
    .execute();
}
