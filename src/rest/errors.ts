import type { Endpoint } from './endpoints.ts';

/** Every way in which a call to the REST service can fail. */
export type UpstreamErrorCode =
  /** No answer within the call's or the operation's deadline. */
  | 'UPSTREAM_TIMEOUT'
  /** No connection, an answer of 5xx or 429, an open breaker, or a full queue. */
  | 'UPSTREAM_UNAVAILABLE'
  /** An answer of 4xx: the service refuses what was asked. */
  | 'UPSTREAM_REJECTED'
  /** An answer that is not what the interface describes: no JSON, too large, a redirect, another player. */
  | 'UPSTREAM_INVALID_RESPONSE'
  /** An answer of 401 or 403: our keys were refused, which is never the fault of the gateway's client. */
  | 'UPSTREAM_MISCONFIGURED'
  /** The operation's client went away first, or was cut off. Log and metrics see it; of clients there is nobody left to. */
  | 'CANCELLED';

export interface UpstreamErrorOptions {
  /** Whether asking again later can help. Default false. */
  retryable?: boolean;
  /** After how many milliseconds it can help, where that is known. */
  retryAfterMs?: number | undefined;
  /** The HTTP status of the answer, when there was one. */
  status?: number | undefined;
  /** The beginning of the answer's body. For the log alone: it can hold personal data. */
  excerpt?: string | undefined;
  cause?: unknown;
}

/** A failed call to the REST service. `code`, `retryable` and `retryAfterMs` are for clients; the rest is for the log. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly code: UpstreamErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  readonly excerpt: string | undefined;

  /** @param message Says which call failed and how, by method and path template; never a key, an id or a URL. */
  constructor(code: UpstreamErrorCode, message: string, options: UpstreamErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs === undefined ? undefined : Math.ceil(options.retryAfterMs);
    this.status = options.status;
    this.excerpt = options.excerpt;
  }
}

/** The call was not sent: the breaker is open, the service asked for a pause, or too many calls wait already. */
export class NotTried extends UpstreamError {
  constructor(reason: string, retryAfterMs?: number) {
    super('UPSTREAM_UNAVAILABLE', `Not sent: ${reason}`, { retryable: true, retryAfterMs });
  }
}

/** No answer within the time the call or its operation has; asking again can help. */
export function tooLate({ name }: Endpoint): UpstreamError {
  return new UpstreamError('UPSTREAM_TIMEOUT', `${name}: no answer in time`, { retryable: true });
}

/** Nobody waits for the answer any more. */
export function cancelled({ name }: Endpoint): UpstreamError {
  return new UpstreamError('CANCELLED', `${name}: the client went away`);
}
