/*
 * Decoders of single members. Real services send numbers as text, text as numbers, dates in many forms and null for missing
 * members. A value that cannot be decoded becomes undefined, with a warning. No decoder throws: one invalid member must not
 * fail the whole player.
 *
 * They run for every member of every response, so they take parameters instead of being closures, and try the usual form
 * first. A regular expression sees only text of bounded length: its time must not depend on what a service sends.
 */

export type Json = Record<string, unknown>;

/** Why a value was decoded to undefined or `UNKNOWN`. */
type DecodeWarning = 'unknown-enum-value' | 'undecodable-date' | 'wrong-type' | 'out-of-range' | 'bad-url';

/** Reports one value. `member` is a name such as `coupon.couponType`, never the value itself. */
export type Warn = (warning: DecodeWarning, member: string) => void;

/** The longest text that is decoded as a number, a boolean, a date or an enum value. */
const MAX_SHORT_TEXT = 64;

const NUMERIC = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text, with or without a byte order mark; undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}

/** Text; a number becomes text. */
export function text(value: unknown, member: string, warn: Warn): string | undefined {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number') return String(value);
  warn('wrong-type', member);
  return undefined;
}

/** An identifier: text, or a whole number that JSON carried exactly. */
export function identifier(value: unknown, member: string, warn: Warn): string | undefined {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return text(value, member, warn);
  warn('wrong-type', member);
  return undefined;
}

/** A finite number, or text that is one. Empty text is absent. */
export function number(value: unknown, member: string, warn: Warn): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (value === undefined || value === null || value === '') return undefined;
  const numeric = shortText(value);
  const decoded = numeric !== undefined && NUMERIC.test(numeric) ? Number(numeric) : Number.NaN;
  if (Number.isFinite(decoded)) return decoded;
  warn('wrong-type', member);
  return undefined;
}

/** A whole number within GraphQL's Int, which has 32 bits. */
export function int(value: unknown, member: string, warn: Warn): number | undefined {
  const decoded = number(value, member, warn);
  if (decoded === undefined || (decoded | 0) === decoded) return decoded;
  warn(Number.isInteger(decoded) ? 'out-of-range' : 'wrong-type', member);
  return undefined;
}

/** A boolean, or `true` or `false` as text. */
export function boolean(value: unknown, member: string, warn: Warn): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (value === undefined || value === null || value === '') return undefined;
  const name = shortText(value)?.toLowerCase();
  if (name === 'true' || name === 'false') return name === 'true';
  warn('wrong-type', member);
  return undefined;
}

/** The usual form of an address, which is valid in every part. */
const USUAL_URL = /^https?:\/\/(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+(?:\/[!-~]*)?$/;
const USUAL_URL_LENGTH = 256;
/** The longest URL. For hosts that are not ASCII, the time of Node's parser is quadratic in the length. */
const MAX_URL_LENGTH = 2_048;

/** Schemes that run code or reveal local data when a page opens them as a link. */
const UNSAFE_SCHEMES: ReadonlySet<string> = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:']);

/** An absolute URL of any scheme that is safe to open, such as an app's own. */
export function url(value: unknown, member: string, warn: Warn): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') {
    if (value.length <= USUAL_URL_LENGTH && USUAL_URL.test(value)) return value;
    // The parser ignores white space inside and around a scheme, as browsers do.
    if (value.length <= MAX_URL_LENGTH && URL.canParse(value) && !UNSAFE_SCHEMES.has(new URL(value).protocol))
      return value;
  }
  warn('bad-url', member);
  return undefined;
}

/** The enum value of a text in any case; `UNKNOWN` for any other, with a warning unless it is absent. */
export function oneOf<Name extends string>(
  names: ReadonlyMap<string, Name>,
  value: unknown,
  member: string,
  warn: Warn,
): Name | 'UNKNOWN' {
  if (typeof value === 'string') {
    const name = names.get(value) ?? names.get(shortText(value)?.toLowerCase() ?? '');
    if (name !== undefined) return name;
  }
  if (value !== undefined && value !== null) warn('unknown-enum-value', member);
  return 'UNKNOWN';
}

export function object<Decoded>(
  value: unknown,
  decode: (value: Json, warn: Warn) => Decoded,
  member: string,
  warn: Warn,
): Decoded | undefined {
  if (value === undefined || value === null) return undefined;
  if (isJson(value)) return decode(value, warn);
  warn('wrong-type', member);
  return undefined;
}

/** A list of objects; members that are not objects are left out. */
export function objects<Decoded>(
  value: unknown,
  decode: (value: Json, warn: Warn) => Decoded,
  member: string,
  warn: Warn,
): Decoded[] | undefined {
  if (!Array.isArray(value)) return noList(value, member, warn);
  // Decoded in place: a new list would be copied three to five times while it grows.
  let length = 0;
  for (const item of value) {
    if (isJson(item)) value[length++] = decode(item, warn);
    else warn('wrong-type', member);
  }
  value.length = length;
  return value;
}

/** A list of texts; other members are left out, numbers become text, and a single text is a list of one. */
export function texts(value: unknown, member: string, warn: Warn): string[] | undefined {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (!Array.isArray(value)) return noList(value, member, warn);
  const result: string[] = [];
  for (const item of value) {
    const decoded = text(item, member, warn);
    if (decoded !== undefined) result.push(decoded);
  }
  return result;
}

function noList(value: unknown, member: string, warn: Warn): undefined {
  if (value !== undefined && value !== null) warn('wrong-type', member);
  return undefined;
}

/** Text without surrounding white space; undefined for a text that is too long. */
function shortText(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_SHORT_TEXT ? value.trim() : undefined;
}
