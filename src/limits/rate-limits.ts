import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Caller } from '../access/caller.ts';
import type { Config } from '../config/config.ts';
import { ClientError, requestError } from '../errors.ts';
import { AddressKeys } from './address.ts';

/** `burst` points in each window of ⌈burst / perSecond⌉ seconds. A window begins with the first point. */
export interface RateLimit {
  perSecond: number;
  burst: number;
}

/** Documents that this process did not parse before: each takes milliseconds to parse and validate. */
export interface NewDocumentLimits {
  player: RateLimit;
  server: RateLimit;
}

const NEW_DOCUMENTS: NewDocumentLimits = {
  player: { perSecond: 10, burst: 50 },
  server: { perSecond: 200, burst: 1_000 },
};

/** How many addresses without a valid token are known to be over their limit. */
const MAX_BLOCKED = 50_000;

interface RateLimitsOptions {
  rates: Config['rates'];
  /** Shared by replicas. While it does not answer, each process counts for itself. */
  redis: Redis | undefined;
  newDocuments?: NewDocumentLimits | undefined;
}

/** New idempotency keys. A key that was not used in the end is given back. */
const KEYS: NewDocumentLimits = {
  player: { perSecond: 1_000 / 86_400, burst: 1_000 },
  server: { perSecond: 100_000 / 86_400, burst: 100_000 },
};

interface Limit {
  consume(key: string, points?: number): Promise<RateLimiterRes>;
  /** Gives one point back. */
  reward(key: string): Promise<unknown>;
}

/** The limits of one kind of callers. */
interface CallerLimits {
  operations: Limit;
  couponReads: Limit;
  newDocuments: Limit;
  idempotencyKeys: Limit;
}

/** The rate limits of a gateway. Nothing here is HTTP: each method rejects with the error that the client gets. */
export class RateLimits {
  readonly #failures: Limit;
  readonly #addresses: AddressKeys;
  readonly #blocked = new LRUCache<string, true>({ max: MAX_BLOCKED, ttl: 1 });
  readonly #players: CallerLimits;
  readonly #servers: CallerLimits;

