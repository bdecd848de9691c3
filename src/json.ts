/* Values that come from JSON. */

/** A JSON object. */
export type Json = Record<string, unknown>;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether JSON carried a number exactly: a whole one beyond 2^53 was rounded, and one beyond 10^308 is infinite. */
export function isExactNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

/** Amounts of money are floats, which may be rounded. Any other large number can be an identifier. */
const AMOUNTS: ReadonlySet<string | number> = new Set(['totalSpent', 'avgOrderAmount']);

/** Whether a parsed number is exact: finite and, if whole, a safe integer of JavaScript or an amount. */
export function isExact(value: number, name: string | number = ''): boolean {
  return isExactNumber(value) || (AMOUNTS.has(name) && Number.isFinite(value));
}
