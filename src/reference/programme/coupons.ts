import { randomInt } from 'node:crypto';
import { addCoupon, countCoupons } from '../store/coupons.ts';
import type { Queries } from '../store/store.ts';
import { groupState } from './derived.ts';
import type { CouponGroup } from './schema.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Letters and digits that nobody takes for one another when a code is read aloud or typed from paper. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTVWXYZ23456789';
const CODE_LENGTH = 12;

/**
 * Issues a coupon of a group to a player whose totals the transaction holds. Gives its code, or undefined when the player
 * cannot obtain one: the group is not active, its dates are not now, or the player has `maxPerPlayer` of it already.
 */
export async function issueCoupon(
  queries: Queries,
  group: CouponGroup,
  playerId: number,
  now: number,
): Promise<string | undefined> {
  const obtained = await countCoupons(queries, playerId, group.handle);
  if (!groupState(group, obtained, now).isAvailable) return undefined;
  const { type, value, currency, startAt, endAt, product, collections, options } = group.coupon;
  const lasts = options?.ExpiryAfter;
  const code = newCode();
  await addCoupon(queries, {
    code,
    player_id: playerId,
    group_handle: group.handle,
    coupon_type: type,
    value: value ?? null,
    currency: currency ?? null,
    created_at: now,
    start_at: startAt ?? now,
    end_at: endAt ?? (lasts === undefined ? null : now + lasts * DAY_MS),
    product: jsonOrNull(product),
    collections: jsonOrNull(collections),
    options: jsonOrNull(options),
    usage_limit: options?.UsageLimit ?? null,
  });
  return code;
}

function newCode(): string {
  return Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

function jsonOrNull(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
