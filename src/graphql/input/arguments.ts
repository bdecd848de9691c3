import { badUserInput } from '../../errors.ts';

/** The largest page of the REST service (interface document, "Limits"). */
export const MAX_PAGE_SIZE = 200;
/** How many kinds of coupons one filter may name. */
const MAX_COUPON_TYPES = 100;
/** The last row that a page may contain. Larger row numbers would not fit the service's integers. */
const MAX_ROW = 2 ** 31 - 1;

/** Checks the arguments of a page of the REST service. */
export function checkPage(page: number, limit: number): void {
  checkSize('limit', limit);
  if (page < 1) throw badUserInput('page', 'must be at least 1');
  if (page * limit > MAX_ROW) throw badUserInput('page', 'is too large for this limit');
}

/** Makes sure that a page or a range has `min` to 200 items. */
export function checkSize(argument: string, size: number, min = 1): void {
  if (size < min || size > MAX_PAGE_SIZE) throw badUserInput(argument, `must lie between ${min} and ${MAX_PAGE_SIZE}`);
}

/** Checks the filter of a list of coupons. */
export function checkFilter({ couponTypes }: { couponTypes?: readonly unknown[] | null | undefined }): void {
  if (couponTypes) checkLength('filter.couponTypes', couponTypes, MAX_COUPON_TYPES);
}

/** Checks the length of a list; throws BAD_USER_INPUT. */
export function checkLength(argument: string, { length }: readonly unknown[], max: number): void {
  if (length > max) throw badUserInput(argument, `must have at most ${max} items, not ${length}`);
}
