/* Checks of values, beyond their types. Of arguments of queries they throw BAD_USER_INPUT; of input of mutations they return problems. */
import { badUserInput } from '../errors.ts';
import type { PlayerAttributesInput, TrackEventsInput, UpsertPlayerInput } from '../generated/graphql.ts';
import { isExactNumber } from '../json.ts';
import { idProblem } from '../player-id.ts';
import { MAX_CUSTOM_BYTES } from '../rest/decode/player.ts';
import { MAX_PLAYER_TEXT } from '../rest/decode/properties.ts';
import { MAX_PAGE_SIZE } from './loaders/referral.ts';
import { type Problem, type UserError, userErrorAt } from './writes.ts';

/** How many kinds of coupons one filter may name. */
const MAX_COUPON_TYPES = 100;
/** The last row that a page may contain. Larger row numbers would not fit the service's integers. */
const MAX_ROW = 2 ** 31 - 1;

export function checkPage(page: number, limit: number): void {
  checkSize('limit', limit);
  if (page < 1) throw badUserInput('page', 'must be at least 1');
  if (page * limit > MAX_ROW) throw badUserInput('page', 'is too large for this limit');
}

export function checkSize(argument: string, size: number, min = 1): void {
  if (size < min || size > MAX_PAGE_SIZE) throw badUserInput(argument, `must lie between ${min} and ${MAX_PAGE_SIZE}`);
}

export function checkFilter({ couponTypes }: { couponTypes?: readonly unknown[] | null | undefined }): void {
  if (couponTypes) checkLength('filter.couponTypes', couponTypes, MAX_COUPON_TYPES);
}

export function checkLength(argument: string, { length }: readonly unknown[], max: number): void {
  if (length > max) throw badUserInput(argument, `must have at most ${max} items, not ${length}`);
}

/** The longest name of an event, in characters; the reference service has the same. */
const MAX_NAME_LENGTH = 256;
/** The longest idempotency key, in characters. */
const MAX_KEY_LENGTH = 128;
/** How many events one report may have: each is authorized, checked and named in the response. */
const MAX_EVENTS = 500;
/** How many problems are reported at once: thousands of them would make the response larger than the input. */
const MAX_PROBLEMS = 50;

const REPEATED: Problem = { code: 'DUPLICATE', message: 'must not repeat the name of an earlier event' };
const EMPTY: Problem = { code: 'REQUIRED', message: 'must not be empty' };
const invalid = (message: string): Problem => ({ code: 'INVALID', message });
const tooLong = (max: number, of: string): Problem => ({ code: 'TOO_LONG', message: `must have at most ${max} ${of}` });

/** The problems that a client can correct in the input of `upsertPlayer`; empty when the input is valid. */
export function upsertProblems({ playerUniqueId, attributes, device }: UpsertPlayerInput): UserError[] {
  return [
    ...idProblems(playerUniqueId),
    ...Object.entries(attributes ?? {}).flatMap(([name, value]) => attributeProblems(name, value)),
    ...(device ? userErrorAt(['device', 'osType'], blank(device.osType) ?? valueProblem(device.osType)) : []),
    ...(device?.token == null ? [] : userErrorAt(['device', 'token'], valueProblem(device.token))),
  ].slice(0, MAX_PROBLEMS);
}

export function idProblems(playerUniqueId: string): UserError[] {
  return userErrorAt(['playerUniqueId'], idProblem(playerUniqueId));
}

export function eventProblems({ playerUniqueId, events, idempotencyKey }: TrackEventsInput): UserError[] {
  if (events.length > MAX_EVENTS) return userErrorAt(['events'], tooLong(MAX_EVENTS, 'events'));
  const seen = new Set<string>();
  const problems = idProblems(playerUniqueId);
  if (idempotencyKey != null)
    problems.push(...userErrorAt(['idempotencyKey'], nameProblem(idempotencyKey, MAX_KEY_LENGTH)));
  if (events.length === 0) problems.push(...userErrorAt(['events'], EMPTY));
  for (const [index, { name, metadata }] of events.entries()) {
    if (problems.length >= MAX_PROBLEMS) break;
    const path = ['events', String(index)];
    problems.push(...userErrorAt([...path, 'name'], seen.has(name) ? REPEATED : nameProblem(name, MAX_NAME_LENGTH)));
    problems.push(...memberProblems([...path, 'metadata'], metadata ?? {}, metadataProblem));
    seen.add(name);
  }
  return problems.slice(0, MAX_PROBLEMS);
}

