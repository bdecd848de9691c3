import type { FastifyInstance } from 'fastify';
import { unknownPlayer } from '../errors.ts';
import { groupState, isExpired } from '../programme/coupons.ts';
import type { CouponGroup } from '../programme/schema.ts';
import { type CouponGroupRow, type CouponRow, listCoupons, listGroups } from '../store/coupons.ts';
import { findPlayer } from '../store/players.ts';
import { isoTime, parseStored, type Response, type Wire } from '../wire/response.ts';
import { playerIdOf, requireKey, type Service } from './request.ts';

export function couponRoutes(app: FastifyInstance, service: Service): void {
  const secretKey = { onRequest: requireKey(service, 'secretKey') };
  app.get('/integrations/transactions/:playerUniqueId/coupon', secretKey, (request) => {
    const id = playerIdOf(request);
    return service.store.read(async (queries) => {
      const player = await findPlayer(queries, id);
      if (!player) throw unknownPlayer();
      return couponList(await listCoupons(queries, player.id), await listGroups(queries), service.now());
    });
  });
}

type GroupResponse = Response<Wire['CouponGroup']>;
type CouponResponse = Response<Omit<Wire['Coupon'], 'group'>> & { group: GroupResponse | undefined };

/** All coupons of one player at the time `now`, with their groups. */
function couponList(
  coupons: readonly CouponRow[],
  groups: readonly CouponGroupRow[],
  now: number,
): { coupons: CouponResponse[] } {
  const obtained = new Map<string, number>();
  for (const { group_handle } of coupons) obtained.set(group_handle, (obtained.get(group_handle) ?? 0) + 1);
  const shownGroups = new Map<string, GroupResponse>();
  for (const { handle, definition } of groups) {
    const group = parseStored<CouponGroup>(definition);
    if (group) shownGroups.set(handle, couponGroup(group, obtained.get(handle) ?? 0, now));
  }
  return { coupons: coupons.map((row) => coupon(row, shownGroups.get(row.group_handle), now)) };
}

function coupon(row: CouponRow, group: GroupResponse | undefined, now: number): CouponResponse {
  return {
    code: row.code,
    // From the first use on, even if it can be used again.
    isUsed: row.uses > 0,
    value: row.value ?? undefined,
    currency: row.currency ?? undefined,
    creationDate: isoTime(row.created_at),
    couponType: row.coupon_type,
    product: parseStored(row.product),
    startAt: isoTime(row.start_at),
    endAt: isoTime(row.end_at),
    isExpired: isExpired(row.end_at, now),
    collections: parseStored(row.collections) ?? [],
    group,
    options: parseStored(row.options),
  };
}

function couponGroup(group: CouponGroup, obtained: number, now: number): GroupResponse {
  const { handle, title, url, iconPath, description, maxPerPlayer, startDate, expiryDate } = group;
  return {
    handle,
    title,
    url,
    iconPath,
    description,
    maxPerPlayer,
    startDate: isoTime(startDate),
    expiryDate: isoTime(expiryDate),
    ...groupState(group, obtained, now),
  };
}
