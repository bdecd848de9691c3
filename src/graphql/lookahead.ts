/*
 * What an operation selects below a field, and the reads that are started because of it; docs/architecture.md has the reasons. A
 * read is started only where access rules allow it and its arguments are valid. Otherwise the resolver reports the error.
 */
import { collectFields } from '@graphql-tools/utils';
import { type FieldNode, type GraphQLResolveInfo, getArgumentValues, isObjectType } from 'graphql';
import { rejectionReason } from '../access/rules.ts';
import type {
  PlayerCouponsArgs,
  PlayerReferralLinkArgs,
  PlayerReferredFriendsArgs,
  PlayerReferredFriendsConnectionArgs,
} from '../generated/graphql.ts';
import type { Context } from './context.ts';
import { checkFilter, checkPage, checkSize } from './input.ts';
import { type ConnectionRange, readCursor } from './loaders/connection.ts';

/** The fields selected below nodes for the object type `typeName`, with fragments expanded, `@skip` and `@include` decided. */
export function selectedFields(
  nodes: readonly Pick<FieldNode, 'selectionSet'>[],
  typeName: string,
  { schema, fragments, variableValues }: Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>,
): FieldNode[] {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(`The schema has no object type "${typeName}".`);
  return nodes.flatMap(({ selectionSet: set }) =>
    set ? [...collectFields(schema, fragments, variableValues, type, set).fields.values()].flat() : [],
  );
}

/** What needs no read of the player: identifiers are in the request, the others have a call of their own. */
const WITHOUT_PLAYER = new Set([
  ...['id', 'playerUniqueId', '__typename'],
  ...['coupons', 'referredFriends', 'referredFriendsConnection'],
]);

/** Whether something of a player is selected that only the player's own read returns. */
export function needsPlayer(fields: readonly FieldNode[], info: GraphQLResolveInfo): boolean {
  return fields.some((node) => {
    if (node.name.value === 'referralLink') return argumentsOf(node, info).lang == null;
    return !WITHOUT_PLAYER.has(node.name.value);
  });
}

/** Starts the other reads below a player. Never throws. Each promise rejects as its read does; null means no such player. */
export function startRelated(
  playerUniqueId: string,
  fields: readonly FieldNode[],
  { rules, caller, loaders }: Context,
  info: GraphQLResolveInfo,
): Promise<unknown>[] {
  return fields.flatMap((node) => {
    const rule = rules.get('Player')?.get(node.name.value);
    if (!rule || rejectionReason(rule, caller, { playerUniqueId }, undefined)) return [];
    try {
      const read = startRead(playerUniqueId, node, loaders, info);
      // The resolver of the field gets the same error and reports it.
      read?.catch(() => {});
      return read ?? [];
    } catch {
      return [];
    }
  });
}

/** Starts the read of a field that has a REST call of its own; undefined for other fields. Throws for invalid arguments. */
function startRead(playerUniqueId: string, node: FieldNode, loaders: Context['loaders'], info: GraphQLResolveInfo) {
  const args = argumentsOf(node, info);
  switch (node.name.value) {
    case 'coupons':
      if (args.filter) checkFilter(args.filter);
      return loaders.coupons.load(playerUniqueId);
    case 'referredFriends':
      return loaders.referrals.load(playerUniqueId, rowsOfPage(args, [node], info));
    case 'referredFriendsConnection':
      return loaders.referrals.load(playerUniqueId, rowsOfConnection(args, [node], info));
    case 'referralLink':
      return args.lang == null ? undefined : loaders.players.load({ playerUniqueId, lang: args.lang });
    default:
      return undefined;
  }
}

/** graphql-js has coerced them, so they have the generated types. */
type Arguments = PlayerCouponsArgs &
  PlayerReferredFriendsArgs &
  PlayerReferredFriendsConnectionArgs &
  PlayerReferralLinkArgs;

function argumentsOf(node: FieldNode, { schema, variableValues }: GraphQLResolveInfo): Arguments {
  const player = schema.getType('Player');
  const field = isObjectType(player) ? player.getFields()[node.name.value] : undefined;
  return field && node.arguments?.length ? getArgumentValues(field, node, variableValues) : {};
}

/** The default size of pages in the schema. */
const DEFAULT_SIZE = 50;

/** Fields that cannot be answered from the totals. */
const ROWS_OF_PAGE = new Set(['nodes', 'count', 'hasNextPage']);
const ROWS_OF_CONNECTION = new Set(['nodes', 'edges', 'pageInfo']);

/** The rows of a page; none where only totals are selected. Null means the default. Throws BAD_USER_INPUT for an invalid page. */
export function rowsOfPage(args: PlayerReferredFriendsArgs, nodes: readonly FieldNode[], info: GraphQLResolveInfo) {
  const [page, limit] = [args.page ?? 1, args.limit ?? DEFAULT_SIZE];
  checkPage(page, limit);
  const from = (page - 1) * limit;
  const hasRows = selectedFields(nodes, 'ReferredFriendPage', info).some(({ name }) => ROWS_OF_PAGE.has(name.value));
  return { page, limit, from, to: hasRows ? from + limit : from };
}

/** The rows that a connection needs; none when only the total is selected. Throws BAD_USER_INPUT for invalid arguments. */
export function rowsOfConnection(
  args: PlayerReferredFriendsConnectionArgs,
  nodes: readonly FieldNode[],
  info: GraphQLResolveInfo,
): ConnectionRange {
  const first = args.first ?? DEFAULT_SIZE;
  checkSize('first', first, 0);
  const after = args.after == null ? undefined : readCursor(args.after);
  const from = after ? after.row + 1 : 0;
  const fields = selectedFields(nodes, 'ReferredFriendConnection', info);
  const hasRows = first > 0 && fields.some(({ name }) => ROWS_OF_CONNECTION.has(name.value));
  if (!hasRows) return { first, after, from, to: from };
  return { first, after, from: after?.friend === undefined ? from : from - 1, to: from + first };
}
