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
 * The player, created when unknown, and held until the transaction ends: the write that changes nothing makes other
 * writers of this player wait, on both databases and in one statement.
 */
export async function takePlayer(queries: Queries, playerUniqueId: string, now: number): Promise<PlayerRow> {
  const serviceId = randomUUID();
  const player = await queries
    .insertInto('players')
    .values({
      player_unique_id: playerUniqueId,
      service_id: serviceId,
      referral_code: randomBytes(12).toString('base64url'),
      attributes: null,
      device_token: null,
      os_type: null,
      created_at: now,
    })
    .onConflict((conflict) =>
      conflict.column('player_unique_id').doUpdateSet((to) => ({ created_at: to.ref('players.created_at') })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  if (player.service_id === serviceId) await queries.insertInto('totals').values({ player_id: player.id }).execute();
  return player;
}

/** The player, held like in `takePlayer`, or undefined when there is none. */
export function takeKnownPlayer(queries: Queries, playerUniqueId: string): Promise<PlayerRow | undefined> {
  return queries
    .updateTable('players')
    .set((to) => ({ created_at: to.ref('created_at') }))
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

/** Deletes a player. What hangs on the row goes with it; the totals of others do not. */
export async function removePlayer(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('players').where('id', '=', id).execute();
}
