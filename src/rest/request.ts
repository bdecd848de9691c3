import packageJson from '../../package.json' with { type: 'json' };
import type { Config } from '../config/config.ts';
import { reveal } from '../config/secret.ts';
import type { CallContext } from './call-context.ts';
import { type Endpoint, ID_PLACEHOLDER } from './endpoints.ts';
import type { Request } from './transport.ts';

export interface RequestContent {
  /** The player that the call is about: in the path, or in the body of a POST. */
  playerUniqueId: string;
  query?: string;
  lang?: string | undefined;
  body?: unknown;
}

export type RequestOptions = Pick<Config['rest'], 'apiKey' | 'secretKey' | 'secretKeyOn'>;

/** Some firewalls refuse requests that do not say what sends them. */
const USER_AGENT = `referral-gateway/${packageJson.version}`;

/** Creates the requests to one REST service, with the keys. Throws a `RangeError` for an id that cannot be sent. */
export function createRequests({ origin, pathname }: URL, { apiKey, secretKey, secretKeyOn }: RequestOptions) {
  const root = `${pathname.replace(/\/+$/, '')}/api/v3.0`;
  const accept = ['accept', 'application/json', 'accept-encoding', 'identity', 'user-agent', USER_AGENT];
  const withKey = [...accept, 'APIKey', reveal(apiKey)];
  const withBoth = [...withKey, 'secretKey', reveal(secretKey)];

  return (endpoint: Endpoint, content: RequestContent, { requestId, traceHeaders = [] }: CallContext): Request => {
    const { playerUniqueId, query, lang, body } = content;
    const problem = idProblem(playerUniqueId);
    if (problem) throw new RangeError(`A playerUniqueId ${problem.message}.`);
    const path = root + endpoint.template.replace(ID_PLACEHOLDER, encodeURIComponent(playerUniqueId));
    const headers = (endpoint.secret || secretKeyOn === 'all' ? withBoth : withKey).concat(
      lang === undefined ? [] : ['Lang', lang],
      body === undefined ? [] : ['content-type', 'application/json'],
      ['x-request-id', requestId],
      traceHeaders,
    );
    const { method } = endpoint;
    return { origin, method, path: query ? `${path}?${query}` : path, headers, body: JSON.stringify(body) };
  };
}

/** The longest id, in bytes of UTF-8. The interface document sets no bound; the reference service has the same. */
const MAX_ID_BYTES = 1_024;
/** Control characters, and the invisible ones that change the direction of text. */
const CONTROL = /[\p{Cc}\p{Bidi_Control}]/u;
/**
 * A part `.` or `..` between slashes or backslashes, of which each may be percent-encoded, once or twice. A semicolon ends it
 * too: servers of Java drop what follows one (RFC 3986, 3.3) before they resolve dots.
 */
const DOT_PART = /(?:^|[/\\]|%(?:25)?(?:2f|5c))(?:\.|%(?:25)?2e){1,2}(?:$|[/\\;]|%(?:25)?(?:2f|5c|3b))/i;

/**
 * Why a `playerUniqueId` cannot be sent, or undefined when it can: a code of `UserErrorCode`, and the end of a sentence. A part
 * `.` or `..` could address another player, because proxies resolve it, some after they decoded `%2F` once or twice.
 */
export function idProblem(id: string): { code: 'INVALID' | 'REQUIRED' | 'TOO_LONG'; message: string } | undefined {
  if (id.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  const tooLong = `must have at most ${MAX_ID_BYTES} bytes of UTF-8`;
  if (Buffer.byteLength(id) > MAX_ID_BYTES) return { code: 'TOO_LONG', message: tooLong };
  if (DOT_PART.test(id)) return { code: 'INVALID', message: 'must not have "." or ".." between slashes' };
  if (CONTROL.test(id)) return { code: 'INVALID', message: 'must not contain control characters' };
  // UTF-8 cannot encode it.
  if (!id.isWellFormed()) return { code: 'INVALID', message: 'must not contain half of a surrogate pair' };
  return undefined;
}
