/*
 * Decoders of single properties. Real services send numbers as text, text as numbers, dates in many forms and null for missing
 * properties. A value that cannot be decoded becomes undefined, with a warning. No decoder throws: one invalid property must
 * not fail the whole player. A regular expression sees only text of bounded length.
 */
import { isEmptyList, isExactNumber, isJson } from '../../json.ts';
import { parseDate, parseDateTime } from './dates.ts';

/** Why a value was decoded to undefined or `UNKNOWN`. */
type DecodeWarning = 'unknown-enum-value' | 'undecodable-date' | 'wrong-type' | 'too-long' | 'bad-url';

/** Reports one value. `member` is a name such as `coupon.couponType`, never the value itself. */
export type Warn = (warning: DecodeWarning, member: string) => void;

/** The names of the properties that are read of a response, of objects of every kind; undefined: all. */
export type Wanted = ReadonlySet<string> | undefined;
/** Part of every decoded object, wanted or not: ids are built from these. */
const IDENTIFYING: ReadonlySet<string> = new Set(['playerUniqueId', 'code', 'owner']);

export type Decoder<Value> = (value: unknown, member: string, warn: Warn, wanted?: Wanted) => Value;
/** What a decoder makes of a value that it can read. */
export type Decoded<Shape> = Shape extends Decoder<infer Value> ? NonNullable<Value> : never;

/** The longest text that is decoded as a number, a boolean, a date or an enum value. */
const MAX_SHORT_TEXT = 64;
/** The longest text of a player; a longer one is cut. */
export const MAX_PLAYER_TEXT = 1_024;
/** The longest list that is decoded; the rest is left out. Longer ones would block the event loop. */
export const MAX_ITEMS = 10_000;

