/*
 * A player, its coupons and its friends need three REST calls, and each call needs only the player's id. Without lookahead,
 * the resolvers would wait for the player before they start the other reads. So a read of a player also starts the reads
 * that the selection below it needs. The resolvers find these reads in the loaders. All calls take the time of one.
 *
 * A read is started only if access rules allow it and its arguments are valid. Otherwise the resolver of the field reports
 * the error under its own path.
 */
import { type FieldNode, type GraphQLResolveInfo, getArgumentValues, isObjectType, Kind } from 'graphql';
import { refusal } from '../access/rules.ts';
import type { Context } from './context.ts';
import { rowsOfConnection, rowsOfPage } from './input/rows.ts';
import type { RowRange } from './loaders/pages.ts';
import { MemoizeLast, selectedFields } from './selection.ts';

type Arguments = Record<string, unknown>;

/** The fields of a player with their own REST call, and the function that starts the read. */
const RELATED = new Map<
  string,
  (id: string, node: FieldNode, context: Context, info: GraphQLResolveInfo) => Promise<void>
>([
  ['coupons', startCoupons],
  ['referredFriends', (id, node, context, info) => startRows(id, () => pageRows(node, info), context)],
  ['referredFriendsConnection', (id, node, context, info) => startRows(id, () => connectionRows(node, info), context)],
]);

/** Starts the other reads that the operation selects below a player whose own read was started. Never throws. */
export function startRelated(playerUniqueId: string, context: Context, info: GraphQLResolveInfo): void {
  for (const node of selectedFields(info.fieldNodes, info)) {
    const start = RELATED.get(node.name.value);
    const rule = context.rules.get('Player')?.get(node.name.value);
    if (!start || !rule || refusal(rule, context.caller, { playerUniqueId }, undefined)) continue;
    // The resolver of the field meets the same failure and reports it.
    start(playerUniqueId, node, context, info).catch(() => {});
  }
}

/** Takes the rate limit for the resolver; refused: nothing is sent. */
async function startCoupons(id: string, { alias, name }: FieldNode, { loaders, couponReads }: Context): Promise<void> {
  if ((await couponReads.takeAhead(id, (alias ?? name).value)) === 0) await loaders.coupons.load(id);
}

async function startRows(
  playerUniqueId: string,
  rowsOf: () => RowRange | undefined,
  { loaders }: Context,
): Promise<void> {
  const rows = rowsOf();
  if (rows) await loaders.referrals.load({ playerUniqueId, from: rows.from, to: rows.to });
}

function pageRows(node: FieldNode, info: GraphQLResolveInfo): RowRange | undefined {
  const { page, limit } = argumentsOf(node, info);
  return typeof page === 'number' && typeof limit === 'number' ? rowsOfPage({ page, limit }, [node], info) : undefined;
}

function connectionRows(node: FieldNode, info: GraphQLResolveInfo): RowRange | undefined {
  const { first, after } = argumentsOf(node, info);
  if (typeof first !== 'number' || !(after == null || typeof after === 'string')) return undefined;
  return rowsOfConnection({ first, after }, [node], info);
}

/** Arguments of fields by their nodes, which live as long as their document does. */
const known = new MemoizeLast<FieldNode, Arguments>();

function argumentsOf(node: FieldNode, { schema, variableValues }: GraphQLResolveInfo): Arguments {
  const last = known.get(node, variableValues);
  if (last) return last;
  const player = schema.getType('Player');
  const field = isObjectType(player) ? player.getFields()[node.name.value] : undefined;
  const found = field ? getArgumentValues(field, node, variableValues) : {};
  const variables = variablesOf(node);
  if (variables) known.set(node, variables, variableValues, found);
  return found;
}

/** The variables among the arguments of a field; undefined when a list or object among them may contain variables. */
function variablesOf({ arguments: given = [] }: FieldNode): string[] | undefined {
  const names: string[] = [];
  for (const { value } of given) {
    if (value.kind === Kind.VARIABLE) names.push(value.name.value);
    else if (value.kind === Kind.LIST || value.kind === Kind.OBJECT) return undefined;
  }
  return names;
}
