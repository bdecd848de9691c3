import { randomBytes, randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Queries } from './store.ts';
import type { PlayersTable } from './tables.ts';

export type PlayerRow = Selectable<PlayersTable>;

export function findPlayer(queries: Queries, playerUniqueId: string): Promise<PlayerRow | undefined> {
  return queries.selectFrom('players').selectAll().where('player_unique_id', '=', playerUniqueId).executeTakeFirst();
}

export function findPlayerByCode(queries: Queries, referralCode: string): Promise<PlayerRow | undefined> {
  return queries.selectFrom('players').selectAll().where('referral_code', '=', referralCode).executeTakeFirst();
}

/**
 * The player, created when unknown, and locked until the transaction ends: the write that changes nothing makes other
 * writers of this player wait, on both databases and in one statement.
 */
export function takePlayer(queries: Queries, playerUniqueId: string, now: number): Promise<PlayerRow> {
  return queries
    .insertInto('players')
    .values({
      player_unique_id: playerUniqueId,
      service_id: randomUUID(),
      referral_code: randomBytes(12).toString('base64url'),
      attributes: null,
      device_token: null,
      os_type: null,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('player_unique_id').doUpdateSet({ player_unique_id: playerUniqueId }))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The player, locked like in `takePlayer`, or undefined when there is none. */
export function takeKnownPlayer(queries: Queries, playerUniqueId: string): Promise<PlayerRow | undefined> {
  return queries
    .updateTable('players')
    .set({ player_unique_id: playerUniqueId })
    .where('player_unique_id', '=', playerUniqueId)
    .returningAll()
    .executeTakeFirst();
}

export async function updatePlayer(
  queries: Queries,
  id: number,
  changes: Partial<Pick<PlayerRow, 'attributes' | 'device_token' | 'os_type'>>,
): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  await queries.updateTable('players').set(changes).where('id', '=', id).execute();
}

/** Deletes a player that was taken before. What hangs on the row goes with it; totals of others do not. */
export async function removePlayer(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('players').where('id', '=', id).execute();
}
