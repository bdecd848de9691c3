import type { CouponGroup } from './schema.ts';

/* What is computed from dates, uses and the current time. Both ends of a period belong to it; an absent end is open. */

export interface GroupState {
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

export function hasStarted(startAt: number | null, now: number): boolean {
  return startAt === null || now >= startAt;
}

/** A coupon is used from its first use on, even if it can be used again. */
export function isUsed(uses: number): boolean {
  return uses > 0;
}
