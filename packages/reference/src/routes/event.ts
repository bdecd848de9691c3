import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { activate } from '../programme/referral.ts';
import { addEvents, lockOrCreatePlayer } from '../store/players.ts';
import type { Queries } from '../store/store.ts';
import { decode, definedOf, optional, playerUniqueId } from '../wire/members.ts';
import { nameProblem } from '../wire/text.ts';
import type { Service } from './service.ts';

const isScalar = (value: unknown) => typeof value === 'number' || typeof value === 'string';
const isMetadata = (value: unknown) => isScalar(value) || (Array.isArray(value) && value.every(isScalar));

/** A key with `null` or empty text counts as absent. */
const value = z
  .unknown()
  .refine((given) => given === undefined || isMetadata(given), 'must be a number, text or an array of them');
/** Some clients send `null` for an event without metadata. */
const metadata = z.preprocess(
  (given) => given ?? {},
  z.record(z.string(), optional(value), 'must be an object').transform(definedOf),
);

const events = z.record(z.string(), metadata, 'must be an object').superRefine((given, context) => {
  const names = Object.keys(given);
  if (names.length === 0) context.addIssue('must have at least one event');
  for (const name of names) {
    const message = nameProblem(name);
    if (message) context.addIssue({ code: 'custom', path: [name], message });
  }
});

/** The body of `POST /integrations/event`. */
const trackedEvents = z.object({ playerUniqueId, events }, 'must be an object');

export function eventRoutes(app: FastifyInstance, service: Service): void {
  app.post('/integrations/event', async (request, reply) => {
    const { playerUniqueId, events } = decode(trackedEvents, request.body, 'The body');
    await service.store.write((queries) => trackEvents(queries, service, playerUniqueId, events));
    return reply.send();
  });
}

/**
 * Stores a player's events, by name with their metadata, and creates the player if it is unknown. The action event
 * makes a pending referral of the player active.
 */
export async function trackEvents(
  queries: Queries,
  { programme, now }: Service,
  playerUniqueId: string,
  events: Readonly<Record<string, object>>,
): Promise<void> {
  const rows = Object.entries(events).map(([name, metadata]) => ({ name, metadata: JSON.stringify(metadata) }));
  const player = await lockOrCreatePlayer(queries, playerUniqueId, now());
  await addEvents(queries, player.id, rows, now());
  if (Object.hasOwn(events, programme.actionEvent)) await activate(queries, programme, player.id, now());
}
