/* Which ids can be sent. */
import { GraphQLID } from 'graphql';

const { parseValue: parseId } = GraphQLID;

/** Parsing JSON rounds whole numbers beyond 2^53: 9007199254740993 would become the identifier of another player. */
export function parseExactId(value: unknown): string {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return parseId(value);
  throw new TypeError(`This number is ${value % 1 ? 'not whole' : 'too large to be exact'}; write it as a string.`);
}

/** The longest id, in bytes of UTF-8. The interface document sets no bound; the reference service has the same. */
const MAX_ID_BYTES = 1_024;
/** Control characters, and the invisible ones that change the direction of text. */
const CONTROL = /[\p{Cc}\p{Bidi_Control}]/u;
/** A slash or a backslash, which proxies decode, some of them twice. */
const SLASH = String.raw`(?:[/\\]|%(?:25)?(?:2f|5c))`;
/** Proxies resolve a part `.` or `..`: it could lead to another player. */
const DOT_PART = new RegExp(String.raw`(?:^|${SLASH})(?:\.|%(?:25)?2e){1,2}(?:$|${SLASH})`, 'i');
/** Proxies merge slashes, and services may ignore the last one: it would be the id of another player. */
const LOST_SLASH = new RegExp(`^${SLASH}|${SLASH}$|${SLASH}{2}`, 'i');
/** The beginning of ids that are URLs. What a proxy makes of it, `https:/…`, is nobody's id. */
const SCHEME = /^[a-z][a-z\d+.-]*:\/\/(?!$)/i;
/** Servers of Java drop what follows a semicolon in a part (RFC 3986, 3.3), also after a proxy has decoded it. */
const PARAMETER = /;|%(?:25)?3b/i;

/**
 * Why a `playerUniqueId` cannot be sent, or undefined when it can: a code of `UserErrorCode`, and the end of a sentence. What a
 * server on the way could take for the id of another player is not sent.
 */
export function idProblem(id: string): { code: 'INVALID' | 'REQUIRED' | 'TOO_LONG'; message: string } | undefined {
  if (id.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  const tooLong = `must have at most ${MAX_ID_BYTES} bytes of UTF-8`;
  if (Buffer.byteLength(id) > MAX_ID_BYTES) return { code: 'TOO_LONG', message: tooLong };
  if (DOT_PART.test(id)) return { code: 'INVALID', message: 'must not have "." or ".." between slashes' };
  const slashes = 'must not begin or end with a slash, or have two in a row except in "://"';
  if (LOST_SLASH.test(id.replace(SCHEME, ''))) return { code: 'INVALID', message: slashes };
  if (PARAMETER.test(id)) return { code: 'INVALID', message: 'must not contain a semicolon' };
  if (CONTROL.test(id)) return { code: 'INVALID', message: 'must not contain control characters' };
  // UTF-8 cannot encode it.
  if (!id.isWellFormed()) return { code: 'INVALID', message: 'must not contain half of a surrogate pair' };
  return undefined;
}
