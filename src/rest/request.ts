import packageJson from '../../package.json' with { type: 'json' };
import type { Config } from '../config/config.ts';
import { reveal } from '../config/secret.ts';
import type { components } from '../generated/rest.ts';
import { idProblem } from '../player-id.ts';
import type { CallContext } from './call-context.ts';
import { type Endpoint, ID_PLACEHOLDER } from './endpoints.ts';
import type { UpstreamRequest } from './exchange.ts';

export type PlayerUpsertRequest = components['schemas']['PlayerUpsertRequest'];
export type TrackEventsRequest = components['schemas']['TrackEventsRequest'];

export interface CallContent {
  /** The player that the call is about: in the path, or in the body of a POST. */
  playerUniqueId: string;
  query?: string;
  lang?: string | undefined;
  body?: PlayerUpsertRequest | TrackEventsRequest;
}

export type RequestOptions = Pick<Config['rest'], 'apiKey' | 'secretKey' | 'secretKeyOn'>;

/** Some firewalls refuse requests that do not say what sends them. */
const USER_AGENT = `referral-gateway/${packageJson.version}`;

/** Creates the requests to one REST service, with the keys. Throws a `RangeError` for an id that cannot be sent. */
export function createRequests({ origin, host, pathname }: URL, { apiKey, secretKey, secretKeyOn }: RequestOptions) {
  const root = `${pathname.replace(/\/+$/, '')}/api/v3.0`;
  // A name that ends with a dot is resolved without search domains. `Host`, and SNI, which undici takes from it, have no such dot
  // (RFC 6066, section 3).
  const name = /\.(?::|$)/.test(host) ? ['host', host.replace(/\.(?=:|$)/, '')] : [];
  const accept = [...name, 'accept', 'application/json', 'accept-encoding', 'identity', 'user-agent', USER_AGENT];
  const withKey = [...accept, 'APIKey', reveal(apiKey)];
  const withBoth = [...withKey, 'secretKey', reveal(secretKey)];

  return (endpoint: Endpoint, content: CallContent, { requestId, traceHeaders = [] }: CallContext): UpstreamRequest => {
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
