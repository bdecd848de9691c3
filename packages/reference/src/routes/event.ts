import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { activate } from '../programme/referral.ts';
import { addEvents, lockOrCreatePlayer } from '../store/players.ts';
import { decode, playerUniqueId } from '../wire/members.ts';
import { nameProblem } from '../wire/text.ts';
import type { Service } from './request.ts';

/**
 * The document allows numbers, texts and arrays of them; public clients also send booleans, `null` and nested objects. No
 * rule reads metadata, so any JSON is stored unchanged, as `readJson` has read it.
 */
const metadata = z.record(z.string(), z.unknown(), 'must be an object');

/** The body of `POST /integrations/event`. Some clients send `null` for an event without metadata. */
const trackedEvents = z.object(
  {
    playerUniqueId,
    events: z
      .record(
        z.string(),
        z.preprocess((value) => value ?? {}, metadata),
        'must be an object',
      )
      .superRefine((events, context) => {
        const names = Object.keys(events);
        if (names.length === 0) context.addIssue('must have at least one event');
        for (const name of names) {
          const problem = nameProblem(name);
          if (problem) context.addIssue({ code: 'custom', path: [name], message: problem });
        }
      }),
  },
  'must be an object',
);

export function eventRoutes(app: FastifyInstance, service: Service): void {
  app.post('/integrations/event', async (request, reply) => {
    const { playerUniqueId, events } = decode(trackedEvents, request.body, 'The body');
    await trackEvents(service, playerUniqueId, events);
    return reply.send();
  });
}

/**
 * Stores a player's events, by name with their metadata, and creates the player if it is unknown. The action event makes a
 * pending referral of the player active.
 */
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
    if (Object.hasOwn(events, programme.actionEvent)) await activate(queries, programme, player.id, time);
  });
}
