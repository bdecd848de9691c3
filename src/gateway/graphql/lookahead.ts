/*
 * A player, its coupons and its friends are three calls to the REST service, and each of them needs the player's id alone.
 * Resolvers on their own would wait for the player before they ask for the rest. So whoever reads a player first looks at
 * what is selected below it and starts those reads too; the resolvers then find them under way in the loaders.
 * The screen takes one round trip of time.
 *
 * A read is started only for a caller who may have it, and only with arguments that hold. Everything else, errors included,
 * is left to the resolver: what fails here fails there again, under its own path.
 */
import { type FieldNode, type GraphQLResolveInfo, getArgumentValues, isObjectType, Kind } from 'graphql';
import { after, attempt } from '../../rest/maybe.ts';
import { refusal } from '../access/rules.ts';
import type { Context } from './context.ts';
import { rowsOfConnection, rowsOfPage } from './input/rows.ts';
import type { Stretch } from './loaders/pages.ts';
import { LastFound } from './memoize-last.ts';
import { selectedFields } from './selection.ts';

type Arguments = Record<string, unknown>;

/** The fields of a player that are read by calls of their own, and how each of these reads begins. */
const RELATED = new Map<string, (id: string, node: FieldNode, context: Context, info: GraphQLResolveInfo) => unknown>([
  ['coupons', startCoupons],
  ['referredFriends', (id, node, context, info) => startRows(id, pageRows(node, info), context)],
  ['referredFriendsConnection', (id, node, context, info) => startRows(id, connectionRows(node, info), context)],
]);

/** Starts whatever else the operation asks of a player whose own read is about to start. Never throws. */
export function startRelated(playerUniqueId: string, context: Context, info: GraphQLResolveInfo): void {
  begin(() => {
    for (const node of selectedFields(info.fieldNodes, info)) {
      const start = RELATED.get(node.name.value);
      const rule = context.rules.get('Player')?.get(node.name.value);
      if (!start || !rule || refusal(rule, context.caller, { playerUniqueId }, undefined)) continue;
      begin(() => start(playerUniqueId, node, context, info));
    }
  });
}

/** Runs a read whose outcome somebody else will look at. */
function begin(read: () => unknown): void {
  const started = attempt(read);
  if (started instanceof Promise) started.catch(leaveToResolver);
}

/** The resolver that asks for the same read meets the same failure and reports it. */
function leaveToResolver(): void {}

/** The allowance is taken here, and the resolver finds it taken; without one nothing is sent. */
function startCoupons(id: string, { alias, name }: FieldNode, { loaders, couponReads }: Context): unknown {
  const load = (waitMs: number) => (waitMs === 0 ? loaders.coupons.load(id) : undefined);
  return after(couponReads.takeAhead(id, (alias ?? name).value), load);
}

function startRows(playerUniqueId: string, rows: Stretch | undefined, { loaders }: Context): unknown {
  return rows && loaders.referrals.load({ playerUniqueId, from: rows.from, to: rows.to });
}

function pageRows(node: FieldNode, info: GraphQLResolveInfo): Stretch | undefined {
  const { page, limit } = argumentsOf(node, info);
  return typeof page === 'number' && typeof limit === 'number' ? rowsOfPage({ page, limit }, [node], info) : undefined;
}

function connectionRows(node: FieldNode, info: GraphQLResolveInfo): Stretch | undefined {
  const { first, after } = argumentsOf(node, info);
  if (typeof first !== 'number' || !(after == null || typeof after === 'string')) return undefined;
  return rowsOfConnection({ first, after }, [node], info);
}

/** Arguments of fields by their nodes, which live as long as their document does. */
const known = new LastFound<FieldNode, Arguments>();

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
