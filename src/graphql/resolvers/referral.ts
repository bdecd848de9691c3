import type { PlayerResolvers, ReferredFriendEdgeResolvers, ReferredFriendResolvers } from '../../generated/graphql.ts';
import { idProblem } from '../../player-id.ts';
import { cursorOf, readConnection } from '../loaders/connection.ts';
import type { Referrals } from '../loaders/referral.ts';
import { rowsOfConnection, rowsOfPage } from '../lookahead.ts';
import { readPlayer } from './player.ts';

export const referralFields: Pick<PlayerResolvers, 'referredFriends' | 'referredFriendsConnection'> = {
  referredFriends: async ({ playerUniqueId }, args, { loaders }, info) => {
    const { page, limit, ...range } = rowsOfPage(args, info.fieldNodes, info);
    const found = await loaders.referrals.load(playerUniqueId, range);
    if (!found) return null;
    const { rows, total, totalPending, totalActive } = found;
    const hasNextPage = reachesBeyond(page * limit, limit, found);
    return { total, totalPending, totalActive, page, limit, hasNextPage, count: rows.length, nodes: rows };
  },
  referredFriendsConnection: async ({ playerUniqueId }, args, { loaders, hashFriend }, info) => {
    const range = rowsOfConnection(args, info.fieldNodes, info);
    const found = await readConnection(loaders.referrals, playerUniqueId, range, hashFriend);
    if (!found) return null;
    const { from, total, rows: nodes } = found;
    const edges = nodes.map((node, index) => ({ node, row: from + index }));
    const [start, end] = [edges.at(0), edges.at(-1)];
    const pageInfo = {
      // Without nodes there is no cursor to go on with; with `first: 0` the client wants none.
      hasNextPage: (nodes.length > 0 || range.first === 0) && reachesBeyond(from + nodes.length, range.first, found),
      hasPreviousPage: from > 0,
      startCursor: start && cursorOf(start, hashFriend),
      endCursor: end && cursorOf(end, hashFriend),
    };
    return { nodes, edges, pageInfo, totalCount: total };
  },
};

export const friendFields: ReferredFriendResolvers = {
  id: ({ owner, playerUniqueId }, _args, { hashFriend }) => (playerUniqueId ? hashFriend(owner, playerUniqueId) : null),
  player: ({ playerUniqueId }, { lang }, context, info) =>
    playerUniqueId === undefined || idProblem(playerUniqueId) ? null : readPlayer(playerUniqueId, lang, context, info),
};

export const friendEdge: Pick<ReferredFriendEdgeResolvers, 'cursor'> = {
  cursor: (edge, _args, { hashFriend }) => cursorOf(edge, hashFriend),
};

/** Whether the list continues after `row`. Without a total, or with one below the rows read, a full page means that it does. */
function reachesBeyond(row: number, asked: number, { total, rows }: Referrals): boolean {
  return total === undefined || total < rows.length ? asked > 0 && rows.length === asked : total > row;
}
