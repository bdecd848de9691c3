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
