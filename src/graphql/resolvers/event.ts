import { type GraphQLResolveInfo, type GraphQLSchema, getArgumentValues } from 'graphql';
import { rejectionReason } from '../../access/rules.ts';
import { ClientError } from '../../errors.ts';
import type { MutationResolvers, TrackEventsInput } from '../../generated/graphql.ts';
import type { TrackEventsRequest } from '../../rest/wire.ts';
import type { Context } from '../context.ts';
import { eventProblems, isRefusedReport } from '../input/mutations.ts';
import { selectedFields } from '../lookahead.ts';
import type { TrackEventsParent } from './parents.ts';

const NOT_ALLOWED = 'Another event of this operation is not allowed, so none is sent.';

export const eventMutations: Pick<MutationResolvers, 'trackEvents'> = {
  trackEvents: async (_parent, { input }, context, info) => {
    // Mutation fields run one by one, so all events of an operation are authorized before the first is sent, once.
    context.eventsAllowed ??= allEventsAllowed(info, context);
    if (!context.eventsAllowed) throw new ClientError('FORBIDDEN', NOT_ALLOWED);
    const { writes } = context.loaders;
    const write = () => sendEvents(input, context);
    const isKeyed = input.idempotencyKey != null;
    const { userErrors } = await writes.perform(info.path.key, eventProblems(input), write, isKeyed);
    const eventNames = userErrors.length > 0 ? [] : input.events.map(({ name }) => name);
    return { playerUniqueId: input.playerUniqueId, eventNames, userErrors };
  },
};

/**
 * Refuses a report with repeated names, or with too many, before its access rule is asked: the rule decides about each name.
 * Wraps the field when its rule is in place.
 */
export function refuseReportsFirst(schema: GraphQLSchema): void {
  const field = schema.getMutationType()?.getFields()['trackEvents'];
  const resolve = field?.resolve;
  if (!field || !resolve) throw new Error('The schema has no field trackEvents with a resolver.');
  field.resolve = (parent, args: { input: TrackEventsInput }, context, info) =>
    isRefusedReport(args.input) ? refused(args.input) : resolve(parent, args, context, info);
}

function refused(input: TrackEventsInput): TrackEventsParent {
  return { playerUniqueId: input.playerUniqueId, eventNames: [], userErrors: eventProblems(input) };
}

function allEventsAllowed(info: GraphQLResolveInfo, { caller, rules }: Context): boolean {
  const { parentType, operation, variableValues } = info;
  return selectedFields([operation], parentType.name, info).every((node) => {
    const field = parentType.getFields()[node.name.value];
    const rule = rules.get(parentType.name)?.get(node.name.value);
    if (!field || !rule?.names) return true;
    return rejectionReason(rule, caller, undefined, getArgumentValues(field, node, variableValues)) === undefined;
  });
}

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
