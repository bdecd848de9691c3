import type { Endpoint } from './endpoints.ts';

/** Every way in which a call to the REST service can fail. */
export type UpstreamErrorCode =
  /** No response within the time of the call or its operation. */
  | 'UPSTREAM_TIMEOUT'
  /** No connection, a response of 5xx or 429, 422 with code 2001 (the player is busy), or an open breaker. */
  | 'UPSTREAM_UNAVAILABLE'
  /** A response of 4xx: the service refuses the request. */
  | 'UPSTREAM_REJECTED'
  /** A response that the interface does not describe: no JSON, too large, a redirect, another player. */
  | 'UPSTREAM_INVALID_RESPONSE'
  /** A response of 401 or 403: the service refused our keys, which is never the fault of the gateway's client. */
  | 'UPSTREAM_MISCONFIGURED'
  /** Not sent: too many calls wait for a connection of ours. Says nothing about the service. */
  | 'OVERLOADED'
  /** The operation's client disconnected. Only the log and the metrics see this code. */
  | 'CANCELLED';

/** The outcome of a failed write. `DONE` is for errors after an acknowledged write. */
export type WriteOutcome = 'NOT_DONE' | 'UNKNOWN' | 'DONE';

/** How long a client is told to wait when no connection was free, in milliseconds. */
const OVERLOADED_RETRY_MS = 1_000;

/** A failed call. `code`, `retryable`, `retryAfterMs` and `outcome` are for clients; the rest is for the log. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly code: UpstreamErrorCode;
  /** Whether the same request can succeed later without being done twice. */
  readonly retryable: boolean;
  /** After how many milliseconds it can succeed, if known. */
  readonly retryAfterMs: number | undefined;
  /** Writes only. */
  readonly outcome: WriteOutcome | undefined;
  /** The HTTP status of the response, when there was one. */
  readonly status: number | undefined;
  /** The `code` in the body of the response. Its message is not kept: it can contain personal data. */
  readonly serviceCode: number | undefined;
  /** Whether the gateway itself decided not to send the call: the breaker is open, or too many calls wait. */
  readonly notSent: boolean;

  /**
   * @param message Names the call by method and path template; never contains a key, an id or a URL.
   * @param options `retryable` and `notSent` are false by default, all others undefined.
   */
  constructor(code: UpstreamErrorCode, message: string, options: UpstreamErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs === undefined ? undefined : Math.ceil(options.retryAfterMs);
    this.outcome = options.outcome;
    this.status = options.status;
    this.serviceCode = options.serviceCode;
    this.notSent = options.notSent ?? false;
  }

  /** A copy with some properties replaced. */
  with(changes: UpstreamErrorOptions): UpstreamError {
    return new UpstreamError(this.code, this.message, { ...this, cause: this.cause, ...changes });
  }
}

export type UpstreamErrorOptions = Partial<
  Pick<UpstreamError, 'retryable' | 'retryAfterMs' | 'outcome' | 'status' | 'serviceCode' | 'notSent' | 'cause'>
>;

/** Not sent, because the service failed too often. */
export function breakerOpen(retryAfterMs: number): UpstreamError {
  return new UpstreamError('UPSTREAM_UNAVAILABLE', 'Not sent: the breaker is open', {
    retryable: true,
    retryAfterMs,
    notSent: true,
  });
}

/** Not sent, because all connections of the endpoint were in use. */
export function noConnection({ name }: Endpoint): UpstreamError {
  return new UpstreamError('OVERLOADED', `${name}: not sent, no free connection in time`, {
    retryable: true,
    retryAfterMs: OVERLOADED_RETRY_MS,
    notSent: true,
  });
}

/** No response within the time that the call or its operation has. */
export function timedOut({ name }: Endpoint): UpstreamError {
  return new UpstreamError('UPSTREAM_TIMEOUT', `${name}: no response in time`, { retryable: true });
}

/** The client of the operation does not wait for the result any more. */
export function cancelled({ name }: Endpoint): UpstreamError {
  return new UpstreamError('CANCELLED', `${name}: the client disconnected`);
}
