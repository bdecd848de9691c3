import { type GraphQLResolveInfo, getArgumentValues } from 'graphql';
import { rejectionReason } from '../../access/rules.ts';
import { ClientError } from '../../errors.ts';
import type { MutationResolvers, TrackEventsInput } from '../../generated/graphql.ts';
import type { Cancellation } from '../../rest/call-context.ts';
import type { TrackEventsRequest } from '../../rest/endpoints.ts';
import type { Context } from '../context.ts';
import { eventProblems } from '../input.ts';
import { selectedFields } from '../lookahead.ts';
import type { Send } from '../writes.ts';

const NOT_ALLOWED = 'Another event of this operation is not allowed, so none is sent.';

export const eventMutations: Pick<MutationResolvers, 'trackEvents'> = {
  trackEvents: async (_parent, { input }, context, info) => {
    // Mutation fields run one by one, so all events of an operation are authorized before the first is sent, once.
    context.eventsAllowed ??= allEventsAllowed(info, context);
    if (!context.eventsAllowed) throw new ClientError('FORBIDDEN', NOT_ALLOWED);
    const { caller, idempotency, loaders, record } = context;
    const { playerUniqueId, idempotencyKey: key, events } = input;
    const send: Send<void> = async (rest, callContext) => {
      record.reports ??= { keyed: 0, unkeyed: 0, repeated: 0 };
      record.reports[key == null ? 'unkeyed' : 'keyed'] += 1;
      if (key == null) return void (await rest.trackEvents(eventBody(input), callContext));
      const keyed = { caller, playerUniqueId, idempotencyKey: key, events, callContext };
      const track = (cancellation: Cancellation) =>
        rest.trackEvents(eventBody(input), { ...callContext, cancellation });
      if (await idempotency(keyed, track)) record.reports.repeated += 1;
    };
    const { userErrors } = await loaders.writes.perform(info.path.key, eventProblems(input), send, key != null);
    return { playerUniqueId, eventNames: userErrors.length > 0 ? [] : events.map(({ name }) => name), userErrors };
  },
};

function allEventsAllowed(info: GraphQLResolveInfo, { caller, rules }: Context): boolean {
  const { parentType, operation, variableValues } = info;
  return selectedFields([operation], parentType.name, info).every((node) => {
    const field = parentType.getFields()[node.name.value];
    const rule = rules.get(parentType.name)?.get(node.name.value);
    if (!field || !rule?.names) return true;
    return rejectionReason(rule, caller, undefined, getArgumentValues(field, node, variableValues)) === undefined;
  });
}

/** Events are sent as a map from name to metadata. `Object.fromEntries` treats `__proto__` like any other name. */
function eventBody({ playerUniqueId, events }: TrackEventsInput): TrackEventsRequest {
  return { playerUniqueId, events: Object.fromEntries(events.map(({ name, metadata }) => [name, metadata ?? {}])) };
}
