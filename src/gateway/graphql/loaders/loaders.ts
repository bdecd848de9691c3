import type { Reading } from './call.ts';
import { type CouponLoader, createCouponLoader } from './coupon.ts';
import { createPlayerLoader, type PlayerLoader } from './player.ts';
import { createReferralLoader, type ReferralLoader } from './referral.ts';
import { Writes } from './writes.ts';

/** The loaders and writes of one operation, each created at its first use and never shared with another operation. */
export class Loaders {
  readonly #reading: Reading;
  #players: PlayerLoader | undefined;
  #coupons: CouponLoader | undefined;
  #referrals: ReferralLoader | undefined;
  #writes: Writes | undefined;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  get players(): PlayerLoader {
    this.#players ??= createPlayerLoader(this.#reading);
    return this.#players;
  }

  get coupons(): CouponLoader {
    this.#coupons ??= createCouponLoader(this.#reading);
    return this.#coupons;
  }

  get referrals(): ReferralLoader {
    this.#referrals ??= createReferralLoader(this.#reading);
    return this.#referrals;
  }

  get writes(): Writes {
    this.#writes ??= new Writes(this.#reading, () => this.clearAll());
    return this.#writes;
  }

  /** Clears the caches of all loaders. */
  clearAll(): void {
    this.#players?.clearAll();
    this.#coupons?.clearAll();
    this.#referrals?.clearAll();
  }
}
