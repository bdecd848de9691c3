import type { MutationResolvers, TrackEventsInput } from '../../generated/graphql.ts';
import type { TrackEventsRequest } from '../../rest/wire.ts';
import { authorizeEvents } from '../authorize-events.ts';
import type { Context } from '../context.ts';
import { eventProblems } from '../input/mutations.ts';
import { performWrite } from './write.ts';

export const eventMutations: Pick<MutationResolvers, 'trackEvents'> = {
  trackEvents: async (_parent, { input }, context, info) => {
    authorizeEvents(info, context);
    const { writes } = context.loaders;
    const write = () => sendEvents(input, context);
    const isKeyed = input.idempotencyKey != null;
    const { userErrors } = await performWrite(info, writes, eventProblems(input), write, isKeyed);
    const eventNames = userErrors.length > 0 ? [] : input.events.map(({ name }) => name);
    return { playerUniqueId: input.playerUniqueId, eventNames, userErrors };
  },
};

function sendEvents(input: TrackEventsInput, { loaders, idempotency, caller, call }: Context): Promise<void> {
  const { idempotencyKey, playerUniqueId, events } = input;
  if (idempotencyKey == null) return loaders.writes.trackEvents(eventBody(input));
  const keyed = { caller, playerUniqueId, idempotencyKey, events, call };
  return idempotency.once(keyed, () => loaders.writes.trackKeyedEvents(eventBody(input)));
}

/** Events are sent as a map from name to metadata. `Object.fromEntries` treats `__proto__` like any other name. */
function eventBody({ playerUniqueId, events }: TrackEventsInput): TrackEventsRequest {
  return { playerUniqueId, events: Object.fromEntries(events.map(({ name, metadata }) => [name, metadata ?? {}])) };
}
