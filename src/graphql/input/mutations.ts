import type {
  DeletePlayerInput,
  PlayerAttributesInput,
  TrackEventsInput,
  UpsertPlayerInput,
} from '../../generated/graphql.ts';
import { idProblem } from '../../rest/request.ts';
import type { UserError } from '../loaders/writes.ts';
import { isExact } from '../request.ts';

/** A problem of a client's value: its code and the end of a sentence. */
interface Problem {
  code: Exclude<UserError['code'], 'NOT_FOUND' | 'REJECTED'>;
  /** Follows the name of the member: "playerUniqueId must not be empty". */
  message: string;
}

/** The longest name of an event, in characters; the reference service has the same. */
const MAX_NAME_LENGTH = 256;
/** The longest idempotency key, in characters. */
const MAX_KEY_LENGTH = 128;
/** How many events one report may have: each is authorized, checked and named in the response. */
const MAX_EVENTS = 500;
/** The longest text of a player, in characters, and its longest `custom`, in bytes of JSON; the reference service has the same. */
const MAX_TEXT_LENGTH = 1_024;
const MAX_CUSTOM_BYTES = 16_384;
/** How many problems are reported at once: thousands of them would make the response larger than the input. */
const MAX_PROBLEMS = 50;

/** The problems that a client can correct in the input of `upsertPlayer`; empty when the input is valid. */
export function upsertProblems({ playerUniqueId, attributes, device }: UpsertPlayerInput): UserError[] {
  return [
    ...at(['playerUniqueId'], idProblem(playerUniqueId)),
    ...(attributes ? attributeProblems(attributes) : []),
    ...(device ? at(['device', 'osType'], deviceTypeProblem(device.osType)) : []),
    ...(device?.token == null ? [] : at(['device', 'token'], playerTextProblem(device.token))),
  ].slice(0, MAX_PROBLEMS);
}

/** The problems that a client can correct in the input of `deletePlayer`. */
export function deleteProblems({ playerUniqueId }: DeletePlayerInput): UserError[] {
  return at(['playerUniqueId'], idProblem(playerUniqueId));
}

/** Whether a report has more events than one may have, or a name twice. To find out takes less than to authorize each name. */
export function isRefusedReport({ events }: TrackEventsInput): boolean {
  return events.length > MAX_EVENTS || new Set(events.map(({ name }) => name)).size < events.length;
}

/** The problems that a client can correct in the input of `trackEvents`. */
export function eventProblems({ playerUniqueId, events, idempotencyKey }: TrackEventsInput): UserError[] {
  if (events.length > MAX_EVENTS) return at(['events'], tooLong(`must have at most ${MAX_EVENTS} events`));
  const seen = new Set<string>();
  const problems = at(['playerUniqueId'], idProblem(playerUniqueId));
  if (idempotencyKey != null) problems.push(...at(['idempotencyKey'], nameProblem(idempotencyKey, MAX_KEY_LENGTH)));
  if (events.length === 0) problems.push(...at(['events'], { code: 'REQUIRED', message: 'must not be empty' }));
  for (const [index, { name, metadata }] of events.entries()) {
    if (problems.length >= MAX_PROBLEMS) break;
    const problem = seen.has(name)
      ? ({ code: 'DUPLICATE', message: 'must not repeat the name of an earlier event' } as const)
      : nameProblem(name, MAX_NAME_LENGTH);
    const path = ['events', String(index)];
    problems.push(...at([...path, 'name'], problem));
    if (metadata) problems.push(...memberProblems([...path, 'metadata'], metadata, metadataProblem));
    seen.add(name);
  }
  return problems.slice(0, MAX_PROBLEMS);
}

