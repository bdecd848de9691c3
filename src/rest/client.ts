import type { Secret } from '../config/secret.ts';
import { ReadCache } from './cache.ts';
import type { CallContext } from './call-context.ts';
import { decodeCoupons } from './decode/coupon.ts';
import { decodePlayer } from './decode/player.ts';
import { decodeReferrals } from './decode/referral.ts';
import { getPlayer, listCoupons, listReferrals } from './endpoints.ts';
import type { Health } from './health.ts';
import type { Invalidation } from './invalidation.ts';
import { attempt } from './maybe.ts';
import type { Notice, Observer } from './observe.ts';
import { createRequestMaker } from './request.ts';
import { createResilience } from './resilience.ts';
import { Reads } from './single-flight.ts';
import { createTransport } from './transport.ts';
import type { Coupon, Player, ReferralPage } from './wire.ts';
import { createWrites, type Writes } from './writes.ts';

const MEGABYTE = 1024 * 1024;

export interface RestClientOptions {
  /** Where the REST service is, without `/api/v3.0`. */
  baseUrl: string;
  /** The keys at this moment: asked for with every call, so that a file read anew takes effect at once. */
  apiKey: () => Secret;
  secretKey: () => Secret;
  /** The name `serviceId` has on the wire. Default `serviceId`. */
  serviceIdField?: string;
  /** How long one call may take, its retries included, in milliseconds. Default 3,000. */
  timeoutMs?: number;
  /** How many connections are opened, and so how many requests are on their way, at most. Default 64. */
  connections?: number;
  /** How many calls may wait for a connection; the next one fails at once. Default 1,000. */
  maxQueued?: number;
  /** The largest body accepted, in bytes. Default 8 MB. */
  maxResponseBytes?: number;
  /** How long the breaker lets nothing through before it tries again, in milliseconds. Default 1,000. */
  breakerIntervalMs?: number;
  /** How long reads of players and referrals are kept, in milliseconds. Default 0: not at all. Coupons never are. */
  readCacheTtlMs?: number;
  /** How much is kept at most, in bytes. Default 64 MB. */
  readCacheMaxBytes?: number;
  /** How other processes learn of writes; needed when several of them keep reads. */
  invalidation?: Invalidation | undefined;
  observer?: Observer;
  /** A number from 0 up to 1, for the jitter of waits. Default `Math.random`. */
  random?: () => number;
}

/**
 * The REST service, one method per operation. A failure is an `UpstreamError`, or a `RangeError` for an id that cannot be
 * sent. Answers may be shared with other operations: nobody may change them.
 */
export interface RestClient extends Writes {
  /** Null for a player that does not exist. `lang` goes upstream as it is, and not at all when undefined. */
  getPlayer(playerUniqueId: string, lang: string | undefined, op: CallContext): Promise<Player | null>;
  listCoupons(playerUniqueId: string, op: CallContext): Promise<Coupon[] | null>;
  listReferrals(playerUniqueId: string, page: number, limit: number, op: CallContext): Promise<ReferralPage | null>;
  health(): Health;
  /** Cuts every connection; calls under way fail. */
  close(): Promise<void>;
}

export function createRestClient(options: RestClientOptions): RestClient {
  const { apiKey, secretKey, serviceIdField = 'serviceId', timeoutMs = 3000, connections = 64 } = options;
  const { readCacheTtlMs = 0, readCacheMaxBytes = 64 * MEGABYTE, invalidation, observer = {} } = options;
  const notice: Notice = (oddity, member) => observer.oddity?.(oddity, member);
  const baseUrl = new URL(options.baseUrl);
  const request = createRequestMaker({ baseUrl, apiKey, secretKey });
  const transport = createTransport({
    origin: baseUrl.origin,
    connections,
    connectTimeoutMs: timeoutMs,
    maxResponseBytes: options.maxResponseBytes ?? 8 * MEGABYTE,
  });
  const resilience = createResilience({
    transport,
    observer,
    connections,
    maxQueued: options.maxQueued ?? 1000,
    breakerIntervalMs: options.breakerIntervalMs ?? 1000,
    random: options.random ?? Math.random,
  });

  const cache = { ttlMs: readCacheTtlMs, maxBytes: readCacheMaxBytes / 2 };
  const playerCache = readCacheTtlMs > 0 ? new ReadCache<Player>(cache) : undefined;
  const referralCache = readCacheTtlMs > 0 ? new ReadCache<ReferralPage>(cache) : undefined;
  const common = { resilience, observer, timeoutMs };
  const players = new Reads<Player>({
    ...common,
    endpoint: getPlayer,
    decode: (body, id) => decodePlayer(body, id, notice),
    cache: playerCache,
  });
  const coupons = new Reads<Coupon[]>({
    ...common,
    endpoint: listCoupons,
    decode: (body) => decodeCoupons(body, notice),
  });
  const referrals = new Reads<ReferralPage>({
    ...common,
    endpoint: listReferrals,
    decode: (body) => decodeReferrals(body, notice),
    cache: referralCache,
  });

  /** A write changes its own player, and anyone's coupons and referrals: a friend's order rewards the referrer too. */
  function drop(playerUniqueId: string): void {
    players.drop(playerUniqueId);
    coupons.dropAll();
    referrals.dropAll();
  }

  function keep(yes: boolean): void {
    playerCache?.use(yes);
    referralCache?.use(yes);
  }

  keep(invalidation === undefined);
  invalidation?.subscribe({ written: drop, connected: keep });

  return {
    getPlayer: (playerUniqueId, lang, op) =>
      attempt(() => players.read(request(getPlayer, { playerUniqueId, lang }, op), playerUniqueId, op)),
    listCoupons: (playerUniqueId, op) =>
      attempt(() => coupons.read(request(listCoupons, { playerUniqueId }, op), playerUniqueId, op)),
    listReferrals: (playerUniqueId, page, limit, op) =>
      attempt(() => {
        const query = `page=${page}&limit=${limit}`;
        return referrals.read(request(listReferrals, { playerUniqueId, query }, op), playerUniqueId, op);
      }),
    ...createWrites({
      ...common,
      request,
      notice,
      serviceIdField,
      sending: drop,
      written(playerUniqueId) {
        drop(playerUniqueId);
        invalidation?.publish(playerUniqueId);
      },
    }),
    health: () => resilience.health(),
    async close() {
      await Promise.all([transport.close(), invalidation?.close()]);
    },
  };
}
