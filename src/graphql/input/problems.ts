/** A problem that the caller can correct in the input of a mutation. */
export interface UserError {
  code: 'INVALID' | 'REQUIRED' | 'DUPLICATE' | 'TOO_LONG' | 'NOT_FOUND' | 'REJECTED';
  /** A path that begins with `input`. */
  field: readonly string[];
  message: string;
}

/** A mistake in the input that is found only while the write is prepared. Nothing was written. */
export class InputError extends Error {
  readonly userError: UserError;

  constructor(userError: UserError) {
    super(userError.message);
    this.userError = userError;
  }
}

/** A problem of a client's value: its code and the end of a sentence. */
export interface Problem {
  code: Exclude<UserError['code'], 'NOT_FOUND' | 'REJECTED'>;
  /** Follows the name of the member: "playerUniqueId must not be empty". */
  message: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Why a text cannot be sent: databases do not store NUL and halves of surrogate pairs correctly. */
export function textProblem(text: string): Problem | undefined {
  if (text.includes('\0')) return { code: 'INVALID', message: 'must not contain the NUL character' };
  if (!text.isWellFormed()) return { code: 'INVALID', message: 'must not contain half of a surrogate pair' };
  return undefined;
}

/** Why a text cannot be a name: of an event, or an idempotency key. */
export function nameProblem(name: string, maxLength: number): Problem | undefined {
  if (name.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  if (name.length > maxLength) return { code: 'TOO_LONG', message: `must have at most ${maxLength} characters` };
  if (CONTROL.test(name)) return { code: 'INVALID', message: 'must not contain control characters' };
  return textProblem(name);
}

/** Amounts of money are floats, which may be rounded. Any other large number can be an identifier. */
const AMOUNTS: ReadonlySet<string> = new Set(['totalSpent', 'avgOrderAmount']);

/** Whether a parsed number is exact: finite and, if whole, a safe integer of JavaScript or an amount. */
export function isExact(value: number, name?: string): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value) || isAmount(name));
}

function isAmount(name: string | undefined): boolean {
  return name !== undefined && AMOUNTS.has(name);
}
