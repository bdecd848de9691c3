import { createHash } from 'node:crypto';
import { reveal, type Secret } from '../config/secret.ts';
import type { CallContext } from './call-context.ts';
import type { CouponMembers } from './decode/coupon.ts';
import { type Endpoint, ID_PLACEHOLDER } from './endpoints.ts';
import type { Request } from './transport.ts';

const LANGUAGE = /^[\w-]{1,64}$/;

interface RequestOptions {
  /** The URL of the REST service. Its path, if any, comes before `/api/v3.0`. */
  baseUrl: URL;
  apiKey: Secret;
  secretKey: Secret;
}

/** The content of one request. */
export interface RequestContent {
  /** The player in the path; a POST names its player in the body. */
  playerUniqueId?: string;
  query?: string;
  lang?: string | undefined;
  body?: unknown;
  /** What is decoded of each coupon of the response; undefined: everything. */
  couponMembers?: CouponMembers | undefined;
}

export interface IdentifiedRequest extends Request {
  /**
   * Everything that determines the result: base URL, a hash of the API key, path, query, language, and what is decoded.
   * Reads with the same identity have the same result.
   */
  identity: string;
  couponMembers: CouponMembers | undefined;
  /** Both keys of the account, whether this request has them or not: the log must show neither. */
  keys(): readonly string[];
}

export type CreateRequest = (endpoint: Endpoint, content: RequestContent, context: CallContext) => IdentifiedRequest;

/** Creates the requests to one REST service. Only this function adds the keys: the secret key if the endpoint needs it. */
export function createRequests({ baseUrl, apiKey, secretKey }: RequestOptions): CreateRequest {
  const root = `${baseUrl.pathname.replace(/\/+$/, '')}/api/v3.0`;
  const key = reveal(apiKey);
  /** Identifies the account without its key. */
  const account = JSON.stringify([baseUrl.href, createHash('sha256').update(key).digest('base64')]);
  const keys = () => [key, reveal(secretKey)];
  /** Throws a `RangeError` for an id that cannot be sent. */
  const pathOf = ({ template }: Endpoint, id: string | undefined) =>
    root + (id === undefined ? template : template.replace(ID_PLACEHOLDER, encodeURIComponent(checkId(id))));

  return (endpoint, { playerUniqueId, query, lang, body, couponMembers }, { requestId, trace }) => {
    const path = pathOf(endpoint, playerUniqueId) + (query === undefined ? '' : `?${query}`);
    const headers = ['accept', 'application/json', 'accept-encoding', 'identity', 'APIKey', key];
    if (endpoint.secret) headers.push('secretKey', reveal(secretKey));
    if (lang !== undefined) headers.push('Lang', checkLanguage(lang));
    if (body !== undefined) headers.push('content-type', 'application/json');
    headers.push('x-request-id', requestId);
    if (trace) headers.push('traceparent', trace.traceparent);
    if (trace?.tracestate !== undefined) headers.push('tracestate', trace.tracestate);
    return {
      method: endpoint.method,
      path,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      keys,
      couponMembers,
      // Neither a language nor an encoded path contains a space.
      identity: `${account} ${lang ?? ''} ${path} ${couponMembers?.key ?? ''}`,
    };
  };
}

/** Throws a `RangeError` for a language that is not safe in a header. */
function checkLanguage(lang: string): string {
  if (LANGUAGE.test(lang)) return lang;
  throw new RangeError('A language code has 1 to 64 letters, digits, hyphens or underscores, such as "en" or "pt-BR".');
}

/** The longest id, in bytes of UTF-8. The interface document sets no bound; the reference service has the same. */
export const MAX_ID_BYTES = 1_024;

/** Control characters, and the invisible ones that change the direction of text. */
const CONTROL = /[\p{Cc}\p{Bidi_Control}]/u;

/** Why an id cannot be sent: a code of the schema's `UserErrorCode`, and the end of a sentence about the id. */
interface IdProblem {
  code: 'INVALID' | 'REQUIRED' | 'TOO_LONG';
  message: string;
}

/**
 * Why a `playerUniqueId` cannot be sent, or undefined when it can. Percent-encoding does not change `.` and `..`, which would
 * address another resource. Half of a surrogate pair cannot be encoded in UTF-8.
 */
export function idProblem(playerUniqueId: string): IdProblem | undefined {
  if (playerUniqueId.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  if (playerUniqueId === '.' || playerUniqueId === '..') {
    return { code: 'INVALID', message: 'must not be "." or ".."' };
  }
  if (playerUniqueId.length > MAX_ID_BYTES || Buffer.byteLength(playerUniqueId) > MAX_ID_BYTES) {
    return { code: 'TOO_LONG', message: `must have at most ${MAX_ID_BYTES} bytes of UTF-8` };
  }
  if (CONTROL.test(playerUniqueId)) return { code: 'INVALID', message: 'must not contain control characters' };
  if (!playerUniqueId.isWellFormed()) return { code: 'INVALID', message: 'must not contain half of a surrogate pair' };
  return undefined;
}

/** The id itself. Throws a `RangeError` for one that cannot be sent. */
export function checkId(playerUniqueId: string): string {
  const problem = idProblem(playerUniqueId);
  if (problem) throw new RangeError(`A playerUniqueId ${problem.message}.`);
  return playerUniqueId;
}
