import type { CouponFilter, PlayerResolvers } from '../../generated/graphql.ts';
import type { Coupon } from '../../rest/wire.ts';
import { checkLength, MAX_COUPON_TYPES } from '../input/arguments.ts';
import { withIds } from '../lookahead.ts';

export const couponFields: Pick<PlayerResolvers, 'coupons'> = {
  coupons: async ({ playerUniqueId }, { filter }, { loaders }, info) => {
    checkLength('filter.couponTypes', filter?.couponTypes ?? [], MAX_COUPON_TYPES);
    const found = await loaders.coupons.load(playerUniqueId);
    const coupons = found && filter ? filterCoupons(found, filter, new Date()) : found;
    return coupons && withIds(coupons, ({ code }) => code, ['Coupon', playerUniqueId], info.fieldNodes, info);
  },
};

/** The coupons that match every member of the filter; a member that is absent or null matches all. */
function filterCoupons(coupons: readonly Coupon[], filter: CouponFilter, now: Date): Coupon[] {
  const { isUsed, isExpired, usableNow, couponTypes: types, group } = filter;
  return coupons.filter(
    (coupon) =>
      (isUsed == null || (coupon.isUsed ?? false) === isUsed) &&
      (isExpired == null || (coupon.isExpired ?? false) === isExpired) &&
      (usableNow == null || isUsableNow(coupon, now) === usableNow) &&
      (types == null || types.includes(coupon.couponType)) &&
      (group == null || coupon.group?.handle === group),
  );
}

/**
 * Not used up, unexpired, started, and of a group that is not inactive. A date that is absent leaves that side open. With a usage
 * limit above 1, `isUsed` does not tell whether a use is left.
 */
function isUsableNow({ isUsed, isExpired, startAt, endAt, group, options }: Coupon, now: Date): boolean {
  const today = now.toISOString();
  return (
    (isUsed !== true || (options?.usageLimit ?? 1) > 1) &&
    isExpired !== true &&
    (startAt === undefined || startAt <= today) &&
    (endAt === undefined || endAt >= today) &&
    (group === undefined || group.isActive !== false)
  );
}
