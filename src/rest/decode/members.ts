/*
 * How single members are read. Real services send numbers as text, text as numbers, dates in many forms and null for what
 * is missing; each reader takes what it can and leaves out the rest, noticing it. None of them throws: one odd member
 * must not cost the player.
 *
 * These functions run for every member of every answer. They take what they need as parameters instead of being made for
 * each member, and look first for the form that needs no work.
 */
import type { Notice } from '../observe.ts';

export type Json = Record<string, unknown>;

const NUMERIC = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Text; a number becomes text. */
export function text(value: unknown, member: string, notice: Notice): string | undefined {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number') return String(value);
  notice('wrong-type', member);
  return undefined;
}

/** An identifier: text or a whole number that survived JSON exactly. */
export function identifier(value: unknown, member: string, notice: Notice): string | undefined {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return text(value, member, notice);
  notice('wrong-type', member);
  return undefined;
}

/** A finite number; text that is a number becomes one, empty text is nothing. */
export function number(value: unknown, member: string, notice: Notice): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (value === undefined || value === null || value === '') return undefined;
  const read = typeof value === 'string' && NUMERIC.test(value) ? Number(value) : Number.NaN;
  if (Number.isFinite(read)) return read;
  notice('wrong-type', member);
  return undefined;
}

/** A whole number that GraphQL's Int can hold. */
export function int(value: unknown, member: string, notice: Notice): number | undefined {
  const read = number(value, member, notice);
  if (read === undefined || (read | 0) === read) return read;
  notice('wrong-type', member);
  return undefined;
}

export function boolean(value: unknown, member: string, notice: Notice): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (value !== undefined && value !== null) notice('wrong-type', member);
  return undefined;
}

/** The everyday form of an address, of which no part can be wrong. */
const PLAIN_ADDRESS = /^https?:\/\/(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+(?:\/[!-~]*)?$/;

const PLAIN_ADDRESS_LENGTH = 2_048;

/** An absolute http(s) address: anything else, such as `javascript:`, must not reach a page as a link. */
export function webAddress(value: unknown, member: string, notice: Notice): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') {
    if (value.length <= PLAIN_ADDRESS_LENGTH && PLAIN_ADDRESS.test(value)) return value;
    if (/^https?:\/\//i.test(value) && URL.canParse(value)) return value;
  }
  notice('bad-url', member);
  return undefined;
}

/** What `names` has for a text in whatever case; `UNKNOWN`, noticed, for any other, and unnoticed for none. */
export function oneOf<Name extends string>(
  names: ReadonlyMap<string, Name>,
  value: unknown,
  member: string,
  notice: Notice,
): Name | 'UNKNOWN' {
  if (typeof value === 'string') {
    const name = names.get(value) ?? names.get(value.trim().toLowerCase());
    if (name !== undefined) return name;
  }
  if (value !== undefined && value !== null) notice('unknown-enum-value', member);
  return 'UNKNOWN';
}

export function object<Read>(
  value: unknown,
  read: (value: Json, notice: Notice) => Read,
  member: string,
  notice: Notice,
): Read | undefined {
  if (value === undefined || value === null) return undefined;
  if (isJson(value)) return read(value, notice);
  notice('wrong-type', member);
  return undefined;
}

/** A list of objects; members that are none are left out. */
export function objects<Read>(
  value: unknown,
  read: (value: Json, notice: Notice) => Read,
  member: string,
  notice: Notice,
): Read[] | undefined {
  if (!Array.isArray(value)) return notAList(value, member, notice);
  // What is read takes the place of what it was read from: a list of its own would grow three to five times on the way.
  let length = 0;
  for (const item of value) {
    if (isJson(item)) value[length++] = read(item, notice);
    else notice('wrong-type', member);
  }
  value.length = length;
  return value;
}

/** A list of texts; numbers become text, other members are left out. */
export function texts(value: unknown, member: string, notice: Notice): string[] | undefined {
  if (!Array.isArray(value)) return notAList(value, member, notice);
  const result: string[] = [];
  for (const item of value) {
    const read = text(item, member, notice);
    if (read !== undefined) result.push(read);
  }
  return result;
}

function notAList(value: unknown, member: string, notice: Notice): undefined {
  if (value !== undefined && value !== null) notice('wrong-type', member);
  return undefined;
}
