/*
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
import { type FieldNode, type GraphQLResolveInfo, getArgumentValues, isObjectType } from 'graphql';
import { rejectionReason } from '../access/authorize.ts';
import type {
  PlayerReferralLinkArgs,
  PlayerReferredFriendsArgs,
  PlayerReferredFriendsConnectionArgs,
} from '../generated/graphql.ts';
import type { Context } from './context.ts';
import { rowsOfConnection, rowsOfPage } from './input/rows.ts';
import { selectedFields } from './selection.ts';

/** The arguments of the related fields. */
type Arguments = PlayerReferredFriendsArgs & PlayerReferredFriendsConnectionArgs & PlayerReferralLinkArgs;

type Start = (id: string, node: FieldNode, context: Context, info: GraphQLResolveInfo) => Promise<unknown> | undefined;

/** The fields of a player with REST calls of their own, and how each of these reads is started; undefined for none. */
const RELATED = new Map<string, Start>([
  ['coupons', startCoupons],
  ['referredFriends', startRows(rowsOfPage)],
  ['referredFriendsConnection', startRows(rowsOfConnection)],
  ['referralLink', startLink],
]);

/** Known without a call: they are in the request. */
const IDENTIFIERS: ReadonlySet<string> = new Set(['id', 'playerUniqueId', '__typename']);

/** Whether the operation selects something of a player that only the player's own read returns. */
export function needsPlayer(info: GraphQLResolveInfo): boolean {
  return selectedFields(info.fieldNodes, 'Player', info).some((node) => {
    const name = node.name.value;
    if (name === 'referralLink') return languageOf(node, info) === undefined;
    return !IDENTIFIERS.has(name) && !RELATED.has(name);
  });
}

/**
 * Starts the other reads that the operation selects below a player. Never throws. Each promise is rejected where the read
 * fails; its result is null where the player does not exist.
 */
export function startRelated(playerUniqueId: string, context: Context, info: GraphQLResolveInfo): Promise<unknown>[] {
  const started: Promise<unknown>[] = [];
  for (const node of selectedFields(info.fieldNodes, 'Player', info)) {
    const start = RELATED.get(node.name.value);
    const rule = context.rules.get('Player')?.get(node.name.value);
    if (!start || !rule || rejectionReason(rule, context.caller, { playerUniqueId }, undefined)) continue;
    const read = start(playerUniqueId, node, context, info);
    if (!read) continue;
    // The resolver of the field gets the same error and reports it.
    read.catch(() => {});
    started.push(read);
  }
  return started;
}

function startCoupons(id: string, _node: FieldNode, { loaders }: Context) {
  return loaders.coupons.load(id);
}

/** Starts nothing if an argument is invalid. */
function startRows(rowsOf: typeof rowsOfPage | typeof rowsOfConnection): Start {
  return (playerUniqueId, node, { loaders }, info) => {
    try {
      return loaders.referrals.load(playerUniqueId, rowsOf(argumentsOf(node, info), [node], info));
    } catch {
      return undefined;
    }
  };
}

function startLink(playerUniqueId: string, node: FieldNode, { loaders }: Context, info: GraphQLResolveInfo) {
  const lang = languageOf(node, info);
  return lang === undefined ? undefined : loaders.players.load({ playerUniqueId, lang });
}

function languageOf(node: FieldNode, info: GraphQLResolveInfo): string | undefined {
  return argumentsOf(node, info).lang ?? undefined;
}

/** graphql-js has coerced them, so they have the generated types. */
function argumentsOf(node: FieldNode, { schema, variableValues }: GraphQLResolveInfo): Arguments {
  const player = schema.getType('Player');
  const field = isObjectType(player) ? player.getFields()[node.name.value] : undefined;
  return field && node.arguments?.length ? getArgumentValues(field, node, variableValues) : {};
}
