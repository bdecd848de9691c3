import type { FastifyInstance } from 'fastify';
import { recogniseAction } from '../programme/referral.ts';
import type { Service } from '../service.ts';
import { addEvents } from '../store/events.ts';
import { lockOrCreatePlayer } from '../store/players.ts';
import { decode } from '../wire/decode.ts';
import { trackedEvents } from '../wire/event.ts';

export function eventRoutes(app: FastifyInstance, service: Service): void {
  app.post('/integrations/event', async (request, reply) => {
    const { playerUniqueId, events } = decode(trackedEvents, request.body, 'The body');
    await trackEvents(service, playerUniqueId, events);
    return reply.send();
  });
}

/** Stores a player's events, by name with their metadata, and creates the player if it is unknown. */
export function trackEvents(
  { store, programme, now }: Service,
  playerUniqueId: string,
  events: Readonly<Record<string, object>>,
): Promise<void> {
  const rows = Object.entries(events).map(([name, metadata]) => ({ name, metadata: JSON.stringify(metadata) }));
  const time = now();
  return store.write(async (queries) => {
    const player = await lockOrCreatePlayer(queries, playerUniqueId, time);
    await addEvents(queries, player.id, rows, time);
    await recogniseAction(queries, programme, player.id, Object.keys(events), time);
  });
}
