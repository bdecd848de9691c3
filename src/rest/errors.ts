import type { Endpoint } from './endpoints.ts';

/** Every way in which a call to the REST service can fail. */
export type UpstreamErrorCode =
  /** No response within the time of the call or its operation. */
  | 'UPSTREAM_TIMEOUT'
  /**
   * No connection, a response of 5xx or 429, 422 with code 2001 (the player is busy), an open breaker, or a pause after a
   * 429.
   */
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

/** Why the REST service refused a request, in its own words. Only for the log. */
export interface Refusal {
  code: string | undefined;
  /** At most 200 characters. Values of the request, keys, e-mail addresses and long numbers are replaced by `…`. */
  message: string | undefined;
}

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
  /** The beginning of the response's body. It can hold personal data. */
  readonly excerpt: string | undefined;
  /** Why the service refused the request. */
  readonly refusal: Refusal | undefined;

  /**
   * @param message Names the call by method and path template; never holds a key, an id or a URL.
   * @param options `retryable` is false by default, all others undefined.
   */
  constructor(code: UpstreamErrorCode, message: string, options: UpstreamErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs === undefined ? undefined : Math.ceil(options.retryAfterMs);
    this.outcome = options.outcome;
    this.status = options.status;
    this.excerpt = options.excerpt;
    this.refusal = options.refusal;
  }

  /** A copy with some members replaced. A copy of a `NotSent` is a plain `UpstreamError`. */
  with(changes: UpstreamErrorOptions): UpstreamError {
    return new UpstreamError(this.code, this.message, { ...this, cause: this.cause, ...changes });
  }
}

export type UpstreamErrorOptions = Partial<
  Pick<UpstreamError, 'retryable' | 'retryAfterMs' | 'outcome' | 'status' | 'excerpt' | 'refusal' | 'cause'>
>;

/** The call was not sent because of the service: the breaker is open, or the service asked for a pause. */
export class NotSent extends UpstreamError {
  constructor(reason: string, retryAfterMs?: number) {
    super('UPSTREAM_UNAVAILABLE', `Not sent: ${reason}`, { retryable: true, retryAfterMs });
  }
}

/** Not sent, because it would wait for a connection for too long. */
export function noConnection({ name }: Endpoint, retryAfterMs: number): UpstreamError {
  return new UpstreamError('OVERLOADED', `${name}: not sent, no free connection in time`, {
    retryable: true,
    retryAfterMs,
  });
}

/** No response within the time that the call or its operation has. */
export function timedOut({ name }: Endpoint): UpstreamError {
  return new UpstreamError('UPSTREAM_TIMEOUT', `${name}: no response in time`, { retryable: true });
}

/** No operation needs the result any more. */
export function cancelled({ name }: Endpoint): UpstreamError {
  return new UpstreamError('CANCELLED', `${name}: the client disconnected`);
}
