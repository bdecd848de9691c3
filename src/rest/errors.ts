import type { UpstreamErrorCode, WriteOutcome } from '../errors.ts';
import type { Endpoint } from './endpoints.ts';

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
