import type { Caller } from '../access/caller.ts';
import { ClientError } from '../errors.ts';
import type { RateLimits } from './rate-limits.ts';

/** What one operation may read of coupons. Whoever guesses ids guesses once for each field, whatever its alias. */
export interface CouponReads {
  /**
   * Takes the allowance for a field that will be resolved later, for the look-ahead, once for each player and key in the
   * answer. True when the read may start now.
   */
  takeAhead(playerUniqueId: string, responseKey: string): Promise<boolean>;
  /** Takes the allowance for a field, unless that was done ahead. Throws RATE_LIMITED when there is none left. */
  take(playerUniqueId: string, responseKey: string | number): Promise<void>;
}

/** The coupon reads of one operation; `wait` verdicts are milliseconds, and 0 is yes. */
export function createCouponReads(rates: RateLimits, caller: Caller): CouponReads {
  const ahead = new Map<string, number | Promise<number>>();
  return {
    async takeAhead(playerUniqueId, responseKey) {
      const key = fieldKey(playerUniqueId, responseKey);
      const verdict = ahead.get(key) ?? rates.takeCouponRead(caller);
      ahead.set(key, verdict);
      return (await verdict) === 0;
    },
    async take(playerUniqueId, responseKey) {
      const key = fieldKey(playerUniqueId, responseKey);
      const verdict = ahead.get(key) ?? rates.takeCouponRead(caller);
      ahead.delete(key);
      const retryAfterMs = await verdict;
      if (retryAfterMs === 0) return;
      throw new ClientError('RATE_LIMITED', 'Too many reads of coupons in a short time. Try again later.', {
        extensions: { retryAfterMs },
      });
    },
  };
}

/** A key in the answer is a name of GraphQL's and has no space, so the first one ends it. */
function fieldKey(playerUniqueId: string, responseKey: string | number): string {
  return `${responseKey} ${playerUniqueId}`;
}
