/** The longest identifier or event name, in characters; also what the reference service takes. */
export const MAX_NAME_LENGTH = 256;

/** The longest idempotency key, in characters. */
const MAX_KEY_LENGTH = 128;

/** What can be wrong with a value a client sent: a code of the schema's `UserErrorCode` and half a sentence. */
export interface Problem {
  code: 'INVALID' | 'REQUIRED' | 'DUPLICATE' | 'TOO_LONG';
  /** Follows the name of the member: "playerUniqueId must not be empty". */
  message: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Why a text cannot be sent on, or undefined when it can: NUL and halves of surrogate pairs do not survive storage. */
export function textProblem(text: string): Problem | undefined {
  if (text.includes('\0')) return { code: 'INVALID', message: 'must not contain the NUL character' };
  if (!text.isWellFormed()) return { code: 'INVALID', message: 'must not contain half of a surrogate pair' };
  return undefined;
}

/** Why a text cannot be an idempotency key, or undefined when it can. */
export function keyProblem(key: string): Problem | undefined {
  return nameProblem(key, MAX_KEY_LENGTH);
}

/** Why a text cannot name an event or a player, or undefined when it can. */
export function nameProblem(name: string, maxLength = MAX_NAME_LENGTH): Problem | undefined {
  if (name.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  if (name.length > maxLength) return { code: 'TOO_LONG', message: `must have at most ${maxLength} characters` };
  if (CONTROL.test(name)) return { code: 'INVALID', message: 'must not contain control characters' };
  return textProblem(name);
}

/** Why an identifier cannot stand in a path of the REST service: `.` and `..` would name another resource. */
export function playerIdProblem(playerUniqueId: string): Problem | undefined {
  if (playerUniqueId === '.' || playerUniqueId === '..') {
    return { code: 'INVALID', message: 'must not be "." or ".."' };
  }
  return nameProblem(playerUniqueId);
}

/** Whether a number is the one that was written: finite, and, when it is whole, within what JavaScript counts exactly. */
export function isExact(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}