const NUMERIC = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Text; a number becomes text, unless it was rounded: as a code it would be that of another coupon. */
export function text(value: unknown, member: string, warn: Warn): string | undefined {
  // Half of a surrogate pair is no text: strict readers of JSON refuse the whole response for it.
  if (typeof value === 'string') return value.toWellFormed();
  if (isExactNumber(value)) return String(value);
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

/** An identifier: text without half of a surrogate pair, or a whole number that JSON carried exactly. */
export const identifier = optional('wrong-type', (value) =>
  Number.isSafeInteger(value) || (typeof value === 'string' && value.isWellFormed()) ? String(value) : undefined,
);

/** A finite number, or text that is one. */
export const number = optional('wrong-type', numberOf);

/** A whole number within GraphQL's Int, which has 32 bits. */
export const int = optional('wrong-type', (value) => {
  const decoded = numberOf(value) ?? Number.NaN;
  return (decoded | 0) === decoded ? decoded : undefined;
});

/** A whole number as text must be within 2^53: beyond that, a rounded one would be returned. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  const numeric = shortText(value) ?? '';
  const decoded = NUMERIC.test(numeric) ? Number(numeric) : Number.NaN;
  return isExactNumber(decoded) ? decoded : undefined;
}

/** A boolean, also as text. 1 and 0 come from databases without booleans. */
const BOOLEANS = new Map<unknown, boolean>([
  ...[true, 'true', 1, '1'].map((value): [unknown, boolean] => [value, true]),
  ...[false, 'false', 0, '0'].map((value): [unknown, boolean] => [value, false]),
]);
export const boolean = optional('wrong-type', (value) => BOOLEANS.get(shortText(value)?.toLowerCase() ?? value));

/** A date-time, in UTC with milliseconds. */
export const dateTime = optional('undecodable-date', (value) => parseDateTime(shortText(value) ?? ''));

export const calendarDate = optional('undecodable-date', (value) => parseDate(shortText(value) ?? ''));

/** The longest URL. For hosts that are not ASCII, the time of Node's parser is quadratic in the length. */
const MAX_URL_LENGTH = 2_048;
/** Schemes that run code or reveal local data when a page opens them as a link. */
const UNSAFE_SCHEMES: ReadonlySet<string> = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:']);

/** An absolute URL of any scheme that is safe to open, such as an app's own. */
export const url = optional('bad-url', (value) => {
  if (typeof value !== 'string' || value.length > MAX_URL_LENGTH || !URL.canParse(value)) return undefined;
  // The parser ignores white space inside and around a scheme, as browsers do.
  return UNSAFE_SCHEMES.has(new URL(value).protocol) ? undefined : value.toWellFormed();
});

/** The enum value of one of the wire names, in any case; `UNKNOWN` for any other, with a warning unless it is absent. */
export function oneOf<const Name extends string>(...names: Name[]): Decoder<Uppercase<Name> | 'UNKNOWN'> {
  const values = new Map<unknown, Uppercase<Name>>(names.map((name) => [name, name.toUpperCase() as Uppercase<Name>]));
  const named = optional('unknown-enum-value', (value) => values.get(shortText(value)?.toLowerCase()));
  return (value, member, warn) => named(value, member, warn) ?? 'UNKNOWN';
}

/**
 * Decodes an object by a table of decoders, by the names that the properties of the decoded object have. Properties of the
 * service that the table does not name are left out, and so are those that are not wanted: a coupon has 45, of which most
 * operations select a few. So each may be missing in the type; a resolver may rely on those in `IDENTIFYING` alone.
 * @param name The object's name in warnings.
 * @param wireName The name that the service uses for a property. Default: the same.
 */
export function shape<Properties>(
  name: string,
  table: { readonly [Name in keyof Properties]: Decoder<Properties[Name]> },
  wireName: (property: string) => string = (property) => property,
): Decoder<Partial<Properties> | undefined> {
  const choose = (wanted: Wanted) => {
    const chosen = [];
    // A copy of an object with all properties is made faster than an object that gets them one by one.
    const absent: Partial<Properties> = {};
    for (const property in table) {
      if (wanted && !wanted.has(property) && !IDENTIFYING.has(property)) continue;
      const [decode, wire] = [table[property], wireName(property)];
      chosen.push({ property, decode, wire, member: `${name}.${wire}` });
      absent[property] = decode(undefined, name, () => undefined);
    }
    return { chosen, absent };
  };
  // By the set of wanted names, which is one object for each document.
  const choices = new WeakMap<object, ReturnType<typeof choose>>();
  const everything = {};
  return (value, member, warn, wanted) => {
    const from = object(value, member, warn);
    if (!from) return undefined;
    let choice = choices.get(wanted ?? everything);
    if (!choice) {
      choice = choose(wanted);
      choices.set(wanted ?? everything, choice);
    }
    const decoded = { ...choice.absent };
    for (const { property, decode, wire, member } of choice.chosen) {
      const given = from[wire];
      if (!isAbsent(given)) decoded[property] = decode(given, member, warn, wanted);
    }
    return decoded;
  };
}

/**
 * Reserves a property for the player that an object belongs to. The request names the player, so it is set after decoding. The
 * tables have the property because adding one later takes V8 0.6 µs.
 */
export const reserved = (): string => '';

export function ownedBy<Item extends object>(owner: string, items: Item[] = []): (Item & { owner: string })[] {
  return items.map((item) => Object.assign(item, { owner }));
}

/** A list; items that cannot be decoded are left out. */
export function listOf<Decoded>(decode: Decoder<Decoded | undefined>): Decoder<Decoded[] | undefined> {
  return (value, member, warn, wanted) => {
    const items = list(value, member, warn);
    if (!items) return undefined;
    if (items.length > MAX_ITEMS) warn('too-long', member);
    const decoded: Decoded[] = [];
    for (const item of items.slice(0, MAX_ITEMS)) {
      const one = decode(item, member, warn, wanted);
      if (one !== undefined) decoded.push(one);
    }
    return decoded;
  };
}

/** PHP writes a list with gaps as an object by index: `{"0": …, "2": …}`. */
const list = optional<readonly unknown[]>('wrong-type', (value) => {
  if (!isJson(value)) return Array.isArray(value) ? value : undefined;
  return Object.keys(value).every((name) => /^\d{1,9}$/.test(name)) ? Object.values(value) : undefined;
});

/** A list of texts; a single text is a list of one. */
export function texts(value: unknown, member: string, warn: Warn): string[] | undefined {
  if (typeof value === 'string') return [value.toWellFormed()];
  return listOf(text)(value, member, warn);
}

const properties = optional('wrong-type', (value) => (isJson(value) ? value : undefined));

/** An object; undefined for `[]`, which PHP writes for one without properties. */
export const object: typeof properties = (value, member, warn) =>
  isEmptyList(value) ? undefined : properties(value, member, warn);

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
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Text without surrounding white space; undefined for a text that is too long. */
function shortText(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_SHORT_TEXT ? value.trim() : undefined;
}
