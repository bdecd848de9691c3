import type { Queries } from './store.ts';

export async function addEvents(
  queries: Queries,
  playerId: number,
  events: readonly { name: string; metadata: string }[],
  now: number,
): Promise<void> {
  await queries
    .insertInto('events')
    .values(events.map((event) => ({ ...event, player_id: playerId, received_at: now })))
    .execute();
}

/** When the player first sent an event of this name; undefined if it never did. */
export async function firstEventAt(queries: Queries, playerId: number, name: string): Promise<number | undefined> {
  const row = await queries
    .selectFrom('events')
    .select('received_at')
    .where('player_id', '=', playerId)
    .where('name', '=', name)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row?.received_at;
}
