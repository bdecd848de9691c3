import type { CouponFilter, CouponResolvers, PlayerResolvers } from '../../generated/graphql.ts';
import type { Coupon } from '../../rest/decode/coupon.ts';
import { checkFilter } from '../input.ts';

export const couponFields: Pick<PlayerResolvers, 'coupons'> = {
  coupons: async ({ playerUniqueId }, { filter }, { loaders }) => {
    if (filter) checkFilter(filter);
    const found = await loaders.coupons.load(playerUniqueId);
    return found && filter ? filterCoupons(found, filter) : found;
  },
};

/** Of type, owner and code, so that a client's cache never merges coupons of two players. */
export const couponId: Pick<CouponResolvers, 'id'> = {
  id: ({ owner, code }) => (code ? Buffer.from(JSON.stringify(['Coupon', owner, code])).toString('base64url') : null),
};

/** The coupons that match every member of the filter. For it, `fieldsIn` in engine/documents.ts has all properties decoded. */
function filterCoupons(coupons: readonly Coupon[], filter: CouponFilter): Coupon[] {
  const { isUsed, isExpired, usableNow, couponTypes: types, group } = filter;
  const now = new Date().toISOString();
  return coupons.filter(
    (coupon) =>
      (isUsed == null || (coupon.isUsed ?? false) === isUsed) &&
      (isExpired == null || (coupon.isExpired ?? false) === isExpired) &&
      (usableNow == null || isUsableNow(coupon, now) === usableNow) &&
      (types == null || types.includes(coupon.couponType ?? 'UNKNOWN')) &&
      (group == null || coupon.group?.handle === group),
  );
}

/** An absent date leaves that side open. With a usage limit above 1, `isUsed` does not tell whether a use is left. */
function isUsableNow({ isUsed, isExpired, startAt, endAt, group, options }: Coupon, now: string): boolean {
  return (
    (isUsed !== true || (options?.usageLimit ?? 1) > 1) &&
    isExpired !== true &&
    (startAt === undefined || startAt <= now) &&
    (endAt === undefined || endAt >= now) &&
    (group === undefined || group.isActive !== false)
  );
}
