/* The limits of operations: before one is executed, and for the lists that it returns. */
import { forEachField } from '@graphql-tools/utils';
import { type DocumentNode, defaultFieldResolver, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import type { Config } from '../config/config.ts';
import { ClientError, OVERLOADED_MESSAGE, requestError } from '../errors.ts';
import { isMemoryShort } from '../memory.ts';
import { takeTurn } from '../turns.ts';
import { OperationMeasure, type Size } from './operation-size.ts';

/** The complexity, and the REST calls, of one unit: what an ordinary operation consumes of its caller's limit. */
const COMPLEXITY_PER_UNIT = 500;
const CALLS_PER_UNIT = 10;
/** A list that adds more than this to the complexity is completed in a turn of its own: as much as one unit. */
export const MAX_ADDED_IN_TURN = COMPLEXITY_PER_UNIT;

type Limited = Exclude<keyof Size, 'fields' | 'introspects'> | 'repetitions';
type Sizes = Partial<Record<Limited, number>>;

export type OperationLimiter = ReturnType<typeof createOperationLimiter>;

/** Measures operations and refuses those that are too large, before anything is executed. */
export function createOperationLimiter(schema: GraphQLSchema, config: Config) {
  const measuring = new OperationMeasure(schema);
  /** Operations whose size does not depend on variables. */
  const measured = new WeakMap<OperationDefinitionNode, Size>();
  /** The largest complexity of an operation with the real lengths of its lists. */
  const maxExecuted = 2 * config.MAX_COMPLEXITY;
  // In the order of the checks. `repetitions` and `aliases` are needed beside tokens and complexity: an alias is in the response
  // once for each item of a list, and validation compares all fields of one name with each other (10,000 take about 20 ms).
  const limits: [limit: Limited, max: number, counted: string][] = [
    ['repetitions', 10_000, 'pairs of fields with the same name'],
    ['depth', config.MAX_DEPTH, 'levels of fields'],
    ['aliases', 30, 'aliases'],
    ['complexity', config.MAX_COMPLEXITY, 'points of complexity: fields, each item of a list, values in variables'],
    ['upstreamCalls', config.MAX_UPSTREAM_CALLS, 'calls to the referral and rewards service'],
  ];
  const exceeded = (sizes: Sizes) => limits.find(([limit, max]) => (sizes[limit] ?? 0) > max);

  /** The size of an operation of a parsed document, valid or not. */
  function measure(document: DocumentNode, operation: OperationDefinitionNode, variables?: object): Size {
    const earlier = measured.get(operation);
    if (earlier) return earlier;
    const { size, varies } = measuring.measure(document, operation, variables);
    if (!varies) measured.set(operation, size);
    return size;
  }

  return {
    measure,
    /** The units that an operation consumes before it is executed: one, if it will be refused. */
    unitsBefore(size: Size): number {
      return exceeded(size) ? 1 : unitsOf(size.complexity);
    },
    /** Throws OPERATION_TOO_COMPLEX for sizes over a limit. */
    check(sizes: Sizes): void {
      const [limit, max, counted] = exceeded(sizes) ?? [];
      if (!limit) return;
      const message = `The operation has more than ${max} ${counted}. Ask for less at once.`;
      throw requestError('OPERATION_TOO_COMPLEX', 400, message, { limit, max });
    },
    /**
     * Wraps the fields with lists that no argument bounds, to count the items that they return. Before an operation their length is
     * assumed (`@listSize(assumedSize:)`): one with a thousand coupons under 30 aliases would take a second in one turn of the event
     * loop. A field over the limit fails with OPERATION_TOO_COMPLEX; what was read before it stays.
     */
    wrapLists(): void {
      forEachField(schema, (field) => {
        const assumed = measuring.assumedLength(field);
        if (assumed === undefined) return;
        // The access rule is inside `resolve`.
        const { resolve = defaultFieldResolver } = field;
        field.resolve = (parent, args, context, info) => {
          const count = (list: unknown) => {
            const more = Array.isArray(list) ? list.length - assumed : 0;
            const added = more > 0 ? more * measuring.perItem(info.fieldNodes) : 0;
            addItems(context, added, maxExecuted);
            const { key } = context.caller;
            return added > MAX_ADDED_IN_TURN ? takeTurn(key).then(() => checkMemory(list, key)) : list;
          };
          const found: unknown = resolve(parent, args, context, info);
          return found instanceof Promise ? found.then(count) : count(found);
        };
      });
    },
  };
}

/**
 * Adds the items of a list beyond its assumed length to the complexity of an operation that is executed. Throws
 * OPERATION_TOO_COMPLEX, and adds nothing, when the operation would take more than `max`.
 */
function addItems(context: { complexity: number }, added: number, max: number): void {
  const complexity = context.complexity + added;
  if (complexity > max) {
    const message = `The lists of this operation have too many items. Ask for fewer fields of them, or under fewer names.`;
    throw new ClientError('OPERATION_TOO_COMPLEX', message, { extensions: { limit: 'items', max } });
  }
  context.complexity = complexity;
}

/** Throws OVERLOADED when there may not be enough memory for what a large list becomes. */
function checkMemory(list: unknown, caller: string): unknown {
  if (!isMemoryShort(caller)) return list;
  throw new ClientError('OVERLOADED', OVERLOADED_MESSAGE, { extensions: { retryable: true, retryAfterMs: 1_000 } });
}

/** How many units a complexity and a number of REST calls are. */
export const unitsOf = (complexity: number, calls = 0) =>
  Math.max(1 + Math.floor(complexity / COMPLEXITY_PER_UNIT), Math.ceil(calls / CALLS_PER_UNIT));
