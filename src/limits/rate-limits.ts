import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../config/config.ts';
import { ClientError, requestError } from '../errors.ts';
import { AddressKeys } from './address.ts';

/** `burst` points in each window of ⌈burst / perSecond⌉ seconds. A window begins with the first point. */
interface RateLimit {
  perSecond: number;
  burst: number;
}

/** The error over each limit: HTTP 429 for a whole request, or the error of a field. */
const ERRORS = {
  failures: refused('Too many operations without a valid token came from this address.'),
  operations: refused('Too many operations in a short time.'),
  /** Documents that this process did not parse before: each takes milliseconds to parse and validate. */
  newDocuments: refused('Too many operations that were not seen before; use variables.'),
  couponReads: fieldError('Too many reads of coupons in a short time.'),
  idempotencyKeys: fieldError('Too many idempotency keys in 24 hours.'),
};

/** What is limited for each caller. */
type Kind = Exclude<keyof typeof ERRORS, 'failures'>;

const DAY = 86_400;

/** A caller with the scope `any-player` is a server with many users, any other is one user. */
interface Consumer {
  key: string;
  scopes: ReadonlySet<string>;
}

/** The rate limits of a gateway. */
export class RateLimits {
  readonly #failures: Limit;
  readonly #addresses: AddressKeys;
  readonly #players: Record<Kind, Limit>;
  readonly #servers: Record<Kind, Limit>;

  /** @param redis Shared by replicas. While it does not answer, each process counts for itself. */
  constructor(rates: Config['rates'], redis: Redis | undefined) {
    this.#failures = new Limit('failures', rates.failedAuthentications, redis);
    this.#addresses = new AddressKeys(1_000 * windowOf(rates.failedAuthentications));
    const limitsOf = (
      prefix: string,
      operations: RateLimit,
      couponReads: RateLimit,
      documents: number,
      keys: number,
    ) => ({
      operations: new Limit(`${prefix}operations`, operations, redis),
      couponReads: new Limit(`${prefix}coupons`, couponReads, redis),
      newDocuments: new Limit('documents', { perSecond: documents, burst: 5 * documents }, undefined),
      idempotencyKeys: new Limit(`${prefix}keys`, { perSecond: keys / DAY, burst: keys }, redis),
    });
    this.#players = limitsOf('', rates.operations, rates.couponReads, 10, 1_000);
    this.#servers = limitsOf('server-', rates.serverOperations, rates.serverCouponReads, 200, 100_000);
  }

  /** Consumes points of a caller's limit. Over it, rejects with RATE_LIMITED as the client gets it. */
  consume(kind: Kind, caller: Consumer, points = 1): Promise<void> {
    return this.#limitOf(kind, caller).consume(caller.key, points, ERRORS[kind]);
  }

  /** Gives one point back. Never rejects. */
  giveBack(kind: Kind, caller: Consumer): Promise<void> {
    return this.#limitOf(kind, caller).giveBack(caller.key);
  }

  /** Counts a failed authentication. Over the limit of the address, rejects with RATE_LIMITED and HTTP 429. */
  countFailure(address: string): Promise<void> {
    return this.#failures.consume(this.#addresses.keyOf(address), 1, ERRORS.failures);
  }

  /** Takes back a failed authentication that was counted before the token turned out to be valid. Never rejects. */
  forgiveFailure(address: string): void {
    void this.#failures.giveBack(this.#addresses.keyOf(address));
  }

  #limitOf(kind: Kind, { scopes }: Consumer): Limit {
    return (scopes.has('any-player') ? this.#servers : this.#players)[kind];
  }
}

function windowOf({ perSecond, burst }: RateLimit): number {
  return Math.ceil(burst / perSecond);
}

/** A limit that consumes at most its burst at once, so that no single operation is impossible. */
class Limit {
  readonly #limiter: RateLimiterMemory | RateLimiterRedis;
  readonly #keyOf: (key: string) => string;

  constructor(name: string, limit: RateLimit, redis: Redis | undefined) {
    const options = { points: Math.floor(limit.burst), duration: windowOf(limit), keyPrefix: `rate:${name}` };
    const insuranceLimiter = new RateLimiterMemory(options);
    // A caller over its limit costs no call to Redis until its window ends.
    const shared = { rejectIfRedisNotReady: true, insuranceLimiter, inMemoryBlockOnConsumed: options.points + 1 };
    this.#limiter = redis ? new RateLimiterRedis({ ...options, ...shared, storeClient: redis }) : insuranceLimiter;
    this.#keyOf = redis ? hashOf : (key) => key;
  }

  consume(key: string, points: number, error: (waitMs: number) => ClientError): Promise<void> {
    return this.#limiter.consume(this.#keyOf(key), Math.min(points, this.#limiter.points)).then(ignore, (result) => {
      // The limiter rejects with its result when too few points are left; everything else is a failure of ours.
      throw result instanceof RateLimiterRes ? error(Math.max(1, result.msBeforeNext)) : result;
    });
  }

  giveBack(key: string): Promise<void> {
    return this.#limiter.reward(this.#keyOf(key)).then(ignore, ignore);
  }
}

function ignore(): void {}

/** Names of callers can be personal data, and addresses are, so keys in Redis contain a hash. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 22);
}

function refused(message: string): (retryAfterMs: number) => ClientError {
  return (retryAfterMs) =>
    requestError('RATE_LIMITED', 429, `${message} Try again later.`, { retryable: true, retryAfterMs });
}

function fieldError(message: string): (retryAfterMs: number) => ClientError {
  return (retryAfterMs) =>
    new ClientError('RATE_LIMITED', `${message} Try again later.`, { extensions: { retryable: true, retryAfterMs } });
}
