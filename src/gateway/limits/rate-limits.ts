import { HeaderMap } from '@apollo/server';
import type { SharedState } from '../../process/redis.ts';
import { after, attempt, type Maybe } from '../../rest/maybe.ts';
import type { Caller } from '../access/caller.ts';
import { ClientError } from '../graphql/errors.ts';
import { clientOf } from './address.ts';
import { type Buckets, createBuckets, type Limit } from './buckets.ts';
import { createSharedBuckets } from './shared-buckets.ts';

/**
 * How often callers may ask. Somebody with the scope `any-player` is a server that stands for many people; everybody else
 * is a person with an app.
 */
export interface RateConfig {
  operations: Limit;
  couponReads: Limit;
  serverOperations: Limit;
  serverCouponReads: Limit;
  /** By address: operations without a valid token. Those with one do not count, so that many may share an address. */
  failedAuthentications: Limit;
}

export interface RateLimits {
  /**
   * Runs an authentication from an address, unless too many from there have failed: then whether this one would succeed is
   * not found out. Throws RATE_LIMITED, or what the authentication throws.
   */
  guard(address: string, authenticate: () => Maybe<Caller>): Maybe<Caller>;
  /** Counts an operation; throws RATE_LIMITED with HTTP 429 when the caller has had too many. */
  countOperation(caller: Caller): Maybe<void>;
  /** Takes one read of coupons. Answers 0 when it may be had, else in how many milliseconds. */
  takeCouponRead(caller: Caller): Maybe<number>;
}

interface RateLimitsOptions {
  rates: RateConfig;
  /** How many processes on this machine share the limits when nothing is shared through Redis. */
  workers: number;
  shared: SharedState | undefined;
}

/** The limits of a gateway: in Redis where there is one, else in memory, where each worker has its part of them. */
export function createRateLimits({ rates, workers, shared }: RateLimitsOptions): RateLimits {
  const failures = buckets('address', rates.failedAuthentications);
  const operations = buckets('operations', rates.operations);
  const serverOperations = buckets('server-operations', rates.serverOperations);
  const couponReads = buckets('coupons', rates.couponReads);
  const serverCouponReads = buckets('server-coupons', rates.serverCouponReads);

  return {
    guard(address, authenticate) {
      const client = clientOf(address);
      const wait = failures.wait(client);
      if (wait > 0) throw operationRefused(wait, 'Too many operations without a valid token came from this address.');
      const caller = attempt(authenticate);
      return caller instanceof Promise ? caller.catch((error) => failed(client, error)) : caller;
    },
    countOperation(caller) {
      return after((isServer(caller) ? serverOperations : operations).take(keyOf(caller)), refuseFor);
    },
    takeCouponRead: (caller) => (isServer(caller) ? serverCouponReads : couponReads).take(keyOf(caller)),
  };

  async function failed(client: string, error: unknown): Promise<never> {
    if (error instanceof ClientError && error.code === 'UNAUTHENTICATED') await failures.take(client);
    throw error;
  }

  function buckets(name: string, limit: Limit): Buckets {
    if (!shared) return createBuckets(partOf(limit, workers));
    return createSharedBuckets({ name, limit, shared, local: createBuckets(partOf(limit, workers)) });
  }
}

function partOf({ perSecond, burst }: Limit, workers: number): Limit {
  return { perSecond: perSecond / workers, burst: Math.max(1, burst / workers) };
}

function isServer({ scopes }: Caller): boolean {
  return scopes.has('any-player');
}

/** A player and a client may have the same name; they are still two. */
function keyOf({ sub, name }: Caller): string {
  return sub === undefined ? `client:${name}` : `player:${name}`;
}

function refuseFor(waitMs: number): void {
  if (waitMs > 0) throw operationRefused(waitMs, 'Too many operations in a short time.');
}

function operationRefused(retryAfterMs: number, sentence: string): ClientError {
  const headers = new HeaderMap([['retry-after', String(Math.ceil(retryAfterMs / 1_000))]]);
  return new ClientError('RATE_LIMITED', `${sentence} Try again later.`, {
    extensions: { retryAfterMs, http: { status: 429, headers } },
  });
}
