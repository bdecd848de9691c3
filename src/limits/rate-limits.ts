import type { Caller } from '../access/caller.ts';
import type { Config } from '../config/config.ts';
import { ClientError, requestError } from '../graphql/errors.ts';
import type { SharedState } from '../process/redis.ts';
import { clientAddress } from './address.ts';
import { type Buckets, createBuckets, createSharedBuckets, type LocalBuckets, type RateLimit } from './buckets.ts';

interface RateLimitsOptions {
  rates: Config['rates'];
  /** How many processes of this machine share the limits when there is no Redis. */
  workers: number;
  shared: SharedState | undefined;
  newOperations?: NewOperationLimits | undefined;
}

/** Operations that were not seen before, in this process: each takes milliseconds to parse and validate. */
export interface NewOperationLimits {
  player: RateLimit;
  server: RateLimit;
}

const NEW_OPERATIONS: NewOperationLimits = {
  player: { perSecond: 10, burst: 50 },
  server: { perSecond: 200, burst: 1_000 },
};

/** Milliseconds to parse, measure and validate a new operation that are charged as one more new operation. */
const MS_PER_NEW_OPERATION = 5;
/** Bytes of a body that are charged as one more operation. The slowest JSON of this length takes 1 ms to parse. */
const BYTES_PER_OPERATION = 8_192;

/** The number of REST calls that an ordinary operation includes, and the number charged as one more operation. */
const INCLUDED_CALLS = 5;
const CALLS_PER_OPERATION = 5;
/** How long a response is for each further operation that is charged, in characters. */
const RESPONSE_PER_OPERATION = 65_536;

/** The buckets of one kind of callers. */
interface CallerBuckets {
  operations: Buckets;
  couponReads: Buckets;
  newOperations: LocalBuckets;
}

/** The rate limits of a gateway: in Redis if configured, else in memory. In memory, each worker has its part of a limit. */
export class RateLimits {
  readonly #failures: Buckets;
  readonly #players: CallerBuckets;
  readonly #servers: CallerBuckets;

  constructor({ rates, workers, shared, newOperations = NEW_OPERATIONS }: RateLimitsOptions) {
    const buckets = (name: string, limit: RateLimit): Buckets => {
      const local = createBuckets(partOf(limit, workers));
      return shared ? createSharedBuckets({ name, limit, shared, local }) : local;
    };
    this.#failures = buckets('address', rates.failedAuthentications);
    this.#players = {
      operations: buckets('operations', rates.operations),
      couponReads: buckets('coupons', rates.couponReads),
      newOperations: createBuckets(newOperations.player),
    };
    this.#servers = {
      operations: buckets('server-operations', rates.serverOperations),
      couponReads: buckets('server-coupons', rates.serverCouponReads),
      newOperations: createBuckets(newOperations.server),
    };
  }

  /** Throws RATE_LIMITED with HTTP 429 for an address with too many failed authentications. */
  refuseAfterFailures(address: string): void {
    const wait = this.#failures.wait(clientAddress(address));
    if (wait > 0) throw tooMany('Too many operations without a valid token came from this address.', wait);
  }

  /** Counts a failed authentication. */
  async countFailure(address: string): Promise<void> {
    await this.#failures.take(clientAddress(address));
  }

  /** Takes back a failed authentication that was counted before the token turned out to be valid. */
  forgiveFailure(address: string): void {
    this.#failures.debt(clientAddress(address), -1);
  }

  /** Throws RATE_LIMITED with HTTP 429 for a caller whose bucket is empty, as far as this process knows. */
  refuseIfEmpty(caller: Caller): void {
    refuseFor(this.#of(caller).operations.wait(caller.key));
  }

  /** Charges an operation before it runs; throws RATE_LIMITED with HTTP 429 when the caller has too few tokens. */
  charge(caller: Caller, cost: number): void | Promise<void> {
    const wait = this.#of(caller).operations.take(caller.key, cost);
    return typeof wait === 'number' ? refuseFor(wait) : wait.then(refuseFor);
  }

  /** Charges the REST calls and the response of an operation afterwards, as a debt for the next one. */
  settle(caller: Caller, calls: number, responseLength: number): void {
    const forCalls = Math.max(0, Math.ceil((calls - INCLUDED_CALLS) / CALLS_PER_OPERATION));
    const cost = forCalls + Math.floor(responseLength / RESPONSE_PER_OPERATION);
    if (cost > 0) this.#of(caller).operations.debt(caller.key, cost);
  }

  /** Charges an operation whose text was not seen before; throws RATE_LIMITED with HTTP 429. */
  chargeNewOperation(caller: Caller): void {
    const wait = this.#of(caller).newOperations.take(caller.key);
    if (wait > 0) throw tooMany('Too many operations that were not seen before; use variables.', wait);
  }

  /** Charges a slow new operation afterwards, as a debt: overlapping fields make validation quadratic. */
  settleNewOperation(caller: Caller, ms: number): void {
    const cost = Math.floor(ms / MS_PER_NEW_OPERATION);
    if (cost > 0) this.#of(caller).newOperations.debt(caller.key, cost);
  }

  /** Charges a long body before it is parsed; throws RATE_LIMITED with HTTP 429. */
  chargeBody(caller: Caller, bytes: number): void {
    const cost = Math.floor(bytes / BYTES_PER_OPERATION);
    if (cost === 0) return;
    this.refuseIfEmpty(caller);
    this.#of(caller).operations.debt(caller.key, cost);
  }

  /** Takes one read of coupons. Returns 0, or the wait in milliseconds. */
  async takeCouponRead(caller: Caller): Promise<number> {
    return await this.#of(caller).couponReads.take(caller.key);
  }

  /** A caller with the scope `any-player` is a server with many users; any other is one user. */
  #of({ scopes }: Caller): CallerBuckets {
    return scopes.has('any-player') ? this.#servers : this.#players;
  }
}

