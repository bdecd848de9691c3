import type { Caller } from '../access/caller.ts';
import { ClientError } from '../graphql/errors.ts';
import type { RateLimits } from './rate-limits.ts';

/** In how many milliseconds a read is allowed; 0 for now. */
type Wait = Promise<number>;

/** The coupon reads of one operation. A caller who guesses ids guesses once for each field, under whatever alias. */
export class CouponReads {
  readonly #rates: Pick<RateLimits, 'takeCouponRead'>;
  readonly #caller: Caller;
  #ahead: Map<string, Wait> | undefined;

  constructor(rates: Pick<RateLimits, 'takeCouponRead'>, caller: Caller) {
    this.#rates = rates;
    this.#caller = caller;
  }

  /** Takes the allowance of a field that will be resolved later, once for each player and response key. */
  takeAhead(playerUniqueId: string, responseKey: string): Wait {
    const key = fieldKey(playerUniqueId, responseKey);
    this.#ahead ??= new Map();
    const wait = this.#ahead.get(key) ?? this.#rates.takeCouponRead(this.#caller);
    this.#ahead.set(key, wait);
    return wait;
  }

  /** Takes the allowance of a field unless that was done ahead. Throws RATE_LIMITED when there is none left. */
  async take(playerUniqueId: string, responseKey: string | number): Promise<void> {
    const key = fieldKey(playerUniqueId, responseKey);
    const ahead = this.#ahead?.get(key);
    this.#ahead?.delete(key);
    const retryAfterMs = await (ahead ?? this.#rates.takeCouponRead(this.#caller));
    if (retryAfterMs === 0) return;
    throw new ClientError('RATE_LIMITED', 'Too many reads of coupons in a short time. Try again later.', {
      extensions: { retryable: true, retryAfterMs },
    });
  }
}

/** A response key is a GraphQL name and has no space, so the first space ends it. */
function fieldKey(playerUniqueId: string, responseKey: string | number): string {
  return `${responseKey} ${playerUniqueId}`;
}
