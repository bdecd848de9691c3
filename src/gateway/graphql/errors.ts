import { HeaderMap } from '@apollo/server';
import { ApolloServerErrorCode, unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLErrorOptions, type GraphQLFormattedError } from 'graphql';
import { UpstreamError, type UpstreamErrorCode } from '../../rest/errors.ts';

/** Every code of our own that can stand in `extensions.code`; Apollo Server's own codes complete the set. */
export type GatewayErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'RATE_LIMITED'
  | 'OVERLOADED'
  | 'OPERATION_NOT_ALLOWED'
  | 'OPERATION_TOO_COMPLEX'
  | 'BAD_USER_INPUT'
  | 'BAD_REQUEST'
  | 'INTERNAL_SERVER_ERROR'
  | UpstreamErrorCode;

/** The longest message a client gets: enough for a sentence, too short to echo an attack. */
const MAX_MESSAGE_LENGTH = 500;

/** What a client is told about each failure of the REST service. Nothing the service said goes with it. */
const UPSTREAM_MESSAGES: Record<UpstreamErrorCode, string> = {
  UPSTREAM_TIMEOUT: 'The referral and rewards service did not answer in time.',
  UPSTREAM_UNAVAILABLE: 'The referral and rewards service is not available at the moment.',
  UPSTREAM_REJECTED: 'The referral and rewards service refused the request.',
  UPSTREAM_INVALID_RESPONSE: 'The referral and rewards service gave an answer that cannot be used.',
  UPSTREAM_MISCONFIGURED: 'The gateway is not set up correctly for the referral and rewards service.',
  OVERLOADED: 'The gateway has too much to do at the moment; try again shortly.',
  CANCELLED: 'The client went away.',
};

/** An error that is meant for the client, as it is written. Anything else is masked. */
export class ClientError extends GraphQLError {
  readonly code: GatewayErrorCode;

  constructor(
    code: GatewayErrorCode,
    message: string,
    { extensions, ...options }: Omit<GraphQLErrorOptions, 'extensions'> & { extensions?: Record<string, unknown> } = {},
  ) {
    super(message, { ...options, extensions: { ...extensions, code } });
    this.code = code;
  }
}

/** A refusal of the whole request, with the HTTP status it has. */
export function requestError(
  code: GatewayErrorCode,
  status: number,
  message: string,
  extensions: Record<string, unknown> = {},
  headers: [string, string][] = [],
): ClientError {
  return new ClientError(code, message, {
    extensions: { ...extensions, http: { status, headers: new HeaderMap(headers) } },
  });
}

/** The HTTP status and headers of an error; neither for an error that has none. */
export function statusOf(error: unknown): { status?: number; headers: Iterable<[string, string]> } {
  const http: unknown = error instanceof ClientError ? error.extensions['http'] : undefined;
  if (typeof http !== 'object' || http === null) return { headers: [] };
  const { status, headers = [] }: { status?: number; headers?: HeaderMap | [] } = http;
  return { ...(status === undefined ? {} : { status }), headers };
}

/** A bad argument of a query; graphql-js adds the path of the field. */
export function badUserInput(argument: string, message: string): ClientError {
  return new ClientError('BAD_USER_INPUT', `Argument "${argument}" ${message}.`, { extensions: { argument } });
}

/**
 * What a client sees of an error. Intended errors and those of GraphQL itself pass, shortened; failures of the REST
 * service become a fixed sentence; everything else becomes "Internal server error". Never throws.
 */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const cause = unwrapResolverError(error);
  if (cause instanceof UpstreamError) return { ...formatted, ...upstreamFace(cause) };
  const code = formatted.extensions?.['code'];
  if (isRefusedArgument(cause)) return { ...formatted, ...clientFace({ ...formatted, extensions: MISTAKE }) };
  if (cause instanceof ClientError || isOfGraphQL(code)) return { ...formatted, ...clientFace(formatted) };
  return { ...formatted, ...INTERNAL };
}

/** Whether a client may see an error as it stands: then it needs no line in the log beyond the operation's own. */
export function isIntended(error: unknown): boolean {
  const cause = unwrapResolverError(error);
  if (cause instanceof ClientError || isRefusedArgument(cause)) return true;
  return cause instanceof GraphQLError && isOfGraphQL(cause.extensions?.['code']);
}

/**
 * Whether graphql-js refuses an argument while it executes: after validation only a variable can cause that, which is null
 * or missing where it must not be, or does not fit the literal it stands in. It gives such an error no code, and
 * graphql-jit not even extensions.
 */
function isRefusedArgument(cause: unknown): boolean {
  if (!(cause instanceof GraphQLError)) return false;
  const { message, extensions }: { message: string; extensions?: Record<string, unknown> } = cause;
  return extensions?.['code'] === undefined && REFUSED_ARGUMENT.test(message);
}

const REFUSED_ARGUMENT =
  /^Argument "\w+" (?:of (?:non-null|required) type "[\w![\]]+" (?:must not be null|was provided the variable "\$\w+" which was not provided a runtime value)|has invalid value .*)\.$/s;

const MISTAKE = { code: ApolloServerErrorCode.BAD_USER_INPUT };

const INTERNAL = {
  message: 'Internal server error',
  extensions: { code: ApolloServerErrorCode.INTERNAL_SERVER_ERROR },
};

function upstreamFace(error: UpstreamError) {
  const { code, retryable, retryAfterMs, outcome } = error;
  return {
    message: UPSTREAM_MESSAGES[code],
    extensions: {
      code,
      retryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(outcome === undefined ? {} : { outcome }),
    },
  };
}

/** The codes Apollo Server gives to mistakes in a request; their messages name the mistake and nothing inside. */
const OF_GRAPHQL: ReadonlySet<unknown> = new Set(
  Object.values(ApolloServerErrorCode).filter((code) => code !== ApolloServerErrorCode.INTERNAL_SERVER_ERROR),
);

function isOfGraphQL(code: unknown): boolean {
  return OF_GRAPHQL.has(code);
}

function clientFace({ message, extensions }: GraphQLFormattedError) {
  const { stacktrace: _stack, http: _http, ...shown } = extensions ?? {};
  const short = message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message;
  return /contains more that \d+ tokens/.test(message)
    ? { message: short, extensions: { ...shown, code: 'OPERATION_TOO_COMPLEX', limit: 'tokens' } }
    : { message: short, extensions: shown };
}

/** What graphql-js adds to a message for a name that is nearly right. */
const SUGGESTION = / ?Did you mean [^\n]{0,1000}$/;

/** A message that tells no names of the schema. */
export function withoutSuggestion(message: string): string {
  return message.replace(SUGGESTION, '');
}
