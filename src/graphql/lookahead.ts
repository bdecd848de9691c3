/*
 * What an operation selects below a field, and the reads that are started because of it.
 *
 * A player, its coupons and its friends need three REST calls, and each call needs only the player's id. Without lookahead,
 * the resolvers would wait for the player before they start the other reads. So a read of a player also starts the reads
 * that the selection below it needs. The resolvers find these reads in the loaders. All calls take the time of one.
 *
 * If only the player's identifiers are selected beside these fields, the player itself is not read. The other reads show
 * whether it exists.
 *
 * A read is started only where access rules allow it and its arguments are valid. Everything else, errors included, is left
 * to the resolver, which fails in the same way under its own path.
 */
import { collectFields } from '@graphql-tools/utils';
import { type FieldNode, type GraphQLResolveInfo, getArgumentValues, isObjectType } from 'graphql';
import { rejectionReason } from '../access/rules.ts';
import type {
  PlayerReferralLinkArgs,
  PlayerReferredFriendsArgs,
  PlayerReferredFriendsConnectionArgs,
} from '../generated/graphql.ts';
import type { Context } from './context.ts';
import { checkPage, checkSize } from './input/arguments.ts';
import { readCursor } from './input/cursor.ts';
import type { ConnectionRows } from './loaders/connection.ts';
import type { WithId } from './resolvers/parents.ts';

/** What is needed to read a selection: the schema, an operation's fragments and the values of its variables. */
export type Selecting = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>;

/** A node that can have a selection set. */
export type Selected = Pick<FieldNode, 'selectionSet'>;

/**
 * The fields selected below one or several nodes, with fragments expanded and `@skip`/`@include` decided.
 * @param typeName The object type that the selection is read for; fragments on other types do not count.
 */
export function selectedFields(nodes: readonly Selected[], typeName: string, selecting: Selecting): FieldNode[] {
  const { schema, fragments, variableValues } = selecting;
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(`The schema has no object type "${typeName}".`);
  return nodes.flatMap(({ selectionSet: set }) =>
    set ? [...collectFields(schema, fragments, variableValues, type, set).fields.values()].flat() : [],
  );
}

function selectsAny(nodes: readonly Selected[], typeName: string, names: ReadonlySet<string>, selecting: Selecting) {
  return selectedFields(nodes, typeName, selecting).some((field) => names.has(field.name.value));
}

const ID: ReadonlySet<string> = new Set(['id']);

/**
 * The items with an `id`, if one is selected below the nodes; an item without a code or an identifier gets none. They have
 * no identifier of their own in the REST service. The `id` is opaque, and made of type, owner and name, so that a client's
 * cache never merges objects of two players or of two types.
 */
export function withIds<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string | undefined,
  [type, owner]: [type: 'Coupon' | 'ReferredFriend', owner: string],
  nodes: readonly Selected[],
  selecting: Selecting,
): readonly WithId<Item>[] {
  if (!selectsAny(nodes, type, ID, selecting)) return items;
  return items.map((item) => {
    const name = nameOf(item);
    if (name === undefined) return item;
    return { ...item, id: Buffer.from(JSON.stringify([type, owner, name])).toString('base64url') };
  });
}

/** The default size of pages in the schema. */
const DEFAULT_SIZE = 50;

/** Fields that cannot be answered from the totals. */
const ROWS_OF_PAGE = new Set(['nodes', 'count', 'hasNextPage']);
const ROWS_OF_CONNECTION = new Set(['nodes', 'edges', 'pageInfo']);

/**
 * The rows a page asks for; none where only totals are selected. Null and an absent argument mean the default. Throws
 * BAD_USER_INPUT for an invalid page.
 */
export function rowsOfPage(args: PlayerReferredFriendsArgs, nodes: readonly Selected[], selecting: Selecting) {
  const [page, limit] = [args.page ?? 1, args.limit ?? DEFAULT_SIZE];
  checkPage(page, limit);
  const from = (page - 1) * limit;
  const to = selectsAny(nodes, 'ReferredFriendPage', ROWS_OF_PAGE, selecting) ? from + limit : from;
  return { page, limit, from, to };
}

