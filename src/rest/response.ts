import { isUtf8 } from 'node:buffer';
import type { UpstreamErrorCode } from '../errors.ts';
import { isJson, type Json, parseJson } from '../json.ts';
import type { BreakerResult } from './breaker.ts';
import type { Observer } from './call-context.ts';
import type { Endpoint } from './endpoints.ts';
import type { UpstreamResponse } from './exchange.ts';
import { UpstreamError } from './upstream-error.ts';

/** The code in an error's body that says that the player does not exist, with any status but 401, 403, 429 and 5xx. */
const UNKNOWN_PLAYER = 101;
/** The code that, with status 422, says that another request about the player is being processed. */
const BUSY_PLAYER = 2001;
/**
 * Statuses that say that nothing was done, and that it may be done later: the request was not complete in time (408), came to
 * the wrong server (421), too early (425), or too often (429).
 */
const NOT_DONE_YET = [408, 421, 425, 429];
/** The first status after which nobody knows what was done: the request was cancelled in the middle (499 of gRPC gateways). */
const FIRST_UNKNOWN = 499;
/** Later ones that say that nothing was done: a login page (511, 561), or Cloudflare did not reach the service (52x, 530). */
const NOT_REACHED = [511, 521, 523, 525, 526, 530, 561];
/** Replaces a missing `Retry-After` of these statuses or of a busy player, in milliseconds. */
const BUSY_RETRY_MS = 200;
/** The longest `Retry-After` that is used, in milliseconds; a longer one is shortened to it. */
export const MAX_RETRY_AFTER_MS = 30_000;

/** After which time a call is sent again whose keys were refused, in milliseconds: its operator corrects them meanwhile. */
const MISCONFIGURED_RETRY_MS = 60_000;

const REFUSED_BETWEEN =
  ': something in between refused the call, such as a firewall, a proxy, or an ingress without a route';
/** `RBAC: access denied` is of a mesh, `Forbidden` can be of the service. */
const WITH_TEXT = ' with a text: the keys are refused, or something in between refused the call';
const REDIRECT = ': a redirect, which is not followed; REST_BASE_URL must be the address that it leads to';

const NO_OBJECT = ' with a body that is no JSON object, such as the page of a proxy or of a login';
const WITHOUT_RESULT = ' without a property of a success: an error, or another service';
/** A successful read has at least one of these properties, unless its object is empty; an upsert has the first. */
const RESULT_PROPERTY = /^(?:playerUniqueId|playerAttributes|referralLink|coupons|referredFriends|count|total\w*)$/;

/** In place of an error, beside a success. */
const NO_ERROR = /^(?:false|0|none|null|ok|success|no error)$/i;

/** A page of a proxy. Frameworks give this type to empty bodies too, and PHP to JSON: these are the service's. */
const HTML_TYPE = /^(?:text\/html|application\/xhtml)/i;
/** What an ingress without a route sends: `default backend - 404`, `404 page not found`, XML. The service sends JSON. */
const OTHER_TYPE = /^(?!.*json)./i;
const TEXT_TYPE = /^text\//i;
/** Bodies that acknowledge a write although they are not objects. */
const ACKNOWLEDGEMENT = /^(?:"?ok"?|true|\[\]|null)?$/i;

/** AWS WAF responds with a challenge for browsers (202 or 405), and does not forward the request. */
const isChallenge = ({ headers }: UpstreamResponse) => headers['x-amzn-waf-action'] !== undefined;

/** Whether a response says that nothing was done. After a success that cannot be read, nobody knows. */
export const isRefusal = (response: UpstreamResponse): boolean =>
  (response.status >= 300 && response.status < FIRST_UNKNOWN) ||
  NOT_REACHED.includes(response.status) ||
  isChallenge(response);

/** What an attempt says about the service: only 5xx, lost connections and timeouts are failures. */
export function resultOf(response: UpstreamResponse | UpstreamError, wasInFlightLong: boolean): BreakerResult {
  if (!(response instanceof Error)) return response.status >= 500 ? 'failure' : 'success';
  const { code, status, skipped, cause } = response;
  // It had a response, whatever became of that.
  if (code === 'UPSTREAM_INVALID_RESPONSE' || status !== undefined) return 'success';
  // A cause says that no connection was opened in time.
  const isTimeout = code === 'UPSTREAM_TIMEOUT' && (wasInFlightLong || cause !== undefined);
  return isTimeout || (code === 'UPSTREAM_UNAVAILABLE' && !skipped) ? 'failure' : 'none';
}