function attributeProblems(name: string, value: PlayerAttributesInput[keyof PlayerAttributesInput]): UserError[] {
  const path = ['attributes', name];
  if (value == null) return [];
  if (Array.isArray(value)) {
    const problems = value.flatMap((tag, index) => userErrorAt([...path, String(index)], tagProblem(String(tag))));
    return problems.length > 0 ? problems : userErrorAt(path, valueProblem(value.join()));
  }
  // Amounts of money are Floats, which may be rounded. A literal can still be infinite.
  if (Number.isFinite(value)) return [];
  if (typeof value !== 'object') return userErrorAt(path, valueProblem(value));
  const problems = memberProblems(path, value, (member) => (member === null ? undefined : valueProblem(member)));
  // Without problems it is flat.
  const isTooLong = problems.length === 0 && Buffer.byteLength(JSON.stringify(value)) > MAX_CUSTOM_BYTES;
  return isTooLong ? userErrorAt(path, tooLong(MAX_CUSTOM_BYTES, 'bytes of JSON')) : problems;
}

/**
 * The problems of a free object, at most as many as are reported: those of its names and of its values. A variable that is
 * absent leaves `undefined`.
 */
function memberProblems(path: string[], members: object, problemOf: (value: unknown) => Problem | undefined) {
  const problems: UserError[] = [];
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    const problem = (name === '' ? EMPTY : textProblem(name)) ?? problemOf(value);
    // Without a problem no path is made: there can be thousands of members.
    if (problem) problems.push(...userErrorAt([...path, name.slice(0, 60).toWellFormed()], problem));
    if (problems.length === MAX_PROBLEMS) break;
  }
  return problems;
}

function metadataProblem(value: unknown): Problem | undefined {
  if (!Array.isArray(value)) return valueProblem(value, Number.POSITIVE_INFINITY);
  return value.map((item) => valueProblem(item, Number.POSITIVE_INFINITY)).find((problem) => problem !== undefined);
}

/** Why a value of a free object, or a text, cannot be sent. A number that parsing rounded can be an identifier. */
function valueProblem(value: unknown, maxLength = MAX_PLAYER_TEXT): Problem | undefined {
  if (typeof value === 'string') return textProblem(value, maxLength);
  if (isExactNumber(value)) return undefined;
  return invalid('must be text or a number that JSON can carry exactly');
}

/** Tags are sent as one comma-separated text, so a tag with a comma would become two tags. */
function tagProblem(tag: string): Problem | undefined {
  const comma = tag.includes(',') ? invalid('must not contain a comma; give two tags instead') : undefined;
  return blank(tag) ?? comma ?? textProblem(tag);
}

/** Why a text cannot be a name: of an event, or an idempotency key. */
function nameProblem(name: string, maxLength: number): Problem | undefined {
  const control = /\p{Cc}/u.test(name) ? invalid('must not contain control characters') : undefined;
  return blank(name) ?? textProblem(name, maxLength) ?? control;
}

function blank(text: string): Problem | undefined {
  return text.trim() === '' ? EMPTY : undefined;
}

/** Why a text cannot be sent: databases do not store NUL and halves of surrogate pairs correctly. */
function textProblem(text: string, maxLength = Number.POSITIVE_INFINITY): Problem | undefined {
  if (text.includes('\0') || !text.isWellFormed()) return invalid('must not contain NUL or half of a surrogate pair');
  return text.length > maxLength ? tooLong(maxLength, 'characters') : undefined;
}
