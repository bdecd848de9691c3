import type {
  PlayerResolvers,
  ReferredFriendConnectionResolvers,
  ReferredFriendPageResolvers,
  ReferredFriendResolvers,
} from '../../../generated/graphql.ts';
import { cursorAt } from '../input/cursor.ts';
import { rowsOfConnection, rowsOfPage } from '../input/rows.ts';
import { playerIdProblem } from '../input/text.ts';
import type { Referrals } from '../loaders/referral.ts';
import { readPlayer } from './player.ts';

export const referralFields: Pick<PlayerResolvers, 'referredFriends' | 'referredFriendsConnection'> = {
  referredFriends: async ({ playerUniqueId }, args, { loaders }, info) => {
    const { page, limit } = args;
    const { from, to } = rowsOfPage(args, info.fieldNodes, info);
    const found = await loaders.referrals.load({ playerUniqueId, from, to });
    if (!found) return null;
    const { rows, total, totalPending, totalActive } = found;
    return { rows, total, totalPending, totalActive, page, limit };
  },
  referredFriendsConnection: async ({ playerUniqueId }, args, { loaders }, info) => {
    const { first } = args;
    const { from, to } = rowsOfConnection(args, info.fieldNodes, info);
    const found = await loaders.referrals.load({ playerUniqueId, from, to });
    if (!found) return null;
    const { rows, total, totalPending, totalActive } = found;
    return { rows, total, totalPending, totalActive, from, first };
  },
};

export const referralPageFields: ReferredFriendPageResolvers = {
  nodes: ({ rows }) => rows,
  count: ({ rows }) => rows.length,
  hasNextPage: ({ page, limit, ...found }) => reachesBeyond(page * limit, limit, found),
};

export const referralConnectionFields: ReferredFriendConnectionResolvers = {
  nodes: ({ rows }) => rows,
  edges: ({ from, rows }) => rows.map((node, index) => ({ cursor: cursorAt(from + index), node })),
  totalCount: ({ total }) => total ?? null,
  pageInfo: ({ from, first, ...found }) => ({
    hasNextPage: reachesBeyond(from + first, first, found),
    hasPreviousPage: from > 0,
    startCursor: found.rows.length > 0 ? cursorAt(from) : null,
    endCursor: found.rows.length > 0 ? cursorAt(from + found.rows.length - 1) : null,
  }),
};

export const friendFields: ReferredFriendResolvers = {
  player: ({ playerUniqueId }, { lang }, context, info) =>
    playerUniqueId === undefined || playerIdProblem(playerUniqueId)
      ? null
      : readPlayer(playerUniqueId, lang, context, info),
};

/** Whether the list has rows after `row`. Without a total, a full page means that it does. */
function reachesBeyond(row: number, asked: number, { total, rows }: Referrals): boolean {
  return total === undefined ? rows.length === asked : total > row;
}
