import { idProblem } from '../../../rest/ids.ts';

/** The longest event name, in characters; also what the reference service takes. */
export const MAX_NAME_LENGTH = 256;

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

/** Why a text cannot name an event or a player, or undefined when it can. */
export function nameProblem(name: string): Problem | undefined {
  if (name.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  if (name.length > MAX_NAME_LENGTH) {
    return { code: 'TOO_LONG', message: `must have at most ${MAX_NAME_LENGTH} characters` };
  }
  if (CONTROL.test(name)) return { code: 'INVALID', message: 'must not contain control characters' };
  return textProblem(name);
}

/** Why an identifier cannot be sent to the REST service, or undefined when it can. */
export const playerIdProblem: (playerUniqueId: string) => Problem | undefined = idProblem;

/** Whether a number is the one that was written: finite, and, when it is whole, within what JavaScript counts exactly. */
export function isExact(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}
