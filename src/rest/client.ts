import { randomInt } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { Breaker, type BreakerState, RetryBudget } from './breaker.ts';
import type { CallContext, Observer } from './call-context.ts';
import type { Json, Warn } from './decode/members.ts';
import * as endpoints from './endpoints.ts';
import { UpstreamError } from './errors.ts';
import { createRequests, type RequestContent } from './request.ts';
import { type CallInput, send } from './send.ts';
import { createTransport } from './transport.ts';
import * as wire from './wire.ts';

/** Larger responses would block the event loop while they are parsed and decoded. */
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;
const MAX_QUEUED = 10_000;
/** A lint rule forbids `Math.random`, so that nobody uses it for a code or a key. */
const drawRandom = () => randomInt(2 ** 32) / 2 ** 32;

/** The state of the client at this moment. */
export interface Health {
  breaker: BreakerState;
  /** Requests in flight. */
  active: number;
  /** Requests that wait for a connection. */
  queued: number;
}

/** The settings of the REST client, in milliseconds where they are times. */
export interface RestClientOptions extends Omit<Config['rest'], 'baseUrl'> {
  /** The URL of the REST service, without `/api/v3.0`. */
  baseUrl: string;
  observer?: Observer;
  /** The largest response body that is accepted, in bytes. Default 2 MB. */
  maxResponseBytes?: number;
  /** How many requests of one endpoint may wait for a connection. Default 10,000. */
  maxQueued?: number;
  /** A number from 0 up to 1, for jitter. Default: from `node:crypto`. */
  random?: () => number;
  /** The clock of breaker and retry budget, in milliseconds. Default `performance.now`. */
  now?: () => number;
}

/**
 * The REST service, one method per endpoint. A failure is an `UpstreamError`, or a `RangeError` for an id or a language that
 * cannot be sent. The errors of writes have the `outcome` of the write. Nothing is shared between calls or cached.
 */
export interface RestClient {
  /**
   * Null for a player that does not exist. Where the account does not have `lang`, its primary language is used, and then
   * the default language; `context.takeCall` is called before each of these further reads.
   */
  getPlayer(playerUniqueId: string, lang: string | undefined, context: CallContext): Promise<wire.Player | null>;
  listCoupons(playerUniqueId: string, context: CallContext): Promise<wire.Coupon[] | null>;
  listReferrals(
    playerUniqueId: string,
    page: number,
    limit: number,
    context: CallContext,
  ): Promise<wire.ReferralPage | null>;
  upsertPlayer(body: wire.PlayerUpsertRequest, context: CallContext): Promise<wire.PlayerUpsertResponse>;
  deletePlayer(playerUniqueId: string, context: CallContext): Promise<'deleted' | 'unknown'>;
  trackEvents(body: wire.TrackEventsRequest, context: CallContext): Promise<void>;
  health(): Health;
  /** Closes every connection; calls in flight fail. */
  close(): Promise<void>;
}

export function createRestClient(options: RestClientOptions): RestClient {
  const { timeoutMs, connections, serviceIdField, observer = {}, random = drawRandom } = options;
  const { maxResponseBytes = MAX_RESPONSE_BYTES, maxQueued = MAX_QUEUED, now = () => performance.now() } = options;
  const baseUrl = new URL(options.baseUrl);
  const createRequest = createRequests({ ...options, baseUrl });
  const limits = { connections, connectTimeoutMs: timeoutMs, maxResponseBytes, maxQueued };
  const transport = createTransport(baseUrl.origin, limits);
  const breaker = new Breaker(now, (state) => observer.breaker?.(state));
  const client = { transport, breaker, budget: new RetryBudget(now), observer, timeoutMs, connections, random };
  const warn: Warn = (warning, property) => observer.decodeWarning?.(warning, property);

  async function call<Result>(
    endpoint: endpoints.Endpoint,
    context: CallContext,
    content: RequestContent,
    decode: CallInput<Result>['decode'],
  ): Promise<Result> {
    const request = createRequest(endpoint, content, context);
    return await send(client, { endpoint, request, playerUniqueId: content.playerUniqueId, context, decode });
  }

  return {
    getPlayer(playerUniqueId, lang, context) {
      const decode = (body: Json | null) => body && wire.decodePlayer(body, playerUniqueId, warn);
      const read = (tag?: string) => call(endpoints.getPlayer, context, { playerUniqueId, lang: tag }, decode);
      return inLanguage(lang, context, read);
    },
    listCoupons: (playerUniqueId, context) =>
      call(endpoints.listCoupons, context, { playerUniqueId }, (body) => body && wire.decodeCoupons(body, warn)),
    listReferrals(playerUniqueId, page, limit, context) {
      const content = { playerUniqueId, query: `page=${page}&limit=${limit}` };
      return call(endpoints.listReferrals, context, content, (body) => body && wire.decodeReferrals(body, warn));
    },
    upsertPlayer(body, context) {
      const { playerUniqueId } = body;
      return call(endpoints.upsertPlayer, context, { playerUniqueId, body }, (response) =>
        wire.decodeUpsert(response ?? {}, playerUniqueId, serviceIdField, warn),
      );
    },
    // After an attempt that may have been done, "unknown player" means that this attempt deleted the player.
    deletePlayer: (playerUniqueId, context) =>
      call(endpoints.deletePlayer, context, { playerUniqueId }, (response, maybeDone) =>
        response === null && !maybeDone ? 'unknown' : 'deleted',
      ),
    trackEvents: (body, context) =>
      call(endpoints.trackEvents, context, { playerUniqueId: body.playerUniqueId, body }, () => undefined),
    health: () => ({ breaker: breaker.state, ...transport.load() }),
    close: () => transport.close(),
  };
}

/**
 * Reads in the requested language, else in its primary language (`en` of `en-US`), else in the default language. Only the
 * service knows which languages the account has; it rejects others with 400.
 */
async function inLanguage<Result>(
  lang: string | undefined,
  context: CallContext,
  read: (lang: string | undefined) => Promise<Result>,
): Promise<Result> {
  const [primary] = lang?.toLowerCase().split(/[-_]/, 1) ?? [];
  const tags = lang === undefined ? [] : [...new Set([lang, primary === lang.toLowerCase() ? lang : primary])];
  for (const tag of tags) {
    try {
      return await read(tag);
    } catch (error) {
      if (!(error instanceof UpstreamError && error.code === 'UPSTREAM_REJECTED' && error.status === 400)) throw error;
      context.takeCall?.();
    }
  }
  return await read(undefined);
}
