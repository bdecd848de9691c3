import type { Config } from '../config/config.ts';
import { type Invalidation, ReadCache } from './cache.ts';
import type { CallContext } from './call-context.ts';
import { decodeCoupons } from './decode/coupon.ts';
import type { Warn } from './decode/members.ts';
import { decodePlayer } from './decode/player.ts';
import { decodeReferrals } from './decode/referral.ts';
import { getPlayer, listCoupons, listReferrals } from './endpoints.ts';
import { Languages } from './language.ts';
import type { Health, Observer } from './observer.ts';
import { Reads, type ReadsOptions } from './reads.ts';
import { createRequests } from './request.ts';
import { Resilience } from './resilience.ts';
import { createTransport } from './transport.ts';
import type { Coupon, Player, ReferralPage } from './wire.ts';
import { createWrites, type Writes } from './writes.ts';

const MEGABYTE = 1024 * 1024;
/** The size of each of the two caches, of players and of referrals. */
const CACHE_BYTES = 32 * MEGABYTE;

/**
 * The settings of the REST client, in milliseconds where they are times. A change of a key takes effect with the next
 * request.
 */
export interface RestClientOptions extends Omit<Config['rest'], 'baseUrl'> {
  /** The URL of the REST service, without `/api/v3.0`. */
  baseUrl: string;
  /** Sends writes to other processes; needed when several processes cache reads. */
  invalidation?: Invalidation | undefined;
  observer?: Observer;
  /** The largest response body that is accepted, in bytes. Default 8 MB. */
  maxResponseBytes?: number;
  /** How often an open breaker lets a trial call through, in milliseconds. Default 1,000. */
  breakerIntervalMs?: number;
  /** A number from 0 up to 1, for jitter. Default `Math.random`. */
  random?: () => number;
}

/**
 * The REST service, one method per endpoint. A failure is an `UpstreamError`, or a `RangeError` for an id or a language that
 * cannot be sent. Results may be shared with other operations: they must not be changed.
 */
export interface RestClient extends Writes {
  /**
   * Null for a player that does not exist. Where the account does not have `lang`, its primary language is used, and then
   * the default language; `context.takeCall` is called before each of these further reads.
   */
  getPlayer(playerUniqueId: string, lang: string | undefined, context: CallContext): Promise<Player | null>;
  listCoupons(playerUniqueId: string, context: CallContext): Promise<Coupon[] | null>;
  listReferrals(
    playerUniqueId: string,
    page: number,
    limit: number,
    context: CallContext,
  ): Promise<ReferralPage | null>;
  health(): Health;
  /** Closes every connection; calls in flight fail. */
  close(): Promise<void>;
}

export function createRestClient(options: RestClientOptions): RestClient {
  const { timeoutMs, connections, queueMs, serviceIdField, observer = {}, invalidation } = options;
  const { maxResponseBytes = 8 * MEGABYTE, breakerIntervalMs = 1_000, random = Math.random } = options;
  const baseUrl = new URL(options.baseUrl);
  const { origin } = baseUrl;
  const createRequest = createRequests({ ...options, baseUrl });
  const transport = createTransport({ origin, connections, connectTimeoutMs: timeoutMs, maxResponseBytes });
  const resilience = new Resilience({ transport, observer, connections, queueMs, breakerIntervalMs, random });
  const warn: Warn = (warning, member) => observer.decodeWarning?.(warning, member);
  const common = { createRequest, resilience, observer, timeoutMs };
  const reads = createReads(options, common, warn);
  const languages = new Languages();
  invalidation?.subscribe({ written: reads.invalidate, connected: reads.enableCache });

  return {
    getPlayer(playerUniqueId, lang, context) {
      const read = (tag: string | undefined) => reads.players.read({ playerUniqueId, lang: tag }, context);
      return lang === undefined ? read(undefined) : languages.read(lang, context, read);
    },
    listCoupons: (playerUniqueId, context) =>
      reads.coupons.read({ playerUniqueId, couponMembers: context.couponMembers }, context),
    listReferrals: (playerUniqueId, page, limit, context) =>
      reads.referrals.read({ playerUniqueId, query: `page=${page}&limit=${limit}` }, context),
    ...createWrites({
      ...common,
      warn,
      serviceIdField,
      onSend: reads.invalidate,
      onWritten(playerUniqueId) {
        reads.invalidate(playerUniqueId);
        invalidation?.publish(playerUniqueId);
      },
    }),
    health: () => resilience.health(),
    async close() {
      await Promise.all([transport.close(), invalidation?.close()]);
    },
  };
}

/** The three reads with their caches. */
function createReads(
  { readCacheTtlMs: ttlMs, invalidation }: RestClientOptions,
  common: Pick<ReadsOptions<unknown>, 'createRequest' | 'resilience' | 'observer' | 'timeoutMs'>,
  warn: Warn,
) {
  const cache = { ttlMs, maxBytes: CACHE_BYTES };
  const playerCache = ttlMs > 0 ? new ReadCache<Player>(cache) : undefined;
  const referralCache = ttlMs > 0 ? new ReadCache<ReferralPage>(cache) : undefined;
  const players = new Reads<Player>({
    ...common,
    endpoint: getPlayer,
    decode: (body, id) => decodePlayer(body, id, warn),
    cache: playerCache,
  });
  const coupons = new Reads<Coupon[]>({
    ...common,
    endpoint: listCoupons,
    decode: (body, _id, { couponMembers }) => decodeCoupons(body, warn, couponMembers),
  });
  const referrals = new Reads<ReferralPage>({
    ...common,
    endpoint: listReferrals,
    decode: (body) => decodeReferrals(body, warn),
    cache: referralCache,
  });

  function enableCache(enabled: boolean): void {
    playerCache?.enable(enabled);
    referralCache?.enable(enabled);
  }
  // Nothing is cached until writes of other processes are received.
  enableCache(invalidation === undefined);

  /** A write changes its own player, and coupons and referrals of any player: a friend's order rewards the referrer too. */
  function invalidate(playerUniqueId: string): void {
    players.invalidate(playerUniqueId);
    coupons.invalidateAll();
    referrals.invalidateAll();
  }

  return { players, coupons, referrals, enableCache, invalidate };
}
