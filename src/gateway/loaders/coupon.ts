import DataLoader from 'dataloader';
import type { Coupon } from '../../rest/wire.ts';
import type { Reading } from './loaders.ts';
import { asError } from './player.ts';

export type CouponLoader = DataLoader<string, readonly Coupon[] | null>;

/** Reads players' coupons, each player's once per operation. Null for a player that does not exist. */
export function createCouponLoader({ rest, operation, budget, onBatch }: Reading): CouponLoader {
  return new DataLoader(async (playerUniqueIds) => {
    onBatch('coupons', playerUniqueIds.length);
    budget.take(playerUniqueIds.length);
    return await Promise.all(playerUniqueIds.map((id) => rest.listCoupons(id, operation).catch(asError)));
  });
}
