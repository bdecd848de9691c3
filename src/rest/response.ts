import type { UpstreamErrorCode } from '../errors.ts';
import type { Observer } from './call-context.ts';
import { isJson, type Json } from './decode/members.ts';
import type { Endpoint } from './endpoints.ts';
import { UpstreamError, type UpstreamErrorOptions } from './errors.ts';
import type { Response } from './transport.ts';

/** The longest error body that is parsed for its code, in bytes. */
const MAX_ERROR_BYTES = 16_384;
/** The code in an error's body that says that the player does not exist, whatever the HTTP status. */
const UNKNOWN_PLAYER = 101;
/** The code that, with status 422, says that another request about the player is being processed. */
const BUSY_PLAYER = 2001;
/** Replaces a missing `Retry-After` of a 429 or of a busy player, in milliseconds. */
const BUSY_RETRY_MS = 200;
/** The longest `Retry-After` that is used, in milliseconds; a longer one is shortened to it. */
const MAX_RETRY_AFTER_MS = 30_000;
/** The longest header value that is parsed, in characters: a service could send any length. */
const MAX_HEADER_LENGTH = 200;

const JSON_TYPE = /^(?:application|text)\/(?:[\w.+-]{1,80}\+)?json *(?:;|$)/i;
const HTML_TYPE = /^(?:text\/html|application\/xhtml)/i;
/** Bodies that acknowledge a write although they are not objects. */
const ACKNOWLEDGEMENT = /^(?:"?ok"?|true|\[\]|null)?$/i;

/**
 * The body of a successful response; null when the player does not exist. An empty body is an empty object: the service may
 * send a success without a body. Throws an `UpstreamError` for any other response. Not called for a response that
 * is a `transientError`.
 */
export function readResponse(
  response: Response,
  endpoint: Endpoint,
  observer: Pick<Observer, 'notFoundWithoutCode'>,
): Json | null {
  const { status, body } = response;
  const invalid = () => failure('UPSTREAM_INVALID_RESPONSE', endpoint, response);
  if (status < 200 || (status >= 300 && status < 400)) throw invalid();
  if (status === 401 || status === 403) throw failure('UPSTREAM_MISCONFIGURED', endpoint, response);
  if (status >= 400) {
    const isUnknown = codeOf(body) === UNKNOWN_PLAYER;
    if (!endpoint.ofPlayer || !(isUnknown || status === 404)) throw failure('UPSTREAM_REJECTED', endpoint, response);
    if (!isUnknown) observer.notFoundWithoutCode?.(endpoint.name);
    return null;
  }
  const text = body.toString().trim();
  // Another text than an acknowledgement is an error. An HTML page comes from a proxy.
  const isTyped = endpoint.acknowledges ? !hasType(response, HTML_TYPE) : text === '' || hasType(response, JSON_TYPE);
  if (!isTyped) throw invalid();
  if (endpoint.acknowledges ? ACKNOWLEDGEMENT.test(text) : text === '') return {};
  const json = parseJson(text);
  if (!isJson(json)) throw invalid();
  return endpoint.ofPlayer && codeIn(json) === UNKNOWN_PLAYER ? null : json;
}

/** The value of a JSON text, with or without a byte order mark, which `trim` removes; undefined for any other text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.trim());
  } catch {
    return undefined;
  }
}

/** The error when the service cannot serve the request now: 5xx, 429, or 422 while it works on the same player. */
export function transientError(endpoint: Endpoint, response: Response): UpstreamError | undefined {
  const { status, body } = response;
  if (status < 500 && status !== 429 && !(status === 422 && codeOf(body) === BUSY_PLAYER)) return undefined;
  const delayMs = retryAfterMs(response) ?? (status < 500 ? BUSY_RETRY_MS : undefined);
  return failure('UPSTREAM_UNAVAILABLE', endpoint, response, { retryable: true, retryAfterMs: delayMs });
}

/** `Retry-After` in milliseconds from now, in seconds or as a date, at most 30 s. Undefined when absent or unreadable. */
export function retryAfterMs({ headers }: Response): number | undefined {
  const value = headers['retry-after'];
  if (typeof value !== 'string' || value.length > MAX_HEADER_LENGTH) return undefined;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

function failure(
  code: UpstreamErrorCode,
  endpoint: Endpoint,
  { status, body }: Response,
  options: UpstreamErrorOptions = {},
): UpstreamError {
  const serviceCode = codeOf(body);
  return new UpstreamError(code, `${endpoint.name} responded ${status}`, { ...options, status, serviceCode });
}

/** The `code` of an error's body; undefined for a body that is too long or has none. */
function codeOf(body: Buffer): number | undefined {
  return body.length > MAX_ERROR_BYTES ? undefined : codeIn(parseJson(body.toString()));
}

/** Some services send the code as text. Codes have at most 5 digits, so that no telephone number gets into the log. */
function codeIn(body: unknown): number | undefined {
  const code = isJson(body) ? body['code'] : undefined;
  const isCode = (typeof code === 'number' || typeof code === 'string') && /^\d{1,5}$/.test(String(code));
  return isCode ? Number(code) : undefined;
}

function hasType({ headers }: Response, type: RegExp): boolean {
  const value = headers['content-type'];
  return typeof value === 'string' && value.length <= MAX_HEADER_LENGTH && type.test(value);
}
