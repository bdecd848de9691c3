import { createHash } from 'node:crypto';
import { reveal, type Secret } from '../config/secret.ts';
import type { CallContext } from './call-context.ts';
import type { CouponMembers } from './decode/coupon-members.ts';
import type { Endpoint } from './endpoints.ts';
import { checkId } from './ids.ts';
import type { Request } from './transport.ts';

const LANGUAGE = /^[\w-]{1,64}$/;

export interface RequestOptions {
  /** The URL of the REST service. Its path, if any, comes before `/api/v3.0`. */
  baseUrl: URL;
  apiKey: () => Secret;
  secretKey: () => Secret;
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
  let hashedKey: Secret | undefined;
  let account = '';

  /** Identifies the account without its key. Hashed again only when the key changes. */
  function accountOf(key: Secret): string {
    if (key !== hashedKey) {
      hashedKey = key;
      account = JSON.stringify([baseUrl.href, createHash('sha256').update(reveal(key)).digest('base64')]);
    }
    return account;
  }

  const keys = () => [reveal(apiKey()), reveal(secretKey())];

  return (endpoint, { playerUniqueId, query, lang, body, couponMembers }, { requestId, trace }) => {
    const resource = playerUniqueId === undefined ? endpoint.template : pathOf(endpoint, playerUniqueId);
    const path = query === undefined ? root + resource : `${root}${resource}?${query}`;
    const key = apiKey();
    const headers = ['accept', 'application/json', 'accept-encoding', 'identity', 'APIKey', reveal(key)];
    if (endpoint.secret) headers.push('secretKey', reveal(secretKey()));
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
      identity: `${accountOf(key)} ${lang ?? ''} ${path} ${couponMembers?.key ?? ''}`,
    };
  };
}

/** Throws a `RangeError` for a language that is not safe in a header. */
function checkLanguage(lang: string): string {
  if (LANGUAGE.test(lang)) return lang;
  throw new RangeError('A language code has 1 to 64 letters, digits, hyphens or underscores, such as "en" or "pt-BR".');
}

/** The path of an endpoint for one player, encoded. Throws a `RangeError` for an id that cannot be sent. */
function pathOf({ before, after }: Endpoint, playerUniqueId: string): string {
  return before + encodeURIComponent(checkId(playerUniqueId)) + after;
}