/** The rows that a connection needs; none when only the total is selected. Throws BAD_USER_INPUT for invalid arguments. */
export function rowsOfConnection(
  args: PlayerReferredFriendsConnectionArgs,
  nodes: readonly Selected[],
  selecting: Selecting,
): ConnectionRows {
  const first = args.first ?? DEFAULT_SIZE;
  checkSize('first', first, 0);
  const after = args.after == null ? undefined : readCursor(args.after);
  const from = after ? after.row + 1 : 0;
  if (first === 0 || !selectsAny(nodes, 'ReferredFriendConnection', ROWS_OF_CONNECTION, selecting)) {
    return { first, after, from, to: from };
  }
  return { first, after, from: after?.friend === undefined ? from : from - 1, to: from + first };
}

/** A field of a player with a REST call of its own, and what its read is started with. */
interface Related {
  playerUniqueId: string;
  node: FieldNode;
  /** graphql-js has coerced them, so they have the generated types. */
  args: PlayerReferredFriendsArgs & PlayerReferredFriendsConnectionArgs & PlayerReferralLinkArgs;
  loaders: Context['loaders'];
  info: GraphQLResolveInfo;
}

/** How the read of each such field is started; undefined for none. Throws for invalid arguments. */
const RELATED = new Map<string, (related: Related) => Promise<unknown> | undefined>([
  ['coupons', ({ playerUniqueId, loaders }) => loaders.coupons.load(playerUniqueId)],
  [
    'referredFriends',
    ({ playerUniqueId, node, args, loaders, info }) =>
      loaders.referrals.load(playerUniqueId, rowsOfPage(args, [node], info)),
  ],
  [
    'referredFriendsConnection',
    ({ playerUniqueId, node, args, loaders, info }) =>
      loaders.referrals.load(playerUniqueId, rowsOfConnection(args, [node], info)),
  ],
  [
    'referralLink',
    ({ playerUniqueId, args: { lang }, loaders }) =>
      lang == null ? undefined : loaders.players.load({ playerUniqueId, lang }),
  ],
]);

/** Known without a call: they are in the request. */
const IDENTIFIERS: ReadonlySet<string> = new Set(['id', 'playerUniqueId', '__typename']);

/** Whether something of a player is selected that only the player's own read returns. */
export function needsPlayer(fields: readonly FieldNode[], info: GraphQLResolveInfo): boolean {
  return fields.some((node) => {
    const name = node.name.value;
    if (name === 'referralLink') return argumentsOf(node, info).lang == null;
    return !IDENTIFIERS.has(name) && !RELATED.has(name);
  });
}

/**
 * Starts the other reads that are selected below a player. Never throws. Each promise is rejected where the read fails; its
 * result is null where the player does not exist.
 */
export function startRelated(
  playerUniqueId: string,
  fields: readonly FieldNode[],
  { rules, caller, loaders }: Context,
  info: GraphQLResolveInfo,
): Promise<unknown>[] {
  return fields.flatMap((node) => {
    const start = RELATED.get(node.name.value);
    const rule = rules.get('Player')?.get(node.name.value);
    if (!start || !rule || rejectionReason(rule, caller, { playerUniqueId }, undefined)) return [];
    try {
      const read = start({ playerUniqueId, node, args: argumentsOf(node, info), loaders, info });
      // The resolver of the field gets the same error and reports it.
      read?.catch(() => {});
      return read ? [read] : [];
    } catch {
      return [];
    }
  });
}

function argumentsOf(node: FieldNode, { schema, variableValues }: GraphQLResolveInfo): Related['args'] {
  const player = schema.getType('Player');
  const field = isObjectType(player) ? player.getFields()[node.name.value] : undefined;
  return field && node.arguments?.length ? getArgumentValues(field, node, variableValues) : {};
}
