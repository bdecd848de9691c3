import type { RestClient } from '../../rest/client.ts';
import type { Operation } from '../../rest/operation.ts';
import type { CallBudget } from './budget.ts';
import { type CouponLoader, createCouponLoader } from './coupon.ts';
import { createPlayerLoader, type PlayerLoader } from './player.ts';
import { createReferralLoader, type ReferralLoader } from './referral.ts';

/** What a loader works with: the REST client, the operation it reads for and that operation's budget of calls. */
export interface Reading {
  rest: RestClient;
  operation: Operation;
  budget: CallBudget;
  /** Told how many keys a loader put into one batch. */
  onBatch: (loader: string, keys: number) => void;
}

export interface Loaders {
  players: PlayerLoader;
  coupons: CouponLoader;
  referrals: ReferralLoader;
  /** Forgets everything read so far. */
  clearAll(): void;
}

/** The loaders of one operation: born with its context, never shared with another. */
export function createLoaders(reading: Reading): Loaders {
  const players = createPlayerLoader(reading);
  const coupons = createCouponLoader(reading);
  const referrals = createReferralLoader(reading);
  return {
    players,
    coupons,
    referrals,
    clearAll() {
      players.clearAll();
      coupons.clearAll();
      referrals.clearAll();
    },
  };
}
