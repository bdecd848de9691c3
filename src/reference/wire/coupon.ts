import { groupState, isExpired, isUsed } from '../programme/derived.ts';
import type { CouponGroup } from '../programme/schema.ts';
import type { CouponGroupRow, CouponRow } from '../store/coupons.ts';
import { type Answer, isoTime, stored, type Wire } from './answers.ts';

type GroupAnswer = Answer<Wire['CouponGroup']>;
type CouponAnswer = Answer<Omit<Wire['Coupon'], 'group'>> & { group: GroupAnswer | undefined };

/** All coupons of one player as they stand at the time `now`, with the groups that they came from. */
export function couponList(
  coupons: readonly CouponRow[],
  groups: readonly CouponGroupRow[],
  now: number,
): { coupons: CouponAnswer[] } {
  const obtained = new Map<string, number>();
  for (const { group_handle } of coupons) obtained.set(group_handle, (obtained.get(group_handle) ?? 0) + 1);
  const shown = new Map<string, GroupAnswer>();
  for (const { handle, definition } of groups) {
    const group = stored<CouponGroup>(definition);
    if (group) shown.set(handle, couponGroup(group, obtained.get(handle) ?? 0, now));
  }
  return { coupons: coupons.map((row) => coupon(row, shown.get(row.group_handle), now)) };
}

function coupon(row: CouponRow, group: GroupAnswer | undefined, now: number): CouponAnswer {
  return {
    code: row.code,
    isUsed: isUsed(row.uses),
    value: row.value ?? undefined,
    currency: row.currency ?? undefined,
    creationDate: isoTime(row.created_at),
    couponType: row.coupon_type,
    product: stored(row.product),
    startAt: isoTime(row.start_at),
    endAt: isoTime(row.end_at),
    isExpired: isExpired(row.end_at, now),
    collections: stored(row.collections) ?? [],
    group,
    options: stored(row.options),
  };
}

function couponGroup(group: CouponGroup, obtained: number, now: number): GroupAnswer {
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
