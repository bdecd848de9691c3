import { randomInt } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { reveal } from '../config/secret.ts';
import { USER_AGENT } from '../egress-proxy.ts';
import type { Json } from '../json.ts';
import { idProblem } from '../player-id.ts';
import { createBreakers } from './breaker.ts';
import type { CallContext, Observer } from './call-context.ts';
import { createConnections, createPoolOpener } from './connect.ts';
import { decodeCoupons } from './decode/coupon.ts';
import { checkPlayer, decodePlayer } from './decode/player.ts';
import { identifier, type Wanted, type Warn } from './decode/properties.ts';
import { decodeReferrals } from './decode/referral.ts';
import * as endpoints from './endpoints.ts';
import type { UpstreamRequest } from './exchange.ts';
import { Queue } from './queue.ts';
import { Call, type CallContent, type EndpointState } from './send.ts';

export interface RestClientOptions extends Omit<Config['rest'], 'baseUrl'> {
  /** The URL of the REST service, without `/api/v3.0`. */
  baseUrl: string;
  observer?: Observer;
  /** A number from 0 up to 1, for jitter. */
  random?: () => number;
  /** The clock of breaker and retry budget, in milliseconds. */
  now?: () => number;
}

type DecodeBody<Result> = (body: Json, playerUniqueId: string, warn: Warn, wanted: Wanted) => Result;

/**
 * The REST service, one method per endpoint. A failure is an `UpstreamError`, or a `RangeError` for an id that cannot be sent.
 * The errors of writes have the `outcome` of the write. Nothing is shared between calls or cached. The result is null when the
 * player does not exist.
 */
export type RestClient = ReturnType<typeof createRestClient>;

export function createRestClient(options: RestClientOptions) {
  const { timeoutMs, serviceIdField, observer = {} } = options;
  const { decodeWarning: warn = () => undefined } = observer;
  // A lint rule forbids `Math.random`, so that nobody uses it for a code or a key.
  const { now = () => performance.now(), random = () => randomInt(1_000) / 1_000 } = options;
  const baseUrl = new URL(options.baseUrl);
  const openPool = createPoolOpener(baseUrl.origin, options);
  const common = { createRequest: createRequestFactory(baseUrl, options), observer, timeoutMs, random };
  const states: EndpointState[] = [];

  /** What calls one endpoint. A failing endpoint stops no other one, and uses neither its connections nor its retries. */
  function callTo<Result>(endpoint: endpoints.Endpoint, decode: DecodeBody<Result>) {
    const breakers = createBreakers(now, (state) => observer.breaker?.(endpoint.name, state));
    const connections = createConnections(openPool, options.maxAgeMs);
    const state = { ...common, endpoint, breakers, queue: new Queue(options.connections), connections };
    states.push(state);
    return (content: CallContent, callContext: CallContext) => {
      const { playerUniqueId } = content;
      const decodeChecked = (body: Json) =>
        decode(checkPlayer(body, playerUniqueId), playerUniqueId, warn, callContext.wanted);
      return new Call(state, content, callContext, decodeChecked).send();
    };
  }

  const getPlayer = callTo(endpoints.getPlayer, decodePlayer);
  const listCoupons = callTo(endpoints.listCoupons, decodeCoupons);
  const listReferrals = callTo(endpoints.listReferrals, decodeReferrals);
  const upsertPlayer = callTo(endpoints.upsertPlayer, (body) => ({
    serviceId: identifier(body[serviceIdField], 'upsert.serviceId', warn),
  }));
  const deletePlayer = callTo(endpoints.deletePlayer, () => 'deleted' as const);
  const trackEvents = callTo(endpoints.trackEvents, () => undefined);

  return {
    getPlayer: (playerUniqueId: string, lang: string | undefined, callContext: CallContext) =>
      getPlayer({ playerUniqueId, lang }, callContext),
    listCoupons: (playerUniqueId: string, callContext: CallContext) => listCoupons({ playerUniqueId }, callContext),
    listReferrals: (playerUniqueId: string, page: number, limit: number, callContext: CallContext) =>
      listReferrals({ playerUniqueId, query: `page=${page}&limit=${limit}` }, callContext),
    upsertPlayer: (body: endpoints.PlayerUpsertRequest, callContext: CallContext) =>
      upsertPlayer({ playerUniqueId: body.playerUniqueId, body }, callContext),
    deletePlayer: (playerUniqueId: string, callContext: CallContext) => deletePlayer({ playerUniqueId }, callContext),
    trackEvents: (body: endpoints.TrackEventsRequest, callContext: CallContext) =>
      trackEvents({ playerUniqueId: body.playerUniqueId, body }, callContext),
    /** The state of the breakers by the name of the endpoint, and how many requests have a connection or open one, and how many wait. */
    health: () => ({
      breakers: new Map(states.map(({ endpoint, breakers }) => [endpoint.name, breakers.state()])),
      active: states.reduce((sum, { queue }) => sum + queue.leasedCount, 0),
      queued: states.reduce((sum, { queue }) => sum + queue.pendingCount, 0),
    }),
    /** Closes every connection; requests in flight fail. */
    close: () => Promise.all(states.map(({ connections }) => connections.destroy())),
  };
}

/** Returns what creates the requests to one REST service, with the API keys. Throws a `RangeError` for an id that cannot be sent. */
function createRequestFactory({ origin, host, pathname }: URL, { apiKey, secretKey, secretKeyOn }: RestClientOptions) {
  const root = `${pathname.replace(/\/+$/, '')}/api/v3.0`;
  // A name that ends with a dot is resolved without search domains. `Host`, and SNI, which undici takes from it, have no such dot
  // (RFC 6066, section 3).
  const name = /\.(?::|$)/.test(host) ? ['host', host.replace(/\.(?=:|$)/, '')] : [];
  const accept = [...name, 'accept', 'application/json', 'accept-encoding', 'identity', 'user-agent', USER_AGENT];
  // A cache on the way, such as that of an egress proxy, would answer reads with what was before a write.
  accept.push('cache-control', 'no-cache');
  const withKey = [...accept, 'APIKey', reveal(apiKey)];
  const withBoth = [...withKey, 'secretKey', reveal(secretKey)];

  return (
    endpoint: endpoints.Endpoint,
    content: CallContent,
    { requestId, traceHeaders = [] }: CallContext,
  ): UpstreamRequest => {
    const { playerUniqueId, query, lang, body } = content;
    const problem = idProblem(playerUniqueId);
    if (problem) throw new RangeError(`A playerUniqueId ${problem.message}.`);
    const path = root + endpoint.template.replace(endpoints.ID_PLACEHOLDER, encodeURIComponent(playerUniqueId));
    const headers = [...(endpoint.secret || secretKeyOn === 'all' ? withBoth : withKey), 'x-request-id', requestId];
    if (lang !== undefined) headers.push('Lang', lang);
    if (body !== undefined) headers.push('content-type', 'application/json');
    // The last ones: telemetry/tracing.ts finds its header from the end.
    headers.push(...traceHeaders);
    const { method } = endpoint;
    return { origin, method, path: query ? `${path}?${query}` : path, headers, body: JSON.stringify(body) };
  };
}
