import { createLoader, type LoaderDependencies } from './loader.ts';

/**
 * Players' coupons, each player's read once per operation; null for a player that does not exist. A batch consumes its coupon
 * reads in one step: all its fields are RATE_LIMITED, or none.
 */
export function createCouponLoader({ rest, rates, callContext, budget, onBatch }: LoaderDependencies) {
  return createLoader(async (keys: readonly string[]) => {
    onBatch('coupons', keys.length);
    budget.consume(keys.length);
    await rates.consume('couponReads', callContext.caller, keys.length);
    return keys.map((id) => rest.listCoupons(id, callContext));
  });
}
