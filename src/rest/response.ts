import { isJson, type Json } from './decode/members.ts';
import type { Endpoint } from './endpoints.ts';
import { UpstreamError, type UpstreamErrorCode, type UpstreamErrorOptions } from './errors.ts';
import type { NoReply, Reply } from './transport.ts';

/** How much of a failed call's body the log may see. */
const EXCERPT_BYTES = 500;
/** The code in an error's body that says the player does not exist, whatever the HTTP status. */
const UNKNOWN_PLAYER = 101;
/** The longest wait that is believed, in milliseconds. */
const MAX_RETRY_AFTER_MS = 3_600_000;

const JSON_TYPE = /^(?:application|text)\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * The body of a successful reply; null when it says that the player does not exist. An empty body is an empty object: the
 * service may answer a success without a body. Throws an `UpstreamError` for everything else; statuses that are
 * `isUnavailable` are the caller's to sort out before.
 */
export function readReply(reply: Reply, endpoint: Endpoint): Json | null {
  const { status, body } = reply;
  if (status < 200 || (status >= 300 && status < 400)) throw failure('UPSTREAM_INVALID_RESPONSE', endpoint, reply);
  if (status === 401 || status === 403) throw failure('UPSTREAM_MISCONFIGURED', endpoint, reply);
  if (status === 404 && endpoint.ofPlayer) return null;
  const encoding = reply.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') throw failure('UPSTREAM_INVALID_RESPONSE', endpoint, reply);
  const text = body.toString();
  if (status >= 400) {
    if (endpoint.ofPlayer && isUnknownPlayer(parse(text))) return null;
    throw failure('UPSTREAM_REJECTED', endpoint, reply);
  }
  if (text.trim() === '') return {};
  const json = isTyped(reply) ? parse(text) : undefined;
  if (!isJson(json)) throw failure('UPSTREAM_INVALID_RESPONSE', endpoint, reply);
  return endpoint.ofPlayer && isUnknownPlayer(json) ? null : json;
}

/** A status by which the service says that it cannot answer now: 5xx, and 429. */
export function isUnavailable(status: number): boolean {
  return status >= 500 || status === 429;
}

/** The failure that such a status is. `waitMs` stands in for a `Retry-After` that is missing. */
export function unavailable(endpoint: Endpoint, reply: Reply, waitMs?: number): UpstreamError {
  const options = { retryable: true, retryAfterMs: retryAfterMs(reply) ?? waitMs };
  return failure('UPSTREAM_UNAVAILABLE', endpoint, reply, options);
}

/** The failure of a call that got no reply. */
export function withoutReply(endpoint: Endpoint, error: NoReply): UpstreamError {
  const options = { cause: error.cause ?? error };
  switch (error.reason) {
    case 'connection':
      return new UpstreamError('UPSTREAM_UNAVAILABLE', `${endpoint.name}: the connection failed`, {
        ...options,
        retryable: true,
      });
    case 'too-large':
      return new UpstreamError('UPSTREAM_INVALID_RESPONSE', `${endpoint.name}: the body is too large`, options);
    case 'bad-request':
      return new UpstreamError('UPSTREAM_MISCONFIGURED', `${endpoint.name}: the request cannot be written`, options);
  }
}

/** `Retry-After` in milliseconds from now: seconds, or a date. Undefined when absent or unreadable. */
export function retryAfterMs(reply: Reply): number | undefined {
  const value = reply.headers['retry-after'];
  if (typeof value !== 'string') return undefined;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

function failure(
  code: UpstreamErrorCode,
  endpoint: Endpoint,
  { status, body }: Reply,
  options: UpstreamErrorOptions = {},
): UpstreamError {
  const excerpt = body.toString('utf8', 0, EXCERPT_BYTES);
  return new UpstreamError(code, `${endpoint.name} answered ${status}`, { ...options, status, excerpt });
}

function isUnknownPlayer(body: unknown): boolean {
  return isJson(body) && body['code'] === UNKNOWN_PLAYER;
}

function isTyped({ headers }: Reply): boolean {
  return typeof headers['content-type'] === 'string' && JSON_TYPE.test(headers['content-type']);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}
