import type { PlayerResolvers, ReferredFriendResolvers } from '../../generated/graphql.ts';
import { idProblem } from '../../rest/request.ts';
import { readConnection, writeCursor } from '../loaders/connection.ts';
import type { Referrals } from '../loaders/referral.ts';
import { rowsOfConnection, rowsOfPage } from '../lookahead.ts';
import { opaqueId } from './parents.ts';
import { readPlayer } from './player.ts';

export const referralFields: Pick<PlayerResolvers, 'referredFriends' | 'referredFriendsConnection'> = {
  referredFriends: async ({ playerUniqueId }, args, { loaders }, info) => {
    const { page, limit, ...range } = rowsOfPage(args, info.fieldNodes, info);
    const found = await loaders.referrals.load(playerUniqueId, range);
    if (!found) return null;
    const { rows, ...totals } = found;
    const hasNextPage = reachesBeyond(page * limit, limit, found);
    return { ...totals, page, limit, hasNextPage, count: rows.length, nodes: friendsOf(playerUniqueId, found) };
  },
  referredFriendsConnection: async ({ playerUniqueId }, args, { loaders }, info) => {
    const range = rowsOfConnection(args, info.fieldNodes, info);
    const found = await readConnection(loaders.referrals, playerUniqueId, range);
    if (!found) return null;
    const { from, total } = found;
    const nodes = friendsOf(playerUniqueId, found);
    const edges = nodes.map((node, index) => {
      return { node, cursor: writeCursor({ row: from + index, friend: node.playerUniqueId }) };
    });
    const pageInfo = {
      hasNextPage: reachesBeyond(from + range.first, range.first, found),
      hasPreviousPage: from > 0,
      startCursor: edges.at(0)?.cursor,
      endCursor: edges.at(-1)?.cursor,
    };
    return { nodes, edges, pageInfo, totalCount: total };
  },
};

export const friendFields: ReferredFriendResolvers = {
  player: ({ playerUniqueId }, { lang }, context, info) =>
    playerUniqueId === undefined || idProblem(playerUniqueId) ? null : readPlayer(playerUniqueId, lang, context, info),
};

function friendsOf(owner: string, { rows }: Referrals) {
  return rows.map((friend) => ({ ...friend, id: opaqueId('ReferredFriend', owner, friend.playerUniqueId) }));
}

/** Whether the list continues after `row`. If the service gives no total, a full page means that it does. */
function reachesBeyond(row: number, asked: number, { total, rows }: Referrals): boolean {
  return total === undefined ? asked > 0 && rows.length === asked : total > row;
}
