/*
 * Decoders of single properties. Real services send numbers as text, text as numbers, dates in many forms and null for missing
 * properties. A value that cannot be decoded becomes undefined, with a warning. No decoder throws: one invalid property must
 * not fail the whole player.
 *
 * They run for every property of every response, so they try the usual form first. A regular expression sees only text of
 * bounded length: its time must not depend on what a service sends.
 */
import { parseDate, parseDateTime } from './dates.ts';

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
export const MAX_PLAYER_TEXT = 1_024;
/** The longest list that is decoded; the rest is left out. Longer ones would block the event loop. */
const MAX_ITEMS = 10_000;

const NUMERIC = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Text; a number becomes text. */
export function text(value: unknown, member: string, warn: Warn): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (value !== undefined && value !== null) warn('wrong-type', member);
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

/**
 * A finite number, or text that is one. A whole number as text must be within 2^53: beyond that, a rounded one would be
 * returned. Empty text is absent.
 */
export function number(value: unknown, member: string, warn: Warn): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (isAbsent(value)) return undefined;
  const numeric = shortText(value);
  const decoded = numeric !== undefined && NUMERIC.test(numeric) ? Number(numeric) : Number.NaN;
  const isExact = Number.isSafeInteger(decoded) || !Number.isInteger(decoded);
  if (Number.isFinite(decoded) && isExact) return decoded;
  warn(isExact ? 'wrong-type' : 'out-of-range', member);
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
export const boolean = optional('wrong-type', (value) => {
  if (typeof value === 'boolean') return value;
  const name = shortText(value)?.toLowerCase();
  return name === 'true' || name === 'false' ? name === 'true' : undefined;
});

/** A date-time, in UTC with milliseconds. */
export const dateTime = optional('undecodable-date', (value) => ofText(value, parseDateTime));

/** A calendar day. */
export const calendarDate = optional('undecodable-date', (value) => ofText(value, parseDate));

function ofText(value: unknown, parse: typeof parseDate): string | undefined {
  return typeof value === 'string' ? parse(value) : undefined;
}

/** The usual form of an address, which is valid in every part. */
const USUAL_URL = /^https?:\/\/(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+(?:\/[!-~]*)?$/;
const USUAL_URL_LENGTH = 256;
/** The longest URL. For hosts that are not ASCII, the time of Node's parser is quadratic in the length. */
const MAX_URL_LENGTH = 2_048;

/** Schemes that run code or reveal local data when a page opens them as a link. */
const UNSAFE_SCHEMES: ReadonlySet<string> = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:']);

/** An absolute URL of any scheme that is safe to open, such as an app's own. */
export const url = optional('bad-url', (value) => {
  if (typeof value !== 'string' || value.length > MAX_URL_LENGTH) return undefined;
  if (value.length <= USUAL_URL_LENGTH && USUAL_URL.test(value)) return value;
  // The parser ignores white space inside and around a scheme, as browsers do.
  return URL.canParse(value) && !UNSAFE_SCHEMES.has(new URL(value).protocol) ? value : undefined;
});

/** The enum value of one of the wire names, in any case; `UNKNOWN` for any other, with a warning unless it is absent. */
export function oneOf<const Name extends string>(...names: Name[]): Decoder<Uppercase<Name> | 'UNKNOWN'> {
  // The type of `toUpperCase` is any string.
  const values = new Map<string, Uppercase<Name>>(names.map((name) => [name, name.toUpperCase() as Uppercase<Name>]));
  return (value, member, warn) => {
    if (typeof value === 'string') {
      const found = values.get(value) ?? values.get(shortText(value)?.toLowerCase() ?? '');
      if (found !== undefined) return found;
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
    const wire = object(value, member, warn);
    if (!wire) return undefined;
    const decoded = { ...empty };
    for (const entry of properties) decoded[entry.property] = entry.decode(wire[entry.wire], entry.member, warn);
    // The loop has set each property of the table with its own decoder.
    return decoded as Shaped<Properties>;
  };
}

/** A list of objects; items that are not objects are left out. */
export function objects<Decoded>(decode: Decoder<Decoded | undefined>): Decoder<Decoded[] | undefined> {
  return (value, member, warn) => {
    // An absent item is of a wrong type, like an empty list.
    const decoded = listOf(value, member, warn)?.map((item) => decode(item ?? [], member, warn));
    return decoded?.filter((item) => item !== undefined);
  };
}

/** A list of texts; other members are left out, numbers become text, and a single text is a list of one. */
export function texts(value: unknown, member: string, warn: Warn): string[] | undefined {
  if (typeof value === 'string') return value === '' ? [] : [value];
  const decoded = listOf(value, member, warn)?.map((item) => text(item, member, warn));
  return decoded?.filter((item) => item !== undefined);
}

function listOf(value: unknown, member: string, warn: Warn): readonly unknown[] | undefined {
  const items = list(value, member, warn);
  if (!items || items.length <= MAX_ITEMS) return items;
  warn('too-long', member);
  return items.slice(0, MAX_ITEMS);
}

const list = optional('wrong-type', (value): readonly unknown[] | undefined =>
  Array.isArray(value) ? value : undefined,
);

/** An object as it is. */
export const object = optional('wrong-type', (value) => (isJson(value) ? value : undefined));

/** A decoder of what may be absent. `read` returns undefined for what it cannot read; this is reported as `warning`. */
function optional<Decoded>(
  warning: DecodeWarning,
  read: (value: unknown) => Decoded | undefined,
): Decoder<Decoded | undefined> {
  return (value, member, warn) => {
    if (isAbsent(value)) return undefined;
    const decoded = read(value);
    if (decoded === undefined) warn(warning, member);
    return decoded;
  };
}

/** The service may send null or an empty text for what it does not have. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Text without surrounding white space; undefined for a text that is too long. */
function shortText(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_SHORT_TEXT ? value.trim() : undefined;
}
