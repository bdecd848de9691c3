/* The closed set of error codes, and the error that a client gets as it is. docs/errors.md describes each code. */
import { HeaderMap } from '@apollo/server';
import { GraphQLError, type GraphQLErrorOptions } from 'graphql';

/** Every way in which a call to the REST service can fail. */
export type UpstreamErrorCode =
  | 'UPSTREAM_TIMEOUT' // No response within the time of the call or its operation.
  | 'UPSTREAM_UNAVAILABLE' // No connection, 3xx, 407, 408, 421, 425, 429, from 499 on, 422 with code 2001, an HTML page, an open breaker.
  | 'UPSTREAM_REJECTED' // A response of 4xx: the service refuses the request.
  | 'UPSTREAM_INVALID_RESPONSE' // Not as the interface describes it: no JSON, too large, another player.
  | 'UPSTREAM_MISCONFIGURED' // 401, 403 or a request that cannot be written: our keys or settings, never the client's fault.
  | 'OVERLOADED' // The gateway has no connection or memory, no keys for tokens, or no store for idempotency keys.
  | 'CANCELLED'; // The client disconnected, or the operation no longer needs the call. For log and metrics.

/** The outcome of a mutation field's write, for its errors. `DONE`: it was acknowledged, and something after it failed. */
export type WriteOutcome = 'NOT_DONE' | 'UNKNOWN' | 'DONE';

/** The gateway's own values of `extensions.code`. Apollo Server adds some of its own. */
export type GatewayErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'RATE_LIMITED'
  | 'OPERATION_NOT_ALLOWED'
  | 'OPERATION_TOO_COMPLEX'
  | 'BAD_USER_INPUT'
  | 'BAD_REQUEST'
  | 'INTERNAL_SERVER_ERROR'
  | UpstreamErrorCode;

/** An error that is sent to the client unchanged. Any other error is masked. */
export class ClientError extends GraphQLError {
  readonly code: GatewayErrorCode;

  constructor(code: GatewayErrorCode, message: string, { extensions, ...options }: GraphQLErrorOptions = {}) {
    super(message, { ...options, extensions: { ...extensions, code } });
    this.code = code;
  }
}

/** An error that refuses the whole request, with its HTTP status. `retryAfterMs` is also sent as the header `retry-after`. */
export function requestError(
  code: GatewayErrorCode,
  status: number,
  message: string,
  extensions: Record<string, unknown> = {},
): ClientError {
  const { retryAfterMs } = extensions;
  const headers = new HeaderMap();
  if (typeof retryAfterMs === 'number') headers.set('retry-after', String(Math.ceil(retryAfterMs / 1_000)));
  return new ClientError(code, message, { extensions: { ...extensions, http: { status, headers } } });
}

/** For clients, whatever has too much to do: the process, or the connections to the REST service. */
export const OVERLOADED_MESSAGE = 'The gateway has too much to do at the moment; try again shortly.';

export function badRequest(message: string, status = 400): ClientError {
  return requestError('BAD_REQUEST', status, message);
}

/** An invalid argument of a query; graphql-js adds the path of the field. */
export function badUserInput(argument: string, message: string): ClientError {
  return new ClientError('BAD_USER_INPUT', `Argument "${argument}" ${message}.`, { extensions: { argument } });
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
