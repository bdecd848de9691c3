/* What clients get: the response to an operation, and each error. */
import { ApolloServerErrorCode, unwrapResolverError } from '@apollo/server/errors';
import {
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  isEnumType,
} from 'graphql';
import { ClientError, OVERLOADED_MESSAGE, type UpstreamErrorCode } from '../errors.ts';
import type { Context } from '../graphql/context.ts';
import { isJson } from '../json.ts';
import { UpstreamError } from '../rest/upstream-error.ts';
import { type ReportError, rounded } from '../telemetry/observe.ts';

/** Errors of one operation that are reported one by one. */
const MAX_ERRORS = 100;
/** Codes of failures, which are the outcome in log and metrics: a field that is FORBIDDEN in each operation must not hide them. */
const FAILURE = /^(?:OVERLOADED|INTERNAL_SERVER_ERROR|UPSTREAM_)/;
/** The longest JSON text of a response, in bytes. */
export const MAX_RESPONSE = 4 * 1_024 * 1_024;

const TOO_LONG = {
  message: `The response is longer than ${MAX_RESPONSE} bytes. Ask for less at once.`,
  extensions: { code: 'OPERATION_TOO_COMPLEX', limit: 'response', max: MAX_RESPONSE, retryable: false },
};

/**
 * The characters of a value's JSON text, or fewer: quotes and escapes do not count. Counted before the text is made, because
 * the text of a few megabytes of data can be hundreds of megabytes. Above `MAX_RESPONSE`, nothing deeper is counted.
 */
function charactersOf(root: unknown): number {
  let characters = 0;
  const count = (value: unknown): void => {
    characters += typeof value === 'string' ? value.length + 1 : 2;
    if (characters > MAX_RESPONSE) return;
    if (Array.isArray(value)) for (const item of value) count(item);
    else if (isJson(value)) {
      // Twice as fast as `Object.entries`, which took 5 % of a list of 200 friends.
      for (const name in value) {
        characters += name.length + 1;
        count(value[name]);
      }
    }
  };
  count(root);
  return characters;
}

/** What is sent in place of a response that is too long: of a mutation, what each write did. */
export function refuseLength({ record, loaders, extensions }: Context) {
  const errors = record.type === 'mutation' ? loaders.writes.errorOfEach(TOO_LONG) : [TOO_LONG];
  record.codes = [TOO_LONG.extensions.code];
  return { errors, data: null, extensions };
}

/** The response to an executed operation: errors formatted and reported, at most 100 and the number of the others. */
export function formatResult({ data, errors = [] }: ExecutionResult, context: Context, report: ReportError) {
  const { record, loaders, callContext } = context;
  if (errors.length === 0 && data !== undefined && charactersOf(data) <= MAX_RESPONSE) return { data };
  const shown = errors.slice(0, MAX_ERRORS);
  const [next, ...others] = errors.slice(MAX_ERRORS);
  // A REST call that failed can be the cause of several errors.
  for (const cause of new Set(shown.map(unwrapResolverError))) if (!isIntended(cause)) report(cause, callContext);
  const formatted = shown.map(format);
  // The path of each error can have an alias as long as the request.
  if (charactersOf([data, formatted]) > MAX_RESPONSE) return refuseLength(context);
  if (next) {
    const message = `${1 + others.length} more errors of this operation are not listed.`;
    formatted.push({ message, extensions: { code: format(next).extensions?.['code'] } });
  }
  const reported = record.type === 'mutation' ? formatted.map((error) => loaders.writes.addOutcome(error)) : formatted;
  return { errors: reported, ...(data === undefined ? {} : { data }) };
}

/** An error of graphql-jit is not always a GraphQLError, so it is not asked for its JSON. */
function format(error: GraphQLError): GraphQLFormattedError {
  const { message, locations, path, extensions } = error;
  const formatted = { message, ...(locations?.length ? { locations } : {}), ...(path ? { path } : {}) };
  return formatError({ ...formatted, extensions: { code: 'INTERNAL_SERVER_ERROR', ...extensions } }, error);
}

/** The last step of every response: its codes for the record, and `extensions`. */
export function completeResponse(response: FormattedExecutionResult, context: Context, production: boolean): void {
  const { record, extensions } = context;
  const codes = new Set(response.errors?.map(({ extensions }) => String(extensions?.['code'])));
  if (response.errors) record.codes = [...codes].sort((a, b) => Number(FAILURE.test(b)) - Number(FAILURE.test(a)));
  if (!production) {
    extensions['upstream'] = record.calls.map(
      ({ endpoint: { method, template, operationId }, status, began, ms, queueMs, attempts, error }) => {
        const times = { startMs: rounded(began - record.started), ms: rounded(ms), queueMs: rounded(queueMs) };
        return { method, template, operation: operationId, status, ...times, attempts, outcome: error ?? 'OK' };
      },
    );
  }
  response.extensions = extensions;
}

