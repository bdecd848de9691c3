/** The longest id, in bytes of UTF-8. The interface document sets no bound; the reference service has the same. */
export const MAX_ID_BYTES = 1_024;

/** Control characters, and the invisible ones that change the direction of text. */
const CONTROL = /[\p{Cc}\p{Bidi_Control}]/u;

/** Why an id cannot be sent: a code of the schema's `UserErrorCode`, and the end of a sentence about the id. */
export interface IdProblem {
  code: 'INVALID' | 'REQUIRED' | 'TOO_LONG';
  message: string;
}

/**
 * Why a `playerUniqueId` cannot be sent, or undefined when it can. Percent-encoding does not change `.` and `..`, which would
 * address another resource. Half of a surrogate pair cannot be encoded in UTF-8.
 */
export function idProblem(playerUniqueId: string): IdProblem | undefined {
  if (playerUniqueId.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  if (playerUniqueId === '.' || playerUniqueId === '..') {
    return { code: 'INVALID', message: 'must not be "." or ".."' };
  }
  if (playerUniqueId.length > MAX_ID_BYTES || Buffer.byteLength(playerUniqueId) > MAX_ID_BYTES) {
    return { code: 'TOO_LONG', message: `must have at most ${MAX_ID_BYTES} bytes of UTF-8` };
  }
  if (CONTROL.test(playerUniqueId)) return { code: 'INVALID', message: 'must not contain control characters' };
  if (!playerUniqueId.isWellFormed()) return { code: 'INVALID', message: 'must not contain half of a surrogate pair' };
  return undefined;
}

/** The id itself. Throws a `RangeError` for one that cannot be sent. */
export function checkId(playerUniqueId: string): string {
  const problem = idProblem(playerUniqueId);
  if (problem) throw new RangeError(`A playerUniqueId ${problem.message}.`);
  return playerUniqueId;
}
