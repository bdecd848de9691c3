import { defaultFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';
import type { OperationLimiter } from './operation-limits.ts';

/** A list that adds more than this to the complexity is completed in a turn of its own: that of one operation more. */
const MAX_ADDED_IN_TURN = 500;

let lastTurn = Promise.resolve();
/** Resolves in a later turn of the event loop, in which nothing else that called this resolves; so others are served between. */
function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)));
  return lastTurn;
}

/**
 * Counts the items of lists that no argument bounds, when a field returns them: before an operation, their length is assumed
 * (`@listSize(assumedSize:)`), and one with a thousand coupons under 30 aliases would take a second in one turn of the event
 * loop. A field over the limit fails with OPERATION_TOO_COMPLEX; what was read before it stays.
 */
export function countListItems(schema: GraphQLSchema, limiter: OperationLimiter): void {
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    for (const field of Object.values(type.getFields())) {
      const assumed = limiter.assumedLength(field);
      if (assumed === undefined) continue;
      const { resolve = defaultFieldResolver } = field;
      field.resolve = (parent, args, context, info) => {
        const count = (list: unknown) => {
          const more = Array.isArray(list) ? list.length - assumed : 0;
          const added = more > 0 ? limiter.addItems(context, info.fieldNodes, more) : 0;
          return added > MAX_ADDED_IN_TURN ? ownTurn().then(() => list) : list;
        };
        const found: unknown = resolve(parent, args, context, info);
        return found instanceof Promise ? found.then(count) : count(found);
      };
    }
  }
}
