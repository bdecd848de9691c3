/* The audit: each requested deletion is recorded, with the outcome that its client is told. */
import { type DocumentNode, type FieldNode, type GraphQLSchema, getArgumentValues, visit } from 'graphql';
import { ClientError } from '../errors.ts';
import type { Json } from '../json.ts';
import type { OperationRecord } from '../telemetry/observe.ts';
import type { Context } from './context.ts';
import { outcomeOf } from './writes.ts';

type Deletion = OperationRecord['deletions'][number];

const FIELD = 'deletePlayer';

/** Wraps the resolver of `deletePlayer` outside of its access rule, so that a deletion that it refuses is recorded too. */
export function auditDeletions(schema: GraphQLSchema): void {
  const field = schema.getMutationType()?.getFields()[FIELD];
  const resolve = field?.resolve;
  if (!resolve) throw new Error(`The schema has no mutation "${FIELD}".`);
  field.resolve = async (parent, args, context: Context, info) => {
    const deletion = { playerUniqueId: playerIn(args), outcome: 'REFUSED' as Deletion['outcome'] };
    context.record.deletions.push(deletion);
    try {
      const payload = await resolve(parent, args, context, info);
      deletion.outcome = outcomeOfPayload(payload);
      return payload;
    } catch (error) {
      if (outcomeOf(error) === 'UNKNOWN') deletion.outcome = 'UNKNOWN';
      else if (!(error instanceof ClientError)) deletion.outcome = 'FAILED';
      throw error;
    }
  };
}

/**
 * Records the deletions of a mutation that is refused as a whole, also those under a condition.
 * @param document Only what the operation uses.
 */
export function auditRefused(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Json,
  { deletions }: OperationRecord,
): void {
  const field = schema.getMutationType()?.getFields()[FIELD];
  const argumentsOf = (node: FieldNode) => {
    try {
      return field && getArgumentValues(field, node, variables);
    } catch {
      // They can be why it is refused.
      return undefined;
    }
  };
  // Fields with one name in the response are one deletion: two of them with different arguments are not valid.
  const requested = new Map<string, FieldNode>();
  visit(document, {
    Field: (node) => void (node.name.value === FIELD && requested.set((node.alias ?? node.name).value, node)),
  });
  for (const node of requested.values())
    deletions.push({ playerUniqueId: playerIn(argumentsOf(node)), outcome: 'REFUSED' });
}

function playerIn(args: unknown): string | undefined {
  const { input }: { input?: { playerUniqueId?: unknown } | null } = Object(args);
  return typeof input?.playerUniqueId === 'string' ? input.playerUniqueId : undefined;
}

function outcomeOfPayload(payload: unknown): Deletion['outcome'] {
  const { deletedPlayerUniqueId, userErrors }: { deletedPlayerUniqueId?: unknown; userErrors?: unknown } =
    Object(payload);
  if (typeof deletedPlayerUniqueId === 'string') return 'DELETED';
  return Array.isArray(userErrors) && userErrors[0]?.code === 'NOT_FOUND' ? 'NOT_FOUND' : 'REFUSED';
}
