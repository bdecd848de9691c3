import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { unknownPlayer } from '../errors.ts';
import { findPlayerId } from '../store/players.ts';
import { type FriendRow, listFriends, readTotals } from '../store/referrals.ts';
import { decode, optional, wholeNumber } from '../wire/members.ts';
import { isoTime, type Response, type Wire } from '../wire/response.ts';
import { playerIdOf, type Service } from './service.ts';

/** The query of `GET /integrations/players/{playerUniqueId}/referrals`. */
const referralQuery = z.object({
  page: optional(wholeNumber(1, Number.MAX_SAFE_INTEGER, 'must be a whole number from 1 on, given once')).default(1),
  limit: optional(wholeNumber(1, 200, 'must be a whole number from 1 to 200, given once')).default(50),
});

export function referralRoutes(app: FastifyInstance, { store }: Service): void {
  app.get('/integrations/players/:playerUniqueId/referrals', (request) => {
    const id = playerIdOf(request);
    const { page, limit } = decode(referralQuery, request.query, 'The query');
    return store.read(async (queries) => {
      const referrer = await findPlayerId(queries, { player_unique_id: id });
      if (!referrer) throw unknownPlayer();
      const { pending: totalPending, active: totalActive } = await readTotals(queries, referrer.id);
      const [total, offset] = [totalPending + totalActive, (page - 1) * limit];
      const friends = offset < total ? await listFriends(queries, referrer.id, offset, limit) : [];
      const referredFriends = friends.map(referredFriend);
      return { referredFriends, count: friends.length, total, totalPending, totalActive };
    });
  });
}

/** Without the attribute `joinDate`, a friend joined when the service created it. */
function referredFriend(row: FriendRow): Response<Wire['ReferredFriend']> {
  return {
    playerUniqueId: row.player_unique_id,
    displayName: row.display_name ?? undefined,
    email: row.email ?? undefined,
    mobileNumber: row.mobile ?? undefined,
    joinDate: row.join_date ?? isoTime(row.created_at),
    status: row.status,
  };
}
