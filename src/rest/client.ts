import { randomInt } from 'node:crypto';
import packageJson from '../../package.json' with { type: 'json' };
import type { Config } from '../config/config.ts';
import { reveal } from '../config/secret.ts';
import type { Json } from '../json.ts';
import { idProblem } from '../player-id.ts';
import { createBreakers, createRetryBudget } from './breaker.ts';
import type { CallContext, Observer } from './call-context.ts';
import { Connections, createConnector } from './connect.ts';
import { decodeCoupons } from './decode/coupon.ts';
import { checkPlayer, decodePlayer, decodeUpsert } from './decode/player.ts';
import { decodeReferrals } from './decode/referral.ts';
import * as endpoints from './endpoints.ts';
import type { UpstreamRequest } from './exchange.ts';
import { Queue } from './queue.ts';
import { Call, type CallContent, type CallOptions, type PlayerUpsertRequest, type TrackEventsRequest } from './send.ts';

export interface RestClientOptions extends Omit<Config['rest'], 'baseUrl'> {
  /** The URL of the REST service, without `/api/v3.0`. */
  baseUrl: string;
  observer?: Observer;
  /** A number from 0 up to 1, for jitter. */
  random?: () => number;
  /** The clock of breaker and retry budget, in milliseconds. */
  now?: () => number;
}

/**
 * The REST service, one method per endpoint. A failure is an `UpstreamError`, or a `RangeError` for an id that cannot be sent.
 * The errors of writes have the `outcome` of the write. Nothing is shared between calls or cached. A read of a player that
 * does not exist is null.
 */
export type RestClient = ReturnType<typeof createRestClient>;

export function createRestClient(options: RestClientOptions) {
  const { timeoutMs, connections, serviceIdField, observer = {} } = options;
  const { decodeWarning: warn = () => undefined } = observer;
  // A lint rule forbids `Math.random`, so that nobody uses it for a code or a key.
  const { now = () => performance.now(), random = () => randomInt(1_000) / 1_000 } = options;
  const baseUrl = new URL(options.baseUrl);
  const createRequest = createRequests(baseUrl, options);
  const connect = createConnector(baseUrl.origin, options);
  const shared = { createRequest, observer, timeoutMs, random };
  /** A failing endpoint closes no other one, and uses neither its connections nor its retries. */
  const sharedBy = new Map(
    endpoints.ENDPOINTS.map((endpoint) => {
      const breakers = createBreakers(now, (state) => observer.breaker?.(endpoint.name, state));
      const queue = new Queue(endpoint, new Connections(connect), connections);
      return [endpoint, { ...shared, endpoint, queue, breakers, retryBudget: createRetryBudget(now) }];
    }),
  );
  const queues = [...sharedBy.values()].map(({ queue }) => queue);

  const call = <Result>(
    endpoint: endpoints.Endpoint,
    context: CallContext,
    content: CallContent,
    decode: CallOptions<Result>['decode'],
  ) => {
    const own = sharedBy.get(endpoint);
    if (!own) throw new Error(`${endpoint.name} is not in ENDPOINTS.`);
    const checked = (body: Json | null, maybeDone: boolean) => {
      if (body) checkPlayer(body, content.playerUniqueId);
      return decode(body, maybeDone);
    };
    return new Call(own, { content, context, decode: checked }).send();
  };

  return {
    getPlayer(playerUniqueId: string, lang: string | undefined, context: CallContext) {
      const decode = (body: Json | null) => body && decodePlayer(body, playerUniqueId, warn, context.wanted);
      return call(endpoints.getPlayer, context, { playerUniqueId, lang }, decode);
    },
    listCoupons(playerUniqueId: string, context: CallContext) {
      const decode = (body: Json | null) => body && decodeCoupons(body, playerUniqueId, warn, context.wanted);
      return call(endpoints.listCoupons, context, { playerUniqueId }, decode);
    },
    listReferrals(playerUniqueId: string, page: number, limit: number, context: CallContext) {
      const decode = (body: Json | null) => body && decodeReferrals(body, playerUniqueId, warn, context.wanted);
      return call(endpoints.listReferrals, context, { playerUniqueId, query: `page=${page}&limit=${limit}` }, decode);
    },
    upsertPlayer: (body: PlayerUpsertRequest, context: CallContext) =>
      call(endpoints.upsertPlayer, context, { playerUniqueId: body.playerUniqueId, body }, (response) =>
        decodeUpsert(response ?? {}, serviceIdField, warn),
      ),
    // After an attempt that may have been done, "unknown player" means that this attempt deleted the player.
    deletePlayer: (playerUniqueId: string, context: CallContext) =>
      call(endpoints.deletePlayer, context, { playerUniqueId }, (response, maybeDone): 'not-found' | 'deleted' =>
        response === null && !maybeDone ? 'not-found' : 'deleted',
      ),
    trackEvents: (body: TrackEventsRequest, context: CallContext) =>
      call(endpoints.trackEvents, context, { playerUniqueId: body.playerUniqueId, body }, () => undefined),
    /** The state of the breakers by the name of the endpoint, and how many requests are in flight and wait for a connection. */
    health: () => ({
      breakers: new Map([...sharedBy.values()].map(({ endpoint, breakers }) => [endpoint.name, breakers.state()])),
      active: queues.reduce((sum, { active }) => sum + active, 0),
      queued: queues.reduce((sum, { waiting }) => sum + waiting, 0),
    }),
    /** Closes every connection; requests in flight fail. */
    close: () => Promise.all(queues.map((queue) => queue.close())),
  };
}

/** Some firewalls refuse requests that do not say what sends them. */
const USER_AGENT = `referral-gateway/${packageJson.version}`;

/** Creates the requests to one REST service, with the keys. Throws a `RangeError` for an id that cannot be sent. */
function createRequests({ origin, host, pathname }: URL, { apiKey, secretKey, secretKeyOn }: RestClientOptions) {
  const root = `${pathname.replace(/\/+$/, '')}/api/v3.0`;
  // A name that ends with a dot is resolved without search domains. `Host`, and SNI, which undici takes from it, have no such dot
  // (RFC 6066, section 3).
  const name = /\.(?::|$)/.test(host) ? ['host', host.replace(/\.(?=:|$)/, '')] : [];
  const accept = [...name, 'accept', 'application/json', 'accept-encoding', 'identity', 'user-agent', USER_AGENT];
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
