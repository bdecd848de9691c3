import type { GraphQLResolveInfo } from 'graphql';
import type {
  PlayerResolvers,
  ReferredFriendConnectionResolvers,
  ReferredFriendPageResolvers,
  ReferredFriendResolvers,
} from '../../generated/graphql.ts';
import { idProblem } from '../../rest/request.ts';
import type { ReferredFriend } from '../../rest/wire.ts';
import { writeCursor } from '../input/cursor.ts';
import { readConnection } from '../loaders/connection.ts';
import type { Referrals } from '../loaders/referral.ts';
import { rowsOfConnection, rowsOfPage, type Selected, selectedFields, withIds } from '../lookahead.ts';
import type { ReferralConnectionParent } from './parents.ts';
import { readPlayer } from './player.ts';

export const referralFields: Pick<PlayerResolvers, 'referredFriends' | 'referredFriendsConnection'> = {
  referredFriends: async ({ playerUniqueId }, args, { loaders }, info) => {
    const { page, limit, ...range } = rowsOfPage(args, info.fieldNodes, info);
    const found = await loaders.referrals.load(playerUniqueId, range);
    return found && { owner: playerUniqueId, ...found, page, limit };
  },
  referredFriendsConnection: async ({ playerUniqueId }, args, { loaders }, info) => {
    const range = rowsOfConnection(args, info.fieldNodes, info);
    const found = await readConnection(loaders.referrals, playerUniqueId, range);
    return found && { owner: playerUniqueId, ...found, first: range.first };
  },
};

export const referralPageFields: ReferredFriendPageResolvers = {
  nodes: ({ rows, owner }, _args, _context, info) => friendsFor(info.fieldNodes, rows, owner, info),
  count: ({ rows }) => rows.length,
  hasNextPage: ({ page, limit, ...found }) => reachesBeyond(page * limit, limit, found),
};

export const referralConnectionFields: ReferredFriendConnectionResolvers = {
  nodes: ({ rows, owner }, _args, _context, info) => friendsFor(info.fieldNodes, rows, owner, info),
  edges: (parent, _args, _context, info) => {
    const { rows, owner } = parent;
    const selected = selectedFields(info.fieldNodes, 'ReferredFriendEdge', info);
    const hasCursor = selected.some(({ name }) => name.value === 'cursor');
    const ofNode = selected.filter(({ name }) => name.value === 'node');
    return friendsFor(ofNode, rows, owner, info).map((node, index) => ({
      cursor: hasCursor ? cursorOf(parent, index) : '',
      node,
    }));
  },
  totalCount: ({ total }) => total ?? null,
  pageInfo: (parent) => {
    const { from, first, rows } = parent;
    return {
      hasNextPage: reachesBeyond(from + first, first, parent),
      hasPreviousPage: from > 0,
      startCursor: rows.length > 0 ? cursorOf(parent, 0) : null,
      endCursor: rows.length > 0 ? cursorOf(parent, rows.length - 1) : null,
    };
  },
};

export const friendFields: ReferredFriendResolvers = {
  player: ({ playerUniqueId }, { lang }, context, info) =>
    playerUniqueId === undefined || idProblem(playerUniqueId) ? null : readPlayer(playerUniqueId, lang, context, info),
};

/** The friends, with their `id` where it is selected below `nodes`. */
function friendsFor(
  nodes: readonly Selected[],
  rows: readonly ReferredFriend[],
  owner: string,
  info: GraphQLResolveInfo,
) {
  return withIds(rows, ({ playerUniqueId }) => playerUniqueId, ['ReferredFriend', owner], nodes, info);
}

function cursorOf({ from, rows, total }: ReferralConnectionParent, index: number): string {
  return writeCursor({ row: from + index, friend: rows[index]?.playerUniqueId, total });
}

/** Whether the list continues after `row`. If the service gives no total, a full page means that it does. */
function reachesBeyond(row: number, asked: number, { total, rows }: Referrals): boolean {
  return total === undefined ? asked > 0 && rows.length === asked : total > row;
}
