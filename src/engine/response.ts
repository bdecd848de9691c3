import type { ExecutionResult, FormattedExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import type { Context } from '../graphql/context.ts';
import { isJson } from '../json.ts';
import type { ReportError } from '../telemetry/observe.ts';
import { formatError, isIntended } from './format-error.ts';

/** Errors of one operation that are reported one by one. */
const MAX_ERRORS = 100;
/** The largest response, in bytes. */
const MAX_RESPONSE = 4 * 1_024 * 1_024;
/**
 * A response of so many characters always fits: a character takes at most 6 bytes in JSON, as an escape. It must be an integer:
 * V8 allocates memory for each number that is not.
 */
const SAFE_CHARACTERS = Math.floor(MAX_RESPONSE / 6);

const TOO_LONG = {
  message: `The response is longer than ${MAX_RESPONSE} bytes. Ask for less at once.`,
  extensions: { code: 'OPERATION_TOO_COMPLEX', limit: 'response', max: MAX_RESPONSE },
};

/** For a mutation: its response would be as long again. */
const WRITE_TOO_LONG = { ...TOO_LONG, extensions: { ...TOO_LONG.extensions, retryable: false } };

/**
 * Whether the JSON text of the data would be longer than a response may be, before it is made. Characters are counted first,
 * which is fast; bytes only where there are more than SAFE_CHARACTERS.
 */
function isTooLong(data: unknown): boolean {
  return (
    exceeds(data, SAFE_CHARACTERS, (leaf) => (typeof leaf === 'string' ? leaf.length + 1 : 5)) &&
    exceeds(data, MAX_RESPONSE, bytesOf)
  );
}

/** ASCII without escapes, as all names and nearly all values are: JSON adds the quotes alone. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The bytes of a name or value in JSON, and of what separates it from the next. */
function bytesOf(leaf: unknown): number {
  if (typeof leaf === 'string' && PLAIN.test(leaf)) return leaf.length + 3;
  if (typeof leaf === 'number' || typeof leaf === 'boolean') return String(leaf).length + 1;
  return Buffer.byteLength(JSON.stringify(leaf) ?? '') + 1;
}

/** @param sizeOf The size of a name, or of a value that is no list or object, with what separates it from the next. */
function exceeds(data: unknown, max: number, sizeOf: (leaf: unknown) => number): boolean {
  let left = max;
  const count = (value: unknown): void => {
    const isObject = isJson(value);
    left -= isObject || Array.isArray(value) ? 3 : sizeOf(value);
    if (left < 0) return;
    if (Array.isArray(value)) for (const item of value) count(item);
    else if (isObject) {
      // Twice as fast as `Object.entries`, which took 5 % of a list of 200 friends.
      for (const name in value) {
        left -= sizeOf(name);
        count(value[name]);
      }
    }
  };
  count(data);
  return left < 0;
}

/** The response to an executed operation: errors formatted and reported, at most 100 and the number of the others. */
export function formatResult(
  { data, errors = [] }: ExecutionResult,
  { caller, record, loaders, call }: Context,
  report: ReportError,
): FormattedExecutionResult<Record<string, unknown>> {
  const isMutation = record.type === 'mutation';
  const tooLong = isTooLong(data);
  if (errors.length === 0 && data !== undefined && !tooLong) return { data };
  const shown = errors.slice(0, MAX_ERRORS);
  const [next, ...others] = errors.slice(MAX_ERRORS);
  for (const error of shown) if (!isIntended(error)) report(error, call.requestId, caller.name);
  if (tooLong) return { data: null, errors: isMutation ? loaders.writes.errorOfEach(WRITE_TOO_LONG) : [TOO_LONG] };
  const formatted = shown.map(format);
  if (next) {
    const message = `${1 + others.length} more errors of this operation are not listed.`;
    formatted.push({ message, extensions: { code: format(next).extensions?.['code'] } });
  }
  const reported = isMutation ? formatted.map((error) => loaders.writes.addOutcome(error)) : formatted;
  return { errors: reported, ...(data === undefined ? {} : { data }) };
}

/** An error of graphql-jit is not always a GraphQLError, so it is not asked for its JSON. */
function format(error: GraphQLError): GraphQLFormattedError {
  const { message, locations, path, extensions } = error;
  const formatted = { message, ...(locations?.length ? { locations } : {}), ...(path ? { path } : {}) };
  return formatError({ ...formatted, extensions: { code: 'INTERNAL_SERVER_ERROR', ...extensions } }, error);
}

const tenths = (ms: number) => Math.round(ms * 10) / 10;

/** The last step of every response: its codes for the record, and `extensions`. */
export function completeResponse(response: FormattedExecutionResult, context: Context, production: boolean): void {
  const { record, extensions } = context;
  if (response.errors)
    record.codes = [...new Set(response.errors.map(({ extensions }) => String(extensions?.['code'])))];
  if (!production) {
    extensions['upstream'] = record.calls.map(
      ({ method, template, operation, status, began, ms, queueMs, attempts, error }) => {
        const times = { startMs: tenths(began - record.started), ms: tenths(ms), queueMs: tenths(queueMs) };
        return { method, template, operation, status, ...times, attempts, outcome: error ?? 'OK' };
      },
    );
  }
  response.extensions = extensions;
}
