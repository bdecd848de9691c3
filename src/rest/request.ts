import { createHash } from 'node:crypto';
import { reveal, type Secret } from '../config/secret.ts';
import type { CallContext } from './call-context.ts';
import { type Endpoint, pathTo } from './endpoints.ts';
import type { Request } from './transport.ts';

const LANGUAGE = /^[\w-]{1,64}$/;

export interface RequestOptions {
  /** Where the REST service is; a path in it stands before `/api/v3.0`. */
  baseUrl: URL;
  apiKey: () => Secret;
  secretKey: () => Secret;
}

/** What differs from call to call. */
export interface Content {
  /** The player the path names; a POST names it in the body. */
  playerUniqueId?: string;
  query?: string;
  lang?: string | undefined;
  body?: unknown;
}

export interface IdentifiedRequest extends Request {
  /**
   * Everything that selects the answer: base URL, a hash of the API key, path, query and language. Two reads with the same
   * identity have the same answer.
   */
  identity: string;
}

export type RequestMaker = (endpoint: Endpoint, content: Content, op: CallContext) => IdentifiedRequest;

/** Makes the requests of one REST service. This alone puts the keys on: the secret key where the endpoint says so. */
export function createRequestMaker({ baseUrl, apiKey, secretKey }: RequestOptions): RequestMaker {
  const root = `${baseUrl.pathname.replace(/\/+$/, '')}/api/v3.0`;

  let key = '';
  let account = '';

  /** Hashed anew only when the key changes. */
  function accountOf(current: string): string {
    if (current !== key) {
      key = current;
      account = JSON.stringify([baseUrl.href, createHash('sha256').update(current).digest('base64')]);
    }
    return account;
  }

  return (endpoint, { playerUniqueId, query, lang, body }, op) => {
    const resource = playerUniqueId === undefined ? endpoint.template : pathTo(endpoint, playerUniqueId);
    const path = query === undefined ? root + resource : `${root}${resource}?${query}`;
    const current = reveal(apiKey());
    const headers = ['accept', 'application/json', 'accept-encoding', 'identity', 'APIKey', current];
    if (endpoint.secret) headers.push('secretKey', reveal(secretKey()));
    if (lang !== undefined) headers.push('Lang', checkLanguage(lang));
    if (body !== undefined) headers.push('content-type', 'application/json');
    headers.push('x-request-id', op.requestId);
    if (op.traceparent !== undefined) headers.push('traceparent', op.traceparent);
    return {
      method: endpoint.method,
      path,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      // Neither a language nor an encoded path holds a space.
      identity: `${accountOf(current)} ${lang ?? ''} ${path}`,
    };
  };
}

/** A header carries a language code, and nothing that could be more than one. */
function checkLanguage(lang: string): string {
  if (LANGUAGE.test(lang)) return lang;
  throw new RangeError('A language code has 1 to 64 letters, digits, hyphens or underscores, such as "en" or "pt-BR".');
}
