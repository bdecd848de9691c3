/*
 * A player, its coupons and its friends are three REST calls, and each of them needs the player's id alone. Resolvers on
 * their own would wait for the player before they ask for the rest. So whatever reads a player also looks at the selection
 * below it and starts those reads; the resolvers find them in the loaders. A screen takes one round trip of time.
 *
 * A read is started only where access rules allow it and its arguments are valid. Everything else, errors included, is left
 * to the resolver, which fails in the same way under its own path.
 */
import { type FieldNode, type GraphQLResolveInfo, getArgumentValues, isObjectType, Kind } from 'graphql';
import { refusal } from '../access/rules.ts';
import type { Context } from './context.ts';
import { rowsOfConnection, rowsOfPage } from './input/rows.ts';
import type { RowRange } from './loaders/pages.ts';
import { MemoizeLast, selectedFields } from './selection.ts';

type Arguments = Record<string, unknown>;

/** The fields of a player with REST calls of their own, and how each of these reads is started. */
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

/** The allowance is taken here and the resolver finds it taken; without one nothing is sent. */
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

/** The variables among a field's arguments; undefined when some may stand inside of an argument. */
function variablesOf({ arguments: given = [] }: FieldNode): string[] | undefined {
  const names: string[] = [];
  for (const { value } of given) {
    if (value.kind === Kind.VARIABLE) names.push(value.name.value);
    else if (value.kind === Kind.LIST || value.kind === Kind.OBJECT) return undefined;
  }
  return names;
}
