import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { SharedState } from '../process/redis.ts';

/** How many tokens one caller may spend: per second on average, and at once after a pause. */
export interface RateLimit {
  perSecond: number;
  burst: number;
}

/** Buckets of tokens by key; each refills at the limit's rate. */
export interface Buckets {
  /**
   * Takes `cost` tokens (at most `burst`) and returns 0, or takes nothing and returns the wait in milliseconds.
   */
  take(key: string, cost?: number): number | Promise<number>;
  /** Takes `cost` tokens for work that is done already. This may make the bucket negative; the next `take` then waits. */
  debt(key: string, cost: number): void;
  /** What `take` of one token would return, as far as this process knows; takes nothing. */
  wait(key: string): number;
}

interface Bucket {
  fullAt: number;
}

/** Tolerance for rounding, in milliseconds. */
const ROUNDING_MS = 0.001;

/**
 * Buckets in the memory of this process. A bucket is one number, the time at which it will be full again (the generic cell
 * rate algorithm): no timer refills it, and a full bucket needs no memory.
 */
export function createBuckets({ perSecond, burst }: RateLimit, now: () => number = performance.now.bind(performance)) {
  const msPerToken = 1_000 / perSecond;
  const capacityMs = burst * msPerToken;
  const buckets = createCallerCache<Bucket>();

  const fullAt = (key: string, at: number) => Math.max(buckets.get(key)?.fullAt ?? at, at);
  const waitUntil = (full: number, at: number) => {
    const excess = full - at - capacityMs;
    return excess > ROUNDING_MS ? Math.ceil(excess) : 0;
  };
  function set(key: string, full: number): void {
    const bucket = buckets.get(key);
    if (bucket) bucket.fullAt = full;
    else buckets.set(key, { fullAt: full });
  }

  return {
    take(key, cost = 1) {
      const at = now();
      const full = fullAt(key, at) + Math.min(cost, burst) * msPerToken;
      const wait = waitUntil(full, at);
      if (wait === 0) set(key, full);
      return wait;
    },
    debt: (key, cost) => set(key, fullAt(key, now()) + cost * msPerToken),
    wait(key) {
      const at = now();
      return buckets.has(key) ? waitUntil(fullAt(key, at) + msPerToken, at) : 0;
    },
  } satisfies Buckets;
}

/** Buckets whose `take` is synchronous. */
export type LocalBuckets = ReturnType<typeof createBuckets>;

/** How many callers are kept. Least recently used callers are evicted. */
const MAX_CALLERS = 50_000;

/** State of callers, by key. `maxSize` with entries of size 1, because `max` allocates all slots at once. */
const createCallerCache = <Remembered extends object>() =>
  new LRUCache<string, Remembered>({ maxSize: MAX_CALLERS, sizeCalculation: () => 1 });

interface SharedOptions {
  /** The name of the limit: the prefix of its keys in Redis. */
  name: string;
  limit: RateLimit;
  shared: SharedState;
  /** Used while Redis is not available or does not answer. */
  local: Buckets;
}

/**
 * KEYS[1] holds the time at which the bucket will be full again, in milliseconds of Redis's clock, so that the clocks of the
 * machines need not agree. ARGV: milliseconds per token, tokens of a full bucket, cost, 1 if the bucket may become negative.
 * Returns {wait for the cost, wait for one token} in milliseconds; the first is 0 when the cost was taken.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local each, capacity = tonumber(ARGV[1]), ARGV[1] * ARGV[2]
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local after = full + ARGV[3] * each
local wait = after - now - capacity
if ARGV[4] == '1' or wait <= ${ROUNDING_MS} then
  redis.call('SET', KEYS[1], string.format('%.3f', after), 'PX', math.ceil(after - now))
  full, wait = after, 0
end
return {math.ceil(wait), math.ceil(math.max(full + each - now - capacity - ${ROUNDING_MS}, 0))}
`;

/**
 * Buckets that all replicas and workers share in Redis: one atomic call for each operation, so that together they never
 * allow more than the limit. When Redis reports an empty bucket, Redis is not asked again until the bucket has a token.
 */
export function createSharedBuckets({ name, limit, shared, local }: SharedOptions): Buckets {
  const empty = createCallerCache<{ until: number }>();

  function emptyFor(key: string): number {
    const until = empty.get(key)?.until;
    return until === undefined ? 0 : Math.max(0, Math.ceil(until - performance.now()));
  }

  async function takeShared(key: string, cost: number, force: boolean): Promise<number> {
    const args = [1_000 / limit.perSecond, limit.burst, cost, force ? 1 : 0];
    const [wait, nextToken] = numbersOf(await shared.evaluate(TAKE, [redisKey(name, key)], args));
    if (nextToken > 0) empty.set(key, { until: performance.now() + nextToken });
    else empty.delete(key);
    return wait;
  }

  return {
    take(key, cost = 1) {
      if (!shared.available()) return local.take(key, cost);
      const wait = emptyFor(key);
      if (wait > 0) return wait;
      return takeShared(key, Math.min(cost, limit.burst), false).catch(() => local.take(key, cost));
    },
    debt(key, cost) {
      if (!shared.available()) return local.debt(key, cost);
      takeShared(key, cost, true).catch(() => local.debt(key, cost));
    },
    wait: (key) => emptyFor(key) || local.wait(key),
  };
}

/** Names of callers can be personal data, and addresses are, so the key contains a hash. */
function redisKey(name: string, key: string): string {
  return `gateway:rate:${name}:${createHash('sha256').update(key).digest('base64url')}`;
}

function numbersOf(reply: unknown): [waitMs: number, nextTokenMs: number] {
  const [wait, nextToken]: unknown[] = Array.isArray(reply) ? reply : [];
  if (typeof wait === 'number' && typeof nextToken === 'number') return [wait, nextToken];
  throw new TypeError('Redis answered with something other than two numbers.');
}
