/* Which ids can be sent. */
import { GraphQLID } from 'graphql';

const { parseValue: parseId } = GraphQLID;

/** Parsing JSON rounds whole numbers beyond 2^53: 9007199254740993 would become the identifier of another player. */
export function parseExactId(value: unknown): string {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return parseId(value);
  const problem = value % 1 ? 'not whole' : 'too large to be exact';
  throw new TypeError(`This number is ${problem}; write it as a string.`);
}

/** The longest id, in bytes of UTF-8. The interface document sets no bound; the reference service has the same. */
const MAX_ID_BYTES = 1_024;
/** Control characters, and the invisible ones that change the direction of text. */
const CONTROL = /[\p{Cc}\p{Bidi_Control}]/u;
/**
 * A part `.` or `..` between slashes or backslashes, of which each may be percent-encoded, once or twice. A semicolon ends it
 * too: servers of Java drop what follows one (RFC 3986, 3.3) before they resolve dots.
 */
const DOT_PART = /(?:^|[/\\]|%(?:25)?(?:2f|5c))(?:\.|%(?:25)?2e){1,2}(?:$|[/\\;]|%(?:25)?(?:2f|5c|3b))/i;
/** Proxies that decode paths merge slashes, and services may ignore the last one: it would be the id of another player. */
const OUTER_SLASH = /^\/|\/$/;

/**
 * Why a `playerUniqueId` cannot be sent, or undefined when it can: a code of `UserErrorCode`, and the end of a sentence. A part
 * `.` or `..` could address another player, because proxies resolve it, some after they decoded `%2F` once or twice.
 */
export function idProblem(id: string): { code: 'INVALID' | 'REQUIRED' | 'TOO_LONG'; message: string } | undefined {
  if (id.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  const tooLong = `must have at most ${MAX_ID_BYTES} bytes of UTF-8`;
  if (Buffer.byteLength(id) > MAX_ID_BYTES) return { code: 'TOO_LONG', message: tooLong };
  if (DOT_PART.test(id)) return { code: 'INVALID', message: 'must not have "." or ".." between slashes' };
  if (OUTER_SLASH.test(id)) return { code: 'INVALID', message: 'must not begin or end with a slash' };
  if (CONTROL.test(id)) return { code: 'INVALID', message: 'must not contain control characters' };
  // UTF-8 cannot encode it.
  if (!id.isWellFormed()) return { code: 'INVALID', message: 'must not contain half of a surrogate pair' };
  return undefined;
}