/** The longest message that a client gets, in characters: long enough for a sentence, too short to return a long input. */
const MAX_MESSAGE_LENGTH = 500;

/** The message to a client for each failure of the REST service. It contains nothing from the service's response. */
const UPSTREAM_MESSAGES: Record<UpstreamErrorCode, string> = {
  UPSTREAM_TIMEOUT: 'The referral and rewards service did not respond in time.',
  UPSTREAM_UNAVAILABLE: 'The referral and rewards service is not available at the moment.',
  UPSTREAM_REJECTED: 'The referral and rewards service rejected the request.',
  UPSTREAM_INVALID_RESPONSE: 'The referral and rewards service sent a response that cannot be used.',
  UPSTREAM_MISCONFIGURED: 'The gateway is not set up correctly for the referral and rewards service.',
  OVERLOADED: OVERLOADED_MESSAGE,
  CANCELLED: 'The client disconnected.',
};

/**
 * The error as it is sent to the client. Errors for the client and those of GraphQL keep their message, shortened. Failures
 * of the REST service get a fixed message. Every other error becomes "Internal server error". Never throws.
 */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const cause = unwrapResolverError(error);
  if (cause instanceof UpstreamError) {
    const { code, retryable, retryAfterMs } = cause;
    // `addOutcome` in graphql/writes.ts adds the `outcome` of a write.
    const extensions = { code, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    return { ...formatted, message: UPSTREAM_MESSAGES[code], extensions };
  }
  const isShown = cause instanceof ClientError || OF_GRAPHQL.has(formatted.extensions?.['code']);
  if (isShown) return { ...formatted, ...withoutInternals(formatted) };
  const [message, code] = isRefusedArgument(cause)
    ? [formatted.message, ApolloServerErrorCode.BAD_USER_INPUT]
    : ['Internal server error', INTERNAL_SERVER_ERROR];
  return { ...formatted, ...withoutInternals({ message, extensions: { code } }) };
}

/** Adds to messages of graphql-js how to correct the mistake: the values of an enum, quotation marks, or closing braces. */
export function addHint(schema: GraphQLSchema, message: string): string {
  if (/^(?:Syntax Error: Invalid number|String cannot represent)/.test(message))
    return `${message.replace(/\.?$/, '.')} Write a text in quotation marks.`;
  if (/^Syntax Error: .*<EOF>/.test(message)) return `${message} Is a closing brace missing?`;
  return message.replace(/ does not exist in "(\w+)" enum\.$/, (text, name) => {
    const type = schema.getType(name);
    const values = isEnumType(type) ? type.getValues().map((value) => value.name) : [];
    return values.length > 0 ? `${text} Its values are ${values.join(', ')}.` : text;
  });
}

/** Whether an error is sent to the client with its own message and has no other cause. Then the log needs no line for it. */
export function isIntended(error: unknown): boolean {
  const cause = unwrapResolverError(error);
  if (cause instanceof ClientError) return cause.originalError === undefined;
  if (isRefusedArgument(cause)) return true;
  return cause instanceof GraphQLError && OF_GRAPHQL.has(cause.extensions?.['code']);
}

/** Whether graphql-js rejected an argument at run time. Such errors have no code, and those of graphql-jit no extensions. */
function isRefusedArgument(cause: unknown): boolean {
  if (!(cause instanceof GraphQLError)) return false;
  const { message, extensions }: { message: string; extensions?: Record<string, unknown> } = cause;
  return extensions?.['code'] === undefined && message.startsWith('Argument "');
}

function withoutInternals({ message, extensions }: GraphQLFormattedError) {
  const { stacktrace: _stack, http: _http, ...shown } = extensions ?? {};
  const short = message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message;
  const hasTooManyTokens = /contains more that \d+ tokens/.test(message);
  const limit = hasTooManyTokens ? { code: 'OPERATION_TOO_COMPLEX', limit: 'tokens' } : {};
  // Cutting can halve a surrogate pair, which is no text.
  return { message: short.toWellFormed(), extensions: { ...shown, ...limit } };
}

/** Apollo Server's codes for mistakes in a request. Their messages contain nothing internal. */
const { INTERNAL_SERVER_ERROR, ...MISTAKES } = ApolloServerErrorCode;
const OF_GRAPHQL: ReadonlySet<unknown> = new Set(Object.values(MISTAKES));
