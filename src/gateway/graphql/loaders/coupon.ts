import type DataLoader from 'dataloader';
import type { Coupon } from '../../../rest/wire.ts';
import { createCallLoader, type Reading } from './call.ts';

export type CouponLoader = DataLoader<string, readonly Coupon[] | null>;

/** Reads players' coupons, each player's once per operation. Null for a player that does not exist. */
export function createCouponLoader(reading: Reading): CouponLoader {
  const { rest, call } = reading;
  return createCallLoader('coupons', reading, (playerUniqueId) => rest.listCoupons(playerUniqueId, call));
}
