import { ApolloServerErrorCode } from '@apollo/server/errors';
import type { ExecutionResult, FormattedExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import type { ReportError } from '../telemetry/observe.ts';
import type { Context } from './context.ts';
import { formatError, isIntended, withoutSuggestion } from './errors.ts';

/** The most bytes of JSON that the errors of a response without data may have. */
const MAX_ERROR_BYTES = 12_000;
/** Errors of one operation that are reported one by one. */
const MAX_ERRORS = 100;
/** Locations reported for one error. */
const MAX_LOCATIONS = 10;

/** The largest response, in characters of its texts. */
const MAX_RESPONSE = 4 * 1_024 * 1_024;
/** What a value takes beside its text: its name, quotes, punctuation. */
const PER_VALUE = 16;

/** An operation of so few fields cannot have a response that is too long: a text has 1,024 characters, `custom` 16 KB. */
const FEW_FIELDS = 200;

const TOO_LONG = {
  message: `The response is longer than ${MAX_RESPONSE} characters. Ask for less at once.`,
  extensions: { code: 'OPERATION_TOO_COMPLEX', limit: 'response', max: MAX_RESPONSE },
};

/** Whether the data would be a longer text than a response may have. Counted before the text is made. */
export function isTooLong(data: unknown): boolean {
  let left = MAX_RESPONSE;
  const open: unknown[] = [data];
  while (open.length > 0 && left >= 0) {
    const value = open.pop();
    left -= typeof value === 'string' ? value.length + PER_VALUE : PER_VALUE;
    if (typeof value !== 'object' || value === null) continue;
    for (const member of Object.values(value)) open.push(member);
  }
  return left < 0;
}

/** The response to an executed operation: errors formatted and reported, at most 100 and the number of the others. */
export function formatResult(
  { data, errors }: ExecutionResult,
  { known, complexity, loaders, call }: Context,
  report: ReportError,
): FormattedExecutionResult<Record<string, unknown>> {
  if (complexity > FEW_FIELDS && isTooLong(data)) return { data: null, errors: [TOO_LONG] };
  if (!errors && data !== undefined) return { data };
  const shown = errors?.slice(0, MAX_ERRORS) ?? [];
  for (const error of shown) if (!isIntended(error)) report(error, call.requestId);
  const formatted = [...shown.map(format), ...numberOfOthers(errors?.slice(MAX_ERRORS) ?? [])];
  const isMutation = known?.operation.operation === 'mutation';
  const reported = isMutation ? formatted.map((error) => loaders.writes.outcomes.addTo(error)) : formatted;
  return { errors: reported, ...(data === undefined ? {} : { data }) };
}

/** One error for those that are not listed, with the code of the first of them. */
function numberOfOthers([first, ...others]: readonly GraphQLError[]): GraphQLFormattedError[] {
  if (!first) return [];
  const extensions = { code: format(first).extensions?.['code'] };
  return [{ message: `${1 + others.length} more errors of this operation are not listed.`, extensions }];
}

/** An error of graphql-jit has no extensions of its own unless its cause has them. */
function format(error: GraphQLError): GraphQLFormattedError {
  const { message, locations, path, extensions } = error;
  const formatted = {
    message,
    ...(locations?.length ? { locations } : {}),
    ...(path ? { path } : {}),
    extensions: { code: ApolloServerErrorCode.INTERNAL_SERVER_ERROR, ...extensions },
  };
  return formatError(formatted, error);
}

export interface CompleteOptions {
  /** If not, messages may suggest names of the schema, and `extensions` shows the REST calls and the cost. */
  production: boolean;
}

/** The last step of every response: short errors, the record, `extensions`. */
export function completeResponse(
  response: FormattedExecutionResult,
  { record, extensions }: Context,
  { production }: CompleteOptions,
): void {
  if (response.errors) {
    // In a response with data, each error explains a null, so all errors stay.
    const reported = response.data == null ? mergeRepeated(response.errors) : response.errors;
    const shortened = reported.map((error) => shorten(error, production));
    response.errors = response.data == null ? withinBytes(shortened) : shortened;
    record.codes = [...new Set(response.errors.map((error) => String(error.extensions?.['code'])))];
  }
  if (record.type === 'mutation') record.userErrors = userErrorCodes(response.data);
  if (!production) extensions['upstream'] = record.calls.map(showCall);
  response.extensions = extensions;
}

/** The same mistake in several places of a document is one error with several locations. */
function mergeRepeated(errors: readonly GraphQLFormattedError[]): GraphQLFormattedError[] {
  const byMessage = new Map<string, GraphQLFormattedError>();
  for (const error of errors) {
    const first = byMessage.get(error.message);
    const locations = [...(first?.locations ?? []), ...(error.locations ?? [])];
    byMessage.set(error.message, first ? { ...first, locations } : error);
  }
  return [...byMessage.values()];
}

function shorten(error: GraphQLFormattedError, production: boolean): GraphQLFormattedError {
  const { message, locations } = error;
  return {
    ...error,
    message: production ? withoutSuggestion(message) : message,
    ...(locations && locations.length > MAX_LOCATIONS ? { locations: locations.slice(0, MAX_LOCATIONS) } : {}),
  };
}

/** As many errors as fit, at least one. */
function withinBytes(errors: readonly GraphQLFormattedError[]): readonly GraphQLFormattedError[] {
  let bytes = 0;
  const end = errors.findIndex((error) => {
    bytes += Buffer.byteLength(JSON.stringify(error));
    return bytes > MAX_ERROR_BYTES;
  });
  return end < 0 ? errors : errors.slice(0, Math.max(end, 1));
}

function showCall({ method, template, status, ms }: Context['record']['calls'][number]) {
  return { method, template, status, ms: Math.round(ms * 10) / 10 };
}

/** The codes of the user errors in the payloads of mutations, where they were selected. */
function userErrorCodes(data: Record<string, unknown> | null | undefined): string[] {
  const payloads = Object.values(data ?? {}).map((field) => Object(field).userErrors);
  const codes = payloads.flatMap((errors) => (Array.isArray(errors) ? errors.map((error) => Object(error).code) : []));
  return [...new Set(codes.filter((code) => typeof code === 'string'))];
}
