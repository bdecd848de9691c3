import type { FastifyInstance } from 'fastify';
import { recogniseAction } from '../programme/referral.ts';
import type { Service } from '../service.ts';
import { addEvents } from '../store/events.ts';
import { lockOrCreatePlayer } from '../store/players.ts';
import { decode } from '../wire/decode.ts';
import { trackedEvents } from '../wire/event.ts';

export function eventRoutes(app: FastifyInstance, { store, programme, now }: Service): void {
  app.post('/integrations/event', async (request, reply) => {
    const { playerUniqueId, events } = decode(trackedEvents, request.body, 'The body');
    const rows = Object.entries(events).map(([name, metadata]) => ({ name, metadata: JSON.stringify(metadata) }));
    const time = now();
    await store.write(async (queries) => {
      const player = await lockOrCreatePlayer(queries, playerUniqueId, time);
      await addEvents(queries, player.id, rows, time);
      await recogniseAction(queries, programme, player.id, Object.keys(events), time);
    });
    return reply.send();
  });
}
