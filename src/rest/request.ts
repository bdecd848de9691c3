import { reveal, type Secret } from '../config/secret.ts';
import type { CallContext } from './call-context.ts';
import { type Endpoint, ID_PLACEHOLDER } from './endpoints.ts';
import type { Request } from './transport.ts';

/** The content of one request. */
export interface RequestContent {
  /** The player that the call is about: in the path, or in the body of a POST. */
  playerUniqueId: string;
  query?: string;
  lang?: string | undefined;
  body?: unknown;
}

/** Creates the requests to one REST service, with the keys. Throws a `RangeError` for an id that cannot be sent. */
export function createRequests(baseUrl: URL, apiKey: Secret, secretKey: Secret) {
  const root = `${baseUrl.pathname.replace(/\/+$/, '')}/api/v3.0`;
  const always = ['accept', 'application/json', 'accept-encoding', 'identity', 'APIKey', reveal(apiKey)];
  const withSecret = [...always, 'secretKey', reveal(secretKey)];

  return (endpoint: Endpoint, content: RequestContent, { requestId, traceHeaders = [] }: CallContext): Request => {
    const { playerUniqueId, query, lang, body } = content;
    const problem = idProblem(playerUniqueId);
    if (problem) throw new RangeError(`A playerUniqueId ${problem.message}.`);
    const path = root + endpoint.template.replace(ID_PLACEHOLDER, encodeURIComponent(playerUniqueId));
    const headers = [...(endpoint.secret ? withSecret : always)];
    if (lang !== undefined) headers.push('Lang', lang);
    if (body !== undefined) headers.push('content-type', 'application/json');
    headers.push('x-request-id', requestId, ...traceHeaders);
    return { method: endpoint.method, path: query ? `${path}?${query}` : path, headers, body: JSON.stringify(body) };
  };
}

/** The longest id, in bytes of UTF-8. The interface document sets no bound; the reference service has the same. */
export const MAX_ID_BYTES = 1_024;

/** Control characters, and the invisible ones that change the direction of text. */
const CONTROL = /[\p{Cc}\p{Bidi_Control}]/u;

/** A code of the schema's `UserErrorCode`, and the end of a sentence about the id. */
type IdProblem = { code: 'INVALID' | 'REQUIRED' | 'TOO_LONG'; message: string };

/** A part between slashes that a proxy resolves to another path. */
const DOT_PART = /(?:^|[/\\])\.{1,2}(?:$|[/\\])/;
/** The percent-encoded forms of `%`, `.`, `/` and `\`. */
const ENCODED = /%(?:25|2e|2f|5c)/gi;

/**
 * Why a `playerUniqueId` cannot be sent, or undefined when it can. A part `.` or `..` could address another player: some
 * proxies decode `%2F`, once or twice, before they resolve such parts. Half of a surrogate pair cannot be encoded in UTF-8.
 */
export function idProblem(playerUniqueId: string): IdProblem | undefined {
  if (playerUniqueId.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  if (playerUniqueId.length > MAX_ID_BYTES || Buffer.byteLength(playerUniqueId) > MAX_ID_BYTES) {
    return { code: 'TOO_LONG', message: `must have at most ${MAX_ID_BYTES} bytes of UTF-8` };
  }
  if (hasDotPart(playerUniqueId)) return { code: 'INVALID', message: 'must not have "." or ".." between slashes' };
  if (CONTROL.test(playerUniqueId)) return { code: 'INVALID', message: 'must not contain control characters' };
  if (!playerUniqueId.isWellFormed()) return { code: 'INVALID', message: 'must not contain half of a surrogate pair' };
  return undefined;
}

function hasDotPart(id: string, decodings = 2): boolean {
  if (DOT_PART.test(id)) return true;
  return decodings > 0 && hasDotPart(id.replace(ENCODED, decodeURIComponent), decodings - 1);
}
