import { ApolloServerErrorCode, unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema, isEnumType } from 'graphql';
import { ClientError, OVERLOADED_MESSAGE, type UpstreamErrorCode } from '../errors.ts';
import { UpstreamError } from '../rest/upstream-error.ts';

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
  if (cause instanceof UpstreamError) return { ...formatted, ...describeUpstreamError(cause) };
  if (cause instanceof ClientError || OF_GRAPHQL.has(formatted.extensions?.['code']))
    return { ...formatted, ...describeClientError(formatted) };
  const [message, extensions] = isRefusedArgument(cause)
    ? [formatted.message, { code: ApolloServerErrorCode.BAD_USER_INPUT }]
    : ['Internal server error', { code: INTERNAL_SERVER_ERROR }];
  return { ...formatted, ...describeClientError({ message, extensions }) };
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

/** `addOutcome` in graphql/writes.ts adds the `outcome` of a write. */
function describeUpstreamError({ code, retryable, retryAfterMs }: UpstreamError) {
  const extensions = { code, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return { message: UPSTREAM_MESSAGES[code], extensions };
}

function describeClientError({ message, extensions }: GraphQLFormattedError) {
  const { stacktrace: _stack, http: _http, ...shown } = extensions ?? {};
  const short = message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message;
  const hasTooManyTokens = /contains more that \d+ tokens/.test(message);
  const limit = hasTooManyTokens ? { code: 'OPERATION_TOO_COMPLEX', limit: 'tokens' } : {};
  return { message: short, extensions: { ...shown, ...limit } };
}

/** Apollo Server's codes for mistakes in a request. Their messages contain nothing internal. */
const { INTERNAL_SERVER_ERROR, ...MISTAKES } = ApolloServerErrorCode;
const OF_GRAPHQL: ReadonlySet<unknown> = new Set(Object.values(MISTAKES));
