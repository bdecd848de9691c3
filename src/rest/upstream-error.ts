import type { UpstreamErrorCode, WriteOutcome } from '../errors.ts';
import type { Endpoint } from './endpoints.ts';

/** A failed call. `code`, `retryable`, `retryAfterMs` and `outcome` (of writes) are for clients; the rest is for the log. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly code: UpstreamErrorCode;
  /** Whether the same request can succeed later without being done twice. */
  readonly retryable: boolean = false;
  /** After how many milliseconds it can succeed, if known. */
  readonly retryAfterMs: number | undefined;
  readonly outcome: WriteOutcome | undefined;
  readonly status: number | undefined;
  /** The `code` in the body of the response. Its message is not kept: it can contain personal data. */
  readonly serviceCode: number | undefined;
  /** Whether the gateway itself refused: the breaker is open, too many calls wait, memory is short, or its process ends. */
  readonly skipped: boolean = false;

  /** @param message Names the call by method and path template; never contains a key, an id or a URL. */
  constructor(code: UpstreamErrorCode, message: string, { cause, ...details }: UpstreamErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, details);
  }
}

type UpstreamErrorOptions = Partial<Omit<UpstreamError, 'name' | 'message' | 'stack' | 'code'>>;

/** Whether the service refuses what was sent. A busy player is a 422 too, with another code. */
export const refusesInput = (error: unknown): error is UpstreamError =>
  error instanceof UpstreamError &&
  error.code === 'UPSTREAM_REJECTED' &&
  (error.status === 400 || error.status === 422);

/** Not sent, because all connections of the endpoint were in use. */
export function noConnection({ name }: Endpoint): UpstreamError {
  const options = { retryable: true, retryAfterMs: 1_000, skipped: true };
  return new UpstreamError('OVERLOADED', `${name}: not sent, no free connection in time`, options);
}

/** Its response has arrived, and the gateway had no memory to read it. */
export function notRead({ name }: Endpoint, status: number): UpstreamError {
  const options = { status, retryable: true, retryAfterMs: 1_000, skipped: true };
  return new UpstreamError('OVERLOADED', `${name}: its large response was not read`, options);
}

/**
 * No response within the time that the call or its operation has; `cause` when no connection was opened in time. Of a write,
 * `Call` corrects `retryable` by its outcome.
 */
export function timedOut({ name }: Endpoint, cause?: Error): UpstreamError {
  return new UpstreamError('UPSTREAM_TIMEOUT', `${name}: no response in time`, { retryable: true, cause });
}

/** The code when the service does not accept the client certificate, or wants one. OpenSSL 3.5 writes SSL/TLS in place of SSLV3. */
export const TLS_REFUSAL = /^ERR_SSL_[\w/]+_ALERT_\w*(?:CERTIFICATE|CA$|DENIED)/;

/** Whether it does so: then it has read nothing. */
export const isTlsRefusal = (error: object): boolean => 'code' in error && TLS_REFUSAL.test(String(error.code));

/** What an error means that undici reports. An `UpstreamError` was thrown before the request was written, or aborted it. */
export function errorOf(endpoint: Endpoint, cause: Error, isSent = false): UpstreamError {
  if (cause instanceof UpstreamError) return cause;
  const code = 'code' in cause && cause.code;
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return timedOut(endpoint, cause);
  const [, refusal] = /^Proxy response \(([\w/ ]+)\)/.exec(cause.message) ?? [];
  const skipped = code === 'UND_ERR_DESTROYED' && !isSent;
  const problem = refusal ? `the egress proxy responded ${refusal}` : 'the connection failed';
  // A proxy that says nothing has used the time of the call, as a connection that does not open.
  if (Object(cause.cause).code === 'UND_ERR_HEADERS_TIMEOUT')
    return new UpstreamError('UPSTREAM_TIMEOUT', `${endpoint.name}: ${problem}`, { cause, retryable: true });
  return code === 'UND_ERR_INVALID_ARG'
    ? new UpstreamError('UPSTREAM_MISCONFIGURED', `${endpoint.name}: the request cannot be written`, { cause })
    : new UpstreamError('UPSTREAM_UNAVAILABLE', `${endpoint.name}: ${problem}`, { cause, retryable: true, skipped });
}
