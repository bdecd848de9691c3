import { type GraphQLResolveInfo, getArgumentValues } from 'graphql';
import { rejectionReason } from '../access/authorize.ts';
import type { Caller } from '../access/caller.ts';
import type { AccessRules } from '../access/rules.ts';
import { ClientError } from '../errors.ts';
import { type SelectionContext, selectedFields } from './selection.ts';

/** An operation whose document is valid: the part that graphql-js gives to resolvers, or a plugin has. */
type Operation = SelectionContext & Pick<GraphQLResolveInfo, 'operation'>;

/** The decision for each operation, by its context: one context is one operation. */
const decisions = new WeakMap<object, boolean>();

/**
 * Mutation fields run one by one, so all events of an operation are authorized before the first is sent. Throws FORBIDDEN
 * when one of them is not allowed. Decided once per operation.
 */
export function authorizeEvents(operation: Operation, context: { caller: Caller; rules: AccessRules }): void {
  const allowed = decisions.get(context) ?? allEventsAllowed(operation, context);
  decisions.set(context, allowed);
  if (!allowed) throw new ClientError('FORBIDDEN', 'Another event of this operation is not allowed, so none is sent.');
}

function allEventsAllowed(
  { operation, ...selecting }: Operation,
  { caller, rules }: { caller: Caller; rules: AccessRules },
): boolean {
  const type = selecting.schema.getMutationType();
  return selectedFields([operation], type?.name ?? '', selecting).every((node) => {
    const field = type?.getFields()[node.name.value];
    const rule = rules.get(type?.name ?? '')?.get(node.name.value);
    if (!field || !rule?.names) return true;
    const args = getArgumentValues(field, node, selecting.variableValues);
    return rejectionReason(rule, caller, undefined, args) === undefined;
  });
}
