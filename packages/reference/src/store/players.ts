import { randomBytes, randomUUID } from 'node:crypto';
import type { Selectable, Updateable } from 'kysely';
import type { Wire } from '../wire/response.ts';
import { type Queries, slicesOf } from './store.ts';
import type { PlayersTable } from './tables.ts';

export type PlayerRow = Selectable<PlayersTable>;

/**
 * How many events one statement stores. It has four parameters for each: SQLite takes 32,766 parameters in a statement,
 * PostgreSQL 65,535. Small, because each number of events is a statement of its own, which costs memory to prepare.
 */
const EVENTS_PER_INSERT = 100;

export function findPlayer(queries: Queries, playerUniqueId: string): Promise<PlayerRow | undefined> {
  return queries.selectFrom('players').selectAll().where('player_unique_id', '=', playerUniqueId).executeTakeFirst();
}

export type PlayerAttributes = Wire['PlayerAttributes'];

export function attributeColumns({ displayName, email, mobile, joinDate, ...more }: PlayerAttributes) {
  return {
    display_name: displayName ?? null,
    email: email ?? null,
    mobile: mobile ?? null,
    join_date: joinDate ?? null,
    more_attributes: JSON.stringify(more),
  };
}

/** The attributes of a player; undefined before the first ones arrived. */
export function attributesOf(row: PlayerRow): PlayerAttributes | undefined {
  if (row.more_attributes === null) return undefined;
  const more: PlayerAttributes = JSON.parse(row.more_attributes);
  const { display_name: displayName, email, mobile, join_date: joinDate } = row;
  const columns = Object.entries({ displayName, email, mobile, joinDate }).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(columns), ...more };
}

export function findPlayerId(queries: Queries, by: { player_unique_id: string } | { referral_code: string }) {
  return queries
    .selectFrom('players')
    .select('id')
    .where((where) => where.and(by))
    .executeTakeFirst();
}

/**
 * Creates the player if it is unknown, and locks its row until the transaction ends. The update that changes nothing is
 * the lock: one statement that works on both databases.
 */
export async function lockOrCreatePlayer(queries: Queries, playerUniqueId: string, now: number): Promise<PlayerRow> {
  const serviceId = randomUUID();
  const player = await queries
    .insertInto('players')
    .values({
      player_unique_id: playerUniqueId,
      service_id: serviceId,
      referral_code: randomBytes(12).toString('base64url'),
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

/** Locks the player's row until the transaction ends; undefined if there is no such player. */
export function lockPlayer(queries: Queries, playerUniqueId: string): Promise<PlayerRow | undefined> {
  return queries
    .updateTable('players')
    .set((to) => ({ created_at: to.ref('created_at') }))
    .where('player_unique_id', '=', playerUniqueId)
    .returningAll()
    .executeTakeFirst();
}

export async function updatePlayer(queries: Queries, id: number, changes: Updateable<PlayersTable>): Promise<void> {
  if (Object.keys(changes).length > 0) await queries.updateTable('players').set(changes).where('id', '=', id).execute();
}

/** Deletes a player with all rows that reference it. The caller must update the totals of the referrer. */
export async function deletePlayer(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('players').where('id', '=', id).execute();
}

export async function addEvents(
  queries: Queries,
  playerId: number,
  events: readonly { name: string; metadata: string }[],
  now: number,
): Promise<void> {
  for (const slice of slicesOf(events, EVENTS_PER_INSERT)) {
    const rows = slice.map((event) => ({ ...event, player_id: playerId, received_at: now }));
    await queries.insertInto('events').values(rows).execute();
  }
}

export async function hasSentEvent(queries: Queries, playerId: number, name: string): Promise<boolean> {
  const row = await queries
    .selectFrom('events')
    .select('id')
    .where('player_id', '=', playerId)
    .where('name', '=', name)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
