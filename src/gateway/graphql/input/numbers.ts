/** Whether a number is the one that was written: finite, and, when it is whole, within what JavaScript counts exactly. */
export function isExact(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}
