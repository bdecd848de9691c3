import type * as z from 'zod';
import { invalid, missing } from '../errors.ts';

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
