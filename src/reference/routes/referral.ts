import type { FastifyInstance } from 'fastify';
import { unknownPlayer } from '../errors.ts';
import type { Service } from '../service.ts';
import { findPlayer } from '../store/players.ts';
import { listFriends, readTotals } from '../store/referrals.ts';
import { decode } from '../wire/decode.ts';
import { referralPage, referralQuery } from '../wire/referral.ts';
import { playerIdOf } from './request.ts';

export function referralRoutes(app: FastifyInstance, { store }: Service): void {
  app.get('/integrations/players/:playerUniqueId/referrals', (request) => {
    const id = playerIdOf(request);
    const { page, limit } = decode(referralQuery, request.query, 'The query');
    return store.read(async (queries) => {
      const referrer = await findPlayer(queries, id);
      if (!referrer) throw unknownPlayer();
      const offset = (page - 1) * limit;
      const totals = await readTotals(queries, referrer.id);
      const isPastEnd = offset >= totals.pending + totals.active;
      return referralPage(totals, isPastEnd ? [] : await listFriends(queries, referrer.id, offset, limit));
    });
  });
}