function partOf({ perSecond, burst }: RateLimit, workers: number): RateLimit {
  return { perSecond: perSecond / workers, burst: Math.max(1, burst / workers) };
}

function refuseFor(waitMs: number): void {
  if (waitMs > 0) throw tooMany('Too many operations in a short time.', waitMs);
}

function tooMany(message: string, retryAfterMs: number): ClientError {
  return requestError('RATE_LIMITED', 429, `${message} Try again later.`, { retryable: true, retryAfterMs });
}

/** The rate limit for reads of coupons. */
export type CouponRates = Pick<RateLimits, 'takeCouponRead'>;

/** The rate limit for the coupon reads of one operation. Each field counts, whatever its alias. */
export class CouponReads {
  readonly #rates: CouponRates;
  readonly #caller: Caller;
  #ahead: Map<string, Promise<number>> | undefined;

  constructor(rates: CouponRates, caller: Caller) {
    this.#rates = rates;
    this.#caller = caller;
  }

  /**
   * Counts a coupon read for a field that is resolved later, once for each player and response key. Returns 0, or the wait in
   * milliseconds.
   */
  takeAhead(playerUniqueId: string, responseKey: string): Promise<number> {
    const key = fieldKey(playerUniqueId, responseKey);
    this.#ahead ??= new Map();
    const wait = this.#ahead.get(key) ?? this.#rates.takeCouponRead(this.#caller);
    this.#ahead.set(key, wait);
    return wait;
  }

  /** Counts a coupon read for a field unless `takeAhead` did. Throws RATE_LIMITED when the limit is reached. */
  async take(playerUniqueId: string, responseKey: string | number): Promise<void> {
    const key = fieldKey(playerUniqueId, responseKey);
    const ahead = this.#ahead?.get(key);
    this.#ahead?.delete(key);
    const retryAfterMs = await (ahead ?? this.#rates.takeCouponRead(this.#caller));
    if (retryAfterMs === 0) return;
    throw new ClientError('RATE_LIMITED', 'Too many reads of coupons in a short time. Try again later.', {
      extensions: { retryable: true, retryAfterMs },
    });
  }
}

/** A response key is a GraphQL name without a space, so the key is unambiguous. */
function fieldKey(playerUniqueId: string, responseKey: string | number): string {
  return `${responseKey} ${playerUniqueId}`;
}
