import { randomInt } from 'node:crypto';
import { addCoupon, countCoupons } from '../store/coupons.ts';
import type { Queries } from '../store/store.ts';
import type { CouponGroup, Programme } from './file.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;

/** Letters and digits that are not easily confused. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTVWXYZ23456789';
const CODE_LENGTH = 12;

/**
 * Issues a coupon of a group to a player whose totals the transaction has locked. Returns its code, or undefined if the
 * group is not available to the player: it is not active, its dates are not now, its coupons have ended, or
 * `maxPerPlayer` is reached.
 */
export async function issueCoupon(queries: Queries, group: CouponGroup, playerId: number, now: number) {
  const obtained = await countCoupons(queries, playerId, group.handle);
  if (!groupState(group, obtained, now).isAvailable) return undefined;
  const { startAt, endAt, options } = group.coupon;
  const days = options?.ExpiryAfter;
  const from = Math.max(now, startAt ?? now);
  const code = Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  await addCoupon(queries, {
    code,
    player_id: playerId,
    group_handle: group.handle,
    definition: JSON.stringify(group),
    created_at: now,
    start_at: startAt ?? now,
    end_at: endAt ?? (days === undefined ? null : from + days * DAY_MS),
    usage_limit: options?.UsageLimit ?? null,
  });
  return code;
}

/** The group of a coupon as the programme has it now; of a group that is no longer in it, as it was when the coupon was issued. */
export function groupOf(programme: Programme, coupon: { group_handle: string; definition: string }): CouponGroup {
  return programme.groups.find(({ handle }) => handle === coupon.group_handle) ?? JSON.parse(coupon.definition);
}

/**
 * What the interface document computes from a group and the current time. Both ends of a period belong to it; an absent
 * end is open.
 * @param obtained How many coupons of the group the player has obtained already.
 */
export function groupState(
  group: Pick<CouponGroup, 'startDate' | 'expiryDate' | 'active' | 'maxPerPlayer' | 'coupon'>,
  obtained: number,
  now: number,
) {
  const isValid = now >= (group.startDate ?? -Infinity) && now <= (group.expiryDate ?? Infinity);
  const isActive = group.active && isValid;
  const isLeft = obtained < (group.maxPerPlayer ?? Infinity) && !isExpired(group.coupon.endAt ?? null, now);
  return { isValid, isActive, isAvailable: isActive && isLeft };
}

export function isExpired(endAt: number | null, now: number): boolean {
  return endAt !== null && now > endAt;
}
