import type { MutationResolvers, TrackEventsInput } from '../../../generated/graphql.ts';
import type { TrackEventsRequest } from '../../../rest/wire.ts';
import { eventProblems } from '../input/mutations.ts';
import { rejectedAsUserErrors } from './user-errors.ts';

export const eventMutations: Pick<MutationResolvers, 'trackEvents'> = {
  trackEvents: async (_parent, { input }, context) => {
    const { userErrors } = await rejectedAsUserErrors(eventProblems(input), () =>
      context.loaders.writes.trackEvents(eventBody(input)),
    );
    const eventNames = userErrors.length > 0 ? [] : input.events.map(({ name }) => name);
    return { playerUniqueId: input.playerUniqueId, eventNames, userErrors };
  },
};

/** Events are sent as a map from name to metadata. It has no prototype, so that `__proto__` is an ordinary name. */
function eventBody({ playerUniqueId, events }: TrackEventsInput): TrackEventsRequest {
  const byName: TrackEventsRequest['events'] = Object.create(null);
  for (const { name, metadata } of events) byName[name] = metadata ?? {};
  return { playerUniqueId, events: byName };
}
