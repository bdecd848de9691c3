/*
 * Decoders of single properties. Real services send numbers as text, text as numbers, dates in many forms and null for missing
 * properties. A value that cannot be decoded becomes undefined, with a warning. No decoder throws: one invalid property must
 * not fail the whole player.
 *
 * They run for every property of every response, so they try the usual form first. A regular expression sees only text of
 * bounded length: its time must not depend on what a service sends.
 */

export type Json = Record<string, unknown>;

/** Why a value was decoded to undefined or `UNKNOWN`. */
type DecodeWarning = 'unknown-enum-value' | 'undecodable-date' | 'wrong-type' | 'out-of-range' | 'too-long' | 'bad-url';

/** Reports one value. `member` is a name such as `coupon.couponType`, never the value itself. */
export type Warn = (warning: DecodeWarning, member: string) => void;

/** Decodes the value of the property `member`. */
export type Decoder<Decoded> = (value: unknown, member: string, warn: Warn) => Decoded;

/** The longest text that is decoded as a number, a boolean, a date or an enum value. */
const MAX_SHORT_TEXT = 64;

/** The longest text of a player; a longer one is cut. */
const MAX_PLAYER_TEXT = 1_024;
/** The longest list that is decoded; the rest is left out. Longer ones would block the event loop. */
const MAX_ITEMS = 10_000;

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

/** Text about a player, at most 1,024 characters. Others may see it, so its length is limited for them. */
export function playerText(value: unknown, member: string, warn: Warn): string | undefined {
  const decoded = text(value, member, warn);
  if (decoded === undefined || decoded.length <= MAX_PLAYER_TEXT) return decoded;
  warn('too-long', member);
  // Half of a surrogate pair at the end is left out.
  return decoded.slice(0, MAX_PLAYER_TEXT).replace(/[\ud800-\udbff]$/, '');
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
export function oneOf<Name extends string>(names: ReadonlyMap<string, Name>): Decoder<Name | 'UNKNOWN'> {
  return (value, member, warn) => {
    if (typeof value === 'string') {
      const name = names.get(value) ?? names.get(shortText(value)?.toLowerCase() ?? '');
      if (name !== undefined) return name;
    }
    if (value !== undefined && value !== null) warn('unknown-enum-value', member);
    return 'UNKNOWN';
  };
}

/** The decoders of an object's properties, by the names that the decoded object has. */
type Table = Readonly<Record<string, Decoder<unknown>>>;
type Shaped<Properties extends Table> = { [Name in keyof Properties]: ReturnType<Properties[Name]> };

/**
 * Decodes an object by a table. Properties of the service that the table does not name are left out.
 *
 * @param name The object's name in warnings.
 * @param wireName The name that the service uses for a property. Default: the same.
 */
export function shape<Properties extends Table>(
  name: string,
  table: Properties,
  wireName: (property: string) => string = (property) => property,
): Decoder<Shaped<Properties> | undefined> {
  const properties = Object.entries(table).map(([property, decode]) => {
    const wire = wireName(property);
    return { property, decode, wire, member: `${name}.${wire}` };
  });
  // A copy has all properties from the beginning, which is faster than to add them one by one.
  const empty: Record<string, unknown> = Object.fromEntries(
    Object.keys(table).map((property) => [property, undefined]),
  );
  return (value, member, warn) => {
    if (value === undefined || value === null) return undefined;
    if (!isJson(value)) {
      warn('wrong-type', member);
      return undefined;
    }
    const decoded = { ...empty };
    for (const entry of properties) decoded[entry.property] = entry.decode(value[entry.wire], entry.member, warn);
    // The loop has set each property of the table with its own decoder.
    return decoded as Shaped<Properties>;
  };
}

/** A list of objects; items that are not objects are left out. */
export function objects<Decoded>(decode: Decoder<Decoded | undefined>): Decoder<Decoded[] | undefined> {
  return (value, member, warn) => {
    const items = listOf(value, member, warn);
    if (!items) return undefined;
    const decoded: Decoded[] = [];
    for (const item of items) {
      const one = decode(item, member, warn);
      if (one !== undefined) decoded.push(one);
      else if (item === undefined || item === null) warn('wrong-type', member);
    }
    return decoded;
  };
}

/** A list of texts; other members are left out, numbers become text, and a single text is a list of one. */
export function texts(value: unknown, member: string, warn: Warn): string[] | undefined {
  if (typeof value === 'string') return value === '' ? [] : [value];
  const decoded = listOf(value, member, warn)?.map((item) => text(item, member, warn));
  return decoded?.filter((item) => item !== undefined);
}

function listOf(value: unknown, member: string, warn: Warn): readonly unknown[] | undefined {
  if (Array.isArray(value)) {
    if (value.length <= MAX_ITEMS) return value;
    warn('too-long', member);
    return value.slice(0, MAX_ITEMS);
  }
  if (value !== undefined && value !== null) warn('wrong-type', member);
  return undefined;
}

/** Text without surrounding white space; undefined for a text that is too long. */
function shortText(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_SHORT_TEXT ? value.trim() : undefined;
}
