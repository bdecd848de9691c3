import type { FastifyInstance } from 'fastify';
import { unknownPlayer } from '../errors.ts';
import { groupOf, groupState, isExpired } from '../programme/coupons.ts';
import type { CouponGroup, Programme } from '../programme/file.ts';
import { type CouponRow, listCoupons } from '../store/coupons.ts';
import { findPlayerId } from '../store/players.ts';
import { isoTime, type Response, type Wire } from '../wire/response.ts';
import { playerIdOf, requireKey, type Service } from './service.ts';

export function couponRoutes(app: FastifyInstance, service: Service): void {
  const secretKey = { onRequest: requireKey(service, 'secretKey') };
  app.get('/integrations/transactions/:playerUniqueId/coupon', secretKey, (request) => {
    const id = playerIdOf(request);
    return service.store.read(async (queries) => {
      const player = await findPlayerId(queries, { player_unique_id: id });
      if (!player) throw unknownPlayer();
      return { coupons: couponList(await listCoupons(queries, player.id), service.programme, service.now()) };
    });
  });
}

/** All coupons of one player at the time `now`, with their groups. */
function couponList(rows: readonly CouponRow[], programme: Programme, now: number): Response<Wire['Coupon']>[] {
  const obtained = new Map<string, number>();
  for (const { group_handle } of rows) obtained.set(group_handle, (obtained.get(group_handle) ?? 0) + 1);
  return rows.map((row) => {
    const issued: CouponGroup = JSON.parse(row.definition);
    const { type: couponType, ...shown } = issued.coupon;
    const group = groupOf(programme, row);
    const { coupon: _, active: __, startDate, expiryDate, ...shownOfGroup } = group;
    return {
      collections: [],
      ...shown,
      code: row.code,
      couponType,
      // From the first use on, even if it can be used again.
      isUsed: row.uses > 0,
      creationDate: isoTime(row.created_at),
      startAt: isoTime(row.start_at),
      endAt: isoTime(row.end_at),
      isExpired: isExpired(row.end_at, now),
      group: {
        ...shownOfGroup,
        startDate: isoTime(startDate),
        expiryDate: isoTime(expiryDate),
        ...groupState(group, obtained.get(group.handle) ?? 0, now),
      },
    };
  });
}
