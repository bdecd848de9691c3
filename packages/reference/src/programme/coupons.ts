import { randomInt } from 'node:crypto';
import { countCoupons } from '../store/coupons.ts';
import type { Queries } from '../store/store.ts';
import type { CouponsTable } from '../store/tables.ts';
import type { CouponGroup } from './schema.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Letters and digits that are not easily confused. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTVWXYZ23456789';
const CODE_LENGTH = 12;

/**
 * Issues a coupon of a group to a player whose totals the transaction has locked. Returns its code, or undefined if the
 * group is not available to the player: it is not active, its dates are not now, or `maxPerPlayer` is reached.
 * @param cause The step that the coupon rewards and the friend of that referral; stored for the operator's report.
 */
export async function issueCoupon(
  queries: Queries,
  group: CouponGroup,
  playerId: number,
  cause: Pick<CouponsTable, 'reason' | 'friend_id'>,
  now: number,
): Promise<string | undefined> {
  const obtained = await countCoupons(queries, playerId, group.handle);
  if (!groupState(group, obtained, now).isAvailable) return undefined;
  const { type, value, currency, startAt, endAt, product, collections, options } = group.coupon;
  const days = options?.ExpiryAfter;
  const code = newCode();
  await queries
    .insertInto('coupons')
    .values({
      code,
      player_id: playerId,
      group_handle: group.handle,
      coupon_type: type,
      value: value ?? null,
      currency: currency ?? null,
      created_at: now,
      start_at: startAt ?? now,
      end_at: endAt ?? (days === undefined ? null : now + days * DAY_MS),
      product: jsonOrNull(product),
      collections: jsonOrNull(collections),
      options: jsonOrNull(options),
      usage_limit: options?.UsageLimit ?? null,
      ...cause,
    })
    .execute();
  return code;
}

function newCode(): string {
  return Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

function jsonOrNull(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/* What is computed from dates, uses and the current time. Both ends of a period belong to it; an absent end is open. */

interface GroupState {
  /** The current time lies between the group's dates. */
  isValid: boolean;
  /** The operator offers the group, and its dates are valid. */
  isActive: boolean;
  /** The player can still obtain a coupon from the group. */
  isAvailable: boolean;
}

/** @param obtained How many coupons of the group the player has obtained already. */
export function groupState(
  group: Pick<CouponGroup, 'startDate' | 'expiryDate' | 'active' | 'maxPerPlayer'>,
  obtained: number,
  now: number,
): GroupState {
  const isValid = now >= (group.startDate ?? -Infinity) && now <= (group.expiryDate ?? Infinity);
  const isActive = group.active && isValid;
  return { isValid, isActive, isAvailable: isActive && obtained < (group.maxPerPlayer ?? Infinity) };
}

export function isExpired(endAt: number | null, now: number): boolean {
  return endAt !== null && now > endAt;
}
