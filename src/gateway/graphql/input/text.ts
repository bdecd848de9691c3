/** The longest name of an event, in characters; the reference service has the same. */
const MAX_NAME_LENGTH = 256;
/** The longest idempotency key, in characters. */
const MAX_KEY_LENGTH = 128;

/** A problem of a client's value: a code of the schema's `UserErrorCode` and the end of a sentence. */
export interface Problem {
  code: 'INVALID' | 'REQUIRED' | 'DUPLICATE' | 'TOO_LONG';
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

/** Why a text cannot be an idempotency key. */
export function keyProblem(key: string): Problem | undefined {
  return nameProblem(key, MAX_KEY_LENGTH);
}

/** Why a text cannot name an event. */
export function nameProblem(name: string, maxLength = MAX_NAME_LENGTH): Problem | undefined {
  if (name.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  if (name.length > maxLength) return { code: 'TOO_LONG', message: `must have at most ${maxLength} characters` };
  if (CONTROL.test(name)) return { code: 'INVALID', message: 'must not contain control characters' };
  return textProblem(name);
}

/** Whether a parsed number is exact: finite and, if whole, a safe integer of JavaScript. */
export function isExact(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}
