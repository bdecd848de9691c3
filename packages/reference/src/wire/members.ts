import * as z from 'zod';
import { invalid, missing } from '../errors.ts';
import { readDate, readDateTime } from './dates.ts';
import { playerIdProblem } from './text.ts';

/*
 * Types of the members of requests. Public clients of the interface send `null` for what they do not know, some send
 * empty text: both mean that the value is unavailable and count as absent.
 */

const unavailable = (value: unknown): boolean => value === null || value === '';

/** An optional member; `null` and empty text are read as undefined. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (unavailable(value) ? undefined : value), schema.optional());

export const text = z.string('must be text');

export const number = z.number('must be a number');

export const integer = z.int('must be a whole number');

/** A whole number written as text, as in a query or the environment. */
export const wholeNumber = (from: number, to: number, problem: string) =>
  z
    .string(problem)
    .regex(/^\d{1,15}$/, problem)
    .transform(Number)
    .refine((value) => value >= from && value <= to, problem);

/** A point in time in any form of the date rule; read as UTC with milliseconds. */
export const dateTime = text.transform(
  readBy(readDateTime, 'must be a date like 2025-05-01 or 2025-05-01T10:30:00.000Z'),
);

/** A calendar date; the time of a date-time is checked and dropped. */
export const date = text.transform(readBy(readDate, 'must be a date like 2025-05-01'));

/** The identifier of a player. Clients that number their users send it as a number. */
export const playerUniqueId = z
  .union([z.string(), z.int().transform(String)], 'must be text or a whole number')
  .superRefine((id, context) => {
    const problem = playerIdProblem(id);
    if (problem) context.addIssue(problem);
  });

/** A transformation by a function that returns undefined for a text it cannot read. */
export function readBy(read: (text: string) => string | undefined, otherwise: string) {
  return (value: string, context: z.RefinementCtx<string>): string => {
    const result = read(value);
    if (result !== undefined) return result;
    context.addIssue(otherwise);
    return z.NEVER;
  };
}

/** Reads `value` by a schema. Throws an ApiError that names the first wrong member; `what` names the value itself. */
export function decode<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (!issue) throw invalid(what, 'cannot be read');
  const member = issue.path.length > 0 ? issue.path.map(String).join('.') : what;
  // A rule over several members has its own message.
  if (issue.code !== 'custom' && (at(value, issue.path) ?? null) === null) throw missing(member);
  throw invalid(member, issue.message);
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}