/**
 * What a response means: the body of a success, null when the player does not exist, or its error. An empty body is an empty
 * object: the service may send a success without a body.
 * @param maybeDone Whether an earlier attempt may have been carried out. If a delete then finds no player (code 101), the earlier
 * attempt deleted it: a success. A 404 without the code is an error then, because a proxy may have sent it.
 */
export function readResponse(
  response: UpstreamResponse,
  endpoint: Endpoint,
  maybeDone: boolean,
  observer: Observer,
): Json | null | UpstreamError {
  const { status, headers } = response;
  const json = readJson(response, observer);
  const serviceCode = codeOf(json);
  const failed = (code: UpstreamErrorCode, retryAfterMs?: number, reason = '') => {
    const retryable = code === 'UPSTREAM_UNAVAILABLE' || code === 'UPSTREAM_MISCONFIGURED';
    const details = { status, serviceCode, retryable, retryAfterMs };
    return new UpstreamError(code, `${endpoint.name} responded ${status}${reason}`, details);
  };
  const refusedBetween = () => failed('UPSTREAM_UNAVAILABLE', MISCONFIGURED_RETRY_MS, REFUSED_BETWEEN);
  const isRepeatedDelete = maybeDone && endpoint.method === 'DELETE';
  const unknownPlayer = isRepeatedDelete ? {} : null;
  if (isChallenge(response)) return refusedBetween();
  const textType = isJson(json) || response.body.length === 0 ? '' : String(headers['content-type'] ?? '');
  if (status < 300) {
    if (!isJson(json))
      return isAcknowledgement(response, endpoint) ? {} : failed('UPSTREAM_INVALID_RESPONSE', undefined, NO_OBJECT);
    if (endpoint.ofPlayer && serviceCode === UNKNOWN_PLAYER) return unknownPlayer;
    return isResult(json, endpoint) ? json : failed('UPSTREAM_INVALID_RESPONSE', undefined, WITHOUT_RESULT);
  }
  const isLater = NOT_DONE_YET.includes(status) || (status === 422 && serviceCode === BUSY_PLAYER);
  if (isLater) return failed('UPSTREAM_UNAVAILABLE', delayOf(response) ?? BUSY_RETRY_MS);
  if (status >= FIRST_UNKNOWN) return failed('UPSTREAM_UNAVAILABLE', delayOf(response));
  if (status < 400) return failed('UPSTREAM_UNAVAILABLE', delayOf(response), REDIRECT);
  // The service itself refuses with JSON or an empty body, and never with 404 on a path that names no player.
  if (status === 407 || HTML_TYPE.test(textType)) return refusedBetween();
  if (status === 401 || status === 403)
    return failed('UPSTREAM_MISCONFIGURED', MISCONFIGURED_RETRY_MS, TEXT_TYPE.test(textType) ? WITH_TEXT : '');
  if (endpoint.ofPlayer && serviceCode === UNKNOWN_PLAYER) return unknownPlayer;
  if (status !== 404 || serviceCode !== undefined || isRepeatedDelete) return failed('UPSTREAM_REJECTED');
  if (OTHER_TYPE.test(textType) || !endpoint.ofPlayer) return refusedBetween();
  observer.notFoundWithoutCode?.(endpoint.name);
  return null;
}

/**
 * `Retry-After` in milliseconds from now, in seconds or as a date, at most 30 s. Undefined when absent or unreadable. A date counts
 * from the `Date` of the response: the clocks of the service and of this machine can differ.
 */