function attributeProblems(attributes: PlayerAttributesInput): UserError[] {
  return Object.entries(attributes).flatMap(([member, value]) => {
    const path = ['attributes', member];
    if (typeof value === 'string') return at(path, playerTextProblem(value));
    if (typeof value === 'number') return at(path, numberProblem(value, member));
    if (member === 'tags' && Array.isArray(value)) {
      const problems = value.flatMap((tag, index) => at([...path, String(index)], tagProblem(String(tag))));
      return problems.length > 0 ? problems : at(path, playerTextProblem(value.join()));
    }
    if (member !== 'custom' || !value) return [];
    const problems = memberProblems(path, value, customProblem);
    // Without problems it is flat.
    if (problems.length > 0 || Buffer.byteLength(JSON.stringify(value)) <= MAX_CUSTOM_BYTES) return problems;
    return at(path, tooLong(`must have at most ${MAX_CUSTOM_BYTES} bytes of JSON`));
  });
}

/** Every text is returned each time the player is read, so a long one would make responses long. */
function playerTextProblem(text: string): Problem | undefined {
  return (
    textProblem(text) ??
    (text.length > MAX_TEXT_LENGTH ? tooLong(`must have at most ${MAX_TEXT_LENGTH} characters`) : undefined)
  );
}

function tooLong(message: string): Problem {
  return { code: 'TOO_LONG', message };
}

/** The problems of a free object: those of its names and of its values. */
function memberProblems(
  path: string[],
  members: object,
  problemOf: (value: unknown) => Problem | undefined,
): UserError[] {
  return Object.entries(members).flatMap(([name, value]) => {
    const nameIs = name === '' ? { code: 'REQUIRED' as const, message: 'must not be empty' } : textProblem(name);
    return at([...path, name.slice(0, 60)], nameIs ?? problemOf(value));
  });
}

function customProblem(value: unknown): Problem | undefined {
  if (typeof value === 'string') return playerTextProblem(value);
  if (typeof value === 'number') return numberProblem(value);
  return value === null ? undefined : { code: 'INVALID', message: 'must be a string or a number' };
}

function metadataProblem(value: unknown): Problem | undefined {
  const members = Array.isArray(value) ? value : [value];
  for (const member of members) {
    if (typeof member !== 'string' && typeof member !== 'number') {
      return { code: 'INVALID', message: 'must be a number, a string or an array of them' };
    }
    const problem = typeof member === 'string' ? textProblem(member) : numberProblem(member);
    if (problem) return problem;
  }
  return undefined;
}

/** The problem of a number that JSON cannot contain, or that parsing rounded. */
function numberProblem(value: number, name?: string): Problem | undefined {
  return isExact(value, name)
    ? undefined
    : { code: 'INVALID', message: 'must be a number that JSON can carry exactly' };
}

/** Tags are sent as one comma-separated text, so a tag with a comma would become two tags. */
function tagProblem(tag: string): Problem | undefined {
  if (tag.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  if (tag.includes(',')) return { code: 'INVALID', message: 'must not contain a comma; give two tags instead' };
  return textProblem(tag);
}

function deviceTypeProblem(osType: string): Problem | undefined {
  if (osType.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  return playerTextProblem(osType);
}

function at(path: string[], problem: Problem | undefined): UserError[] {
  if (!problem) return [];
  return [{ code: problem.code, field: ['input', ...path], message: `${path.join('.')} ${problem.message}.` }];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Why a text cannot be sent: databases do not store NUL and halves of surrogate pairs correctly. */
function textProblem(text: string): Problem | undefined {
  if (text.includes('\0')) return { code: 'INVALID', message: 'must not contain the NUL character' };
  if (!text.isWellFormed()) return { code: 'INVALID', message: 'must not contain half of a surrogate pair' };
  return undefined;
}

/** Why a text cannot be a name: of an event, or an idempotency key. */
function nameProblem(name: string, maxLength: number): Problem | undefined {
  if (name.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  if (name.length > maxLength) return { code: 'TOO_LONG', message: `must have at most ${maxLength} characters` };
  if (CONTROL.test(name)) return { code: 'INVALID', message: 'must not contain control characters' };
  return textProblem(name);
}
