import { after, type Maybe } from '../../rest/maybe.ts';
import type { Caller } from '../access/caller.ts';
import { ClientError } from '../graphql/errors.ts';
import type { RateLimits } from './rate-limits.ts';

type Verdict = Maybe<number>;

/**
 * What one operation may read of coupons. Whoever guesses ids guesses once for each field, whatever its alias. A verdict is
 * a wait in milliseconds, and 0 is yes.
 */
export class CouponReads {
  readonly #rates: RateLimits;
  readonly #caller: Caller;
  #ahead: Map<string, Verdict> | undefined;

  constructor(rates: RateLimits, caller: Caller) {
    this.#rates = rates;
    this.#caller = caller;
  }

  /**
   * Takes the allowance for a field that will be resolved later, for the look-ahead, once for each player and key in the
   * answer. The read may start now when the verdict is yes.
   */
  takeAhead(playerUniqueId: string, responseKey: string): Verdict {
    const key = fieldKey(playerUniqueId, responseKey);
    this.#ahead ??= new Map();
    const verdict = this.#ahead.get(key) ?? this.#rates.takeCouponRead(this.#caller);
    this.#ahead.set(key, verdict);
    return verdict;
  }

  /** Takes the allowance for a field, unless that was done ahead. Throws RATE_LIMITED when there is none left. */
  take(playerUniqueId: string, responseKey: string | number): Maybe<void> {
    const key = fieldKey(playerUniqueId, responseKey);
    const verdict = this.#ahead?.get(key) ?? this.#rates.takeCouponRead(this.#caller);
    this.#ahead?.delete(key);
    return after(verdict, refuseFor);
  }
}

function refuseFor(retryAfterMs: number): void {
  if (retryAfterMs === 0) return;
  throw new ClientError('RATE_LIMITED', 'Too many reads of coupons in a short time. Try again later.', {
    extensions: { retryAfterMs },
  });
}

/** A key in the answer is a name of GraphQL's and has no space, so the first one ends it. */
function fieldKey(playerUniqueId: string, responseKey: string | number): string {
  return `${responseKey} ${playerUniqueId}`;
}
