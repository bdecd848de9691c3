import * as z from 'zod';
import { invalid, missing } from '../errors.ts';
import { playerIdProblem } from './text.ts';

/*
 * Types of the members of requests. Public clients of the interface send `null` for what they do not know, some send
 * empty text: both mean that the value is unavailable and count as absent.
 */

/** The longest text of a player, in characters (code points). */
const MAX_TEXT_LENGTH = 1_024;

/** An optional member; `null` and empty text are read as undefined. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === null || value === '' ? undefined : value), schema.optional());

/** Without the members that are undefined. */
export const definedOf = <Value>(given: Record<string, Value | undefined>): Record<string, Value> =>
  Object.fromEntries(Object.entries(given).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));

/** A text of a player. The first comparison is the cheap one: a code point has at most two units. */
export const text = z
  .string('must be text')
  .refine(
    (given) => given.length <= 2 * MAX_TEXT_LENGTH && [...given].length <= MAX_TEXT_LENGTH,
    `must have at most ${MAX_TEXT_LENGTH} characters`,
  );

export const number = z.number('must be a number');

export const integer = z.int('must be a whole number');

/** A whole number written as text, as in a query or the environment. */
export const wholeNumber = (from: number, to: number, problem: string) =>
  z
    .string(problem)
    .regex(/^\d{1,15}$/, problem)
    .transform(Number)
    .refine((value) => value >= from && value <= to, problem);

const ISO_DATE = z.iso.date();
/** Zod requires seconds before an offset, unless it is told that there are none. */
const ISO_DATE_TIME = z.union([
  z.iso.datetime({ offset: true, local: true }),
  z.iso.datetime({ offset: true, precision: -1 }),
]);
const HAS_OFFSET = /(Z|[+-]\d\d:\d\d)$/;

/**
 * A point in time: ISO 8601 as `2025-05-01T10:30:00.000Z`, with any offset, or UTC without one; or a date, which is its
 * midnight in UTC. Read as UTC with milliseconds.
 */
export const dateTime = z.string('must be text').transform((given, context) => {
  if (ISO_DATE.safeParse(given).success) return `${given}T00:00:00.000Z`;
  const time = ISO_DATE_TIME.safeParse(given).success
    ? new Date(HAS_OFFSET.test(given) ? given : `${given}Z`)
    : undefined;
  // An offset can lead out of the years 0000 to 9999, which have another form.
  if (time && time.getUTCFullYear() >= 0 && time.getUTCFullYear() <= 9999) return time.toISOString();
  context.addIssue('must be a date like 2025-05-01 or 2025-05-01T10:30:00.000Z');
  return z.NEVER;
});

/** A calendar date. Of a date-time it is the day as written: the offset does not change it. */
export const date = z
  .string('must be text')
  .refine(
    (given) => ISO_DATE.safeParse(given).success || ISO_DATE_TIME.safeParse(given).success,
    'must be a date like 2025-05-01',
  )
  .transform((given) => given.slice(0, 10));

/** The identifier of a player. Clients that number their users send it as a number. */
export const playerUniqueId = z
  .union([z.string(), z.int().transform(String)], 'must be text or a whole number')
  .superRefine((id, context) => {
    const problem = playerIdProblem(id);
    if (problem) context.addIssue(problem);
  });

/** Reads `value` by a schema. Throws an ApiError that names the first wrong member; `what` names the value itself. */
export function decode<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (!issue) throw invalid(what, 'cannot be read');
  const member = issue.path.length > 0 ? issue.path.map(String).join('.') : what;
  // A rule over several members has its own message.
  if (issue.code !== 'custom' && (issue.input ?? null) === null) throw missing(member);
  throw invalid(member, issue.message);
}