  constructor({ rates, redis, newDocuments = NEW_DOCUMENTS }: RateLimitsOptions) {
    const shared = (name: string, limit: RateLimit) => createLimit(name, limit, redis);
    const local = (limit: RateLimit) => createLimit('documents', limit, undefined);
    this.#failures = shared('failures', rates.failedAuthentications);
    this.#addresses = new AddressKeys(1_000 * windowOf(rates.failedAuthentications));
    this.#players = {
      operations: shared('operations', rates.operations),
      couponReads: shared('coupons', rates.couponReads),
      newDocuments: local(newDocuments.player),
      idempotencyKeys: shared('keys', KEYS.player),
    };
    this.#servers = {
      operations: shared('server-operations', rates.serverOperations),
      couponReads: shared('server-coupons', rates.serverCouponReads),
      newDocuments: local(newDocuments.server),
      idempotencyKeys: shared('server-keys', KEYS.server),
    };
  }

  /** Throws RATE_LIMITED with HTTP 429 for an address with too many failed authentications, as far as this process knows. */
  refuseAfterFailures(address: string): void {
    const key = this.#addresses.keyOf(address);
    if (this.#blocked.has(key)) throw tooManyFailures(this.#blocked.getRemainingTTL(key));
  }

  /** Counts a failed authentication. Rejects with RATE_LIMITED and HTTP 429 over the limit. */
  async countFailure(address: string): Promise<void> {
    const key = this.#addresses.keyOf(address);
    const block = (ms: number) => this.#blocked.set(key, true, { ttl: Math.max(1, ms) });
    const { remainingPoints, msBeforeNext } = await orThrow(this.#failures.consume(key), (wait) => {
      block(wait);
      return tooManyFailures(wait);
    });
    if (remainingPoints === 0) block(msBeforeNext);
  }

  /** Takes back a failed authentication that was counted before the token turned out to be valid. Never rejects. */
  forgiveFailure(address: string): void {
    const key = this.#addresses.keyOf(address);
    this.#blocked.delete(key);
    this.#failures.reward(key).catch(() => undefined);
  }

  /** Consumes the cost of an operation, once, before it is executed. Rejects with RATE_LIMITED and HTTP 429. */
  async consumeOperation(caller: Caller, cost: number): Promise<void> {
    await orThrow(this.#of(caller).operations.consume(caller.key, cost), (wait) =>
      tooMany('Too many operations in a short time.', wait),
    );
  }

  /** Consumes one new document, before it is parsed. Rejects with RATE_LIMITED and HTTP 429. */
  async consumeNewDocument(caller: Caller): Promise<void> {
    await orThrow(this.#of(caller).newDocuments.consume(caller.key), (wait) =>
      tooMany('Too many operations that were not seen before; use variables.', wait),
    );
  }

  /** Consumes the coupon reads of one batch together. Rejects with RATE_LIMITED, for the fields of this batch. */
  async consumeCouponReads(caller: Caller, reads: number): Promise<void> {
    await orThrow(this.#of(caller).couponReads.consume(caller.key, reads), (wait) =>
      fieldError('Too many reads of coupons in a short time.', wait),
    );
  }

  /** Consumes one new idempotency key of 1,000 in 24 hours (servers: 100,000). Rejects with RATE_LIMITED, for the field. */
  async consumeIdempotencyKey(caller: Caller): Promise<void> {
    await orThrow(this.#of(caller).idempotencyKeys.consume(caller.key), (wait) =>
      fieldError('Too many idempotency keys in 24 hours.', wait),
    );
  }

  /** Gives a key back with which nothing was done. Never rejects. */
  async returnIdempotencyKey(caller: Caller): Promise<void> {
    await this.#of(caller)
      .idempotencyKeys.reward(caller.key)
      .catch(() => undefined);
  }

  /** A caller with the scope `any-player` is a server with many users; any other is one user. */
  #of({ scopes }: Caller): CallerLimits {
    return scopes.has('any-player') ? this.#servers : this.#players;
  }
}

function windowOf({ perSecond, burst }: RateLimit): number {
  return Math.ceil(burst / perSecond);
}

/** A limit that consumes at most its burst at once, so that no single operation is impossible. */
function createLimit(name: string, limit: RateLimit, redis: Redis | undefined): Limit {
  const options = { points: Math.floor(limit.burst), duration: windowOf(limit), keyPrefix: `rate:${name}` };
  const memory = new RateLimiterMemory(options);
  const limiter: RateLimiterAbstract = redis
    ? new RateLimiterRedis({
        ...options,
        storeClient: redis,
        rejectIfRedisNotReady: true,
        insuranceLimiter: memory,
        // A caller over its limit costs no call to Redis until its window ends.
        inMemoryBlockOnConsumed: options.points + 1,
      })
    : memory;
  const keyOf = redis ? hashOf : (key: string) => key;
  return {
    consume: (key, points = 1) => limiter.consume(keyOf(key), Math.min(points, options.points)),
    reward: (key) => limiter.reward(keyOf(key)),
  };
}

/** Names of callers can be personal data, and addresses are, so keys in Redis contain a hash. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 22);
}

/** The limiter rejects with its result when too few points are left; everything else is a failure of ours. */
async function orThrow(consumed: Promise<RateLimiterRes>, error: (waitMs: number) => ClientError) {
  try {
    return await consumed;
  } catch (result) {
    throw result instanceof RateLimiterRes ? error(Math.max(1, result.msBeforeNext)) : result;
  }
}

function tooManyFailures(waitMs: number): ClientError {
  return tooMany('Too many operations without a valid token came from this address.', waitMs);
}

function fieldError(message: string, retryAfterMs: number): ClientError {
  return new ClientError('RATE_LIMITED', `${message} Try again later.`, {
    extensions: { retryable: true, retryAfterMs },
  });
}

function tooMany(message: string, retryAfterMs: number): ClientError {
  return requestError('RATE_LIMITED', 429, `${message} Try again later.`, { retryable: true, retryAfterMs });
}