function delayOf({ headers }: UpstreamResponse): number | undefined {
  const value = String(headers['retry-after']).trim();
  // Some services send decimals, and some proxies repeat the header.
  const [, seconds] = /^(\d+(?:\.\d+)?)(?:,|$)/.exec(value) ?? [];
  // `Date.parse` takes numbers such as -1 for dates of the year 2001.
  const date = /[A-Z]/i.test(value) ? Date.parse(value) : Number.NaN;
  const ms = seconds ? Math.ceil(Number(seconds) * 1_000) : date - (Date.parse(String(headers['date'])) || Date.now());
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

/** 201 and 202 say that a write was done, unless the body is an HTML page. With 200, proxies and portals send texts of their own. */
function isAcknowledgement({ status, headers, body }: UpstreamResponse, { acknowledges, method }: Endpoint): boolean {
  const text = body.toString().trim();
  const isSaid = (status === 201 || status === 202) && !HTML_TYPE.test(String(headers['content-type']));
  return (isSaid && method !== 'GET') || (acknowledges ? ACKNOWLEDGEMENT.test(text) : text === '');
}

/**
 * Whether the object of a success is one. Some services send their errors with 200; of a write, nobody knows then whether it was
 * done, whatever else the object has. Other objects acknowledge it: the interface says of none what is in it.
 */
function isResult(json: Json, { method }: Endpoint): boolean {
  const names = Object.keys(json);
  const isUsual = names.length === 0 || names.some((name) => RESULT_PROPERTY.test(name));
  if (method === 'GET') return isUsual;
  const { error, errors, errorMessage, ok, status, statusCode, success } = json;
  // Beside a property of a result, `status` can be that of the player: inactive, or a payment that failed.
  const failed = isUsual ? /^(?:error|[45]\d\d$)/i : /^(?:error|fail|false|[45]\d\d$)/i;
  const isError =
    [error, errors, errorMessage]
      .flat()
      .some((one) => one && !NO_ERROR.test(String(one)) && JSON.stringify(one) !== '{}') ||
    [ok, success].some((one) => /^(?:false|0)$/i.test(String(one))) ||
    [status, statusCode].some((one) => failed.test(String(one)));
  return !isError && (isUsual || /^(?:0|2\d\d|undefined)$/.test(String(codeOf(json))));
}

/** The value of a JSON text, with or without a byte order mark, which `trim` removes; undefined for any other text. */
function readJson({ headers, body }: UpstreamResponse, { decodeWarning }: Observer): unknown {
  const text = inUtf8(body, headers['content-type']).toString().trim();
  const value = parseJson(text);
  if (value !== undefined) return value;
  const mended = parseJson(inJson(text));
  if (mended !== undefined) decodeWarning?.('wrong-type', 'body');
  return mended;
}

/** Strings, also one without an end, so that no text is read twice, and the numbers that JSON does not have. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.?[^"\\]*)*(?:"|$)|-?\b(?:NaN|Infinity)\b/gs;

/** JSON as some services write it: with NaN and infinities, which become null, and with line breaks and tabs in strings. */
const inJson = (text: string) =>
  text.replace(STRING_OR_NUMBER, (part) =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings.
    part.startsWith('"') ? part.replace(/[\0-\x1f]/g, (one) => JSON.stringify(one).slice(1, -1)) : 'null',
  );

/** Some services send the code as text. Codes have at most 5 digits, so that no telephone number gets into the log. */
function codeOf(body: unknown): number | undefined {
  const code = isJson(body) ? body['code'] : undefined;
  return typeof code !== 'object' && /^\d{1,5}$/.test(String(code)) ? Number(code) : undefined;
}

/**
 * A text in the character set of its byte order mark, or that its type names. Some services name one and send UTF-8 all the same;
 * UTF-16 has bytes of 0, which no JSON in UTF-8 has.
 */
function inUtf8(body: Buffer, type: unknown): Buffer {
  const [, charset] = /;\s*charset\s*=\s*"?(?!utf-?8\b)([\w-]+)/i.exec(String(type)) ?? [];
  const mark = (body[0] ?? 0) * 256 + (body[1] ?? 0);
  const label = mark === 0xfeff ? 'utf-16be' : mark === 0xfffe ? 'utf-16le' : charset;
  if (label === undefined || (isUtf8(body) && !(/^utf-16/i.test(label) && body.includes(0)))) return body;
  try {
    // Without `stream`, Node 20 takes windows-1252 for ISO-8859-1, which has no euro sign.
    return Buffer.from(new TextDecoder(label).decode(body, { stream: true }));
  } catch {
    return body;
  }
}
