import { LRUCache } from 'lru-cache';

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
export const ROUNDING_MS = 0.001;

/**
 * Buckets in the memory of this process. A bucket is one number, the time at which it will be full again (the generic cell
 * rate algorithm): no timer refills it, and a full bucket needs no memory.
 */
export function createBuckets({ perSecond, burst }: RateLimit, now: () => number = performance.now.bind(performance)) {
  const msPerToken = 1_000 / perSecond;
  const capacityMs = burst * msPerToken;
  const buckets = createCallers<Bucket>();

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

/** How many callers are kept. Least recently used callers are evicted. */
const MAX_CALLERS = 50_000;

/** State of callers, by key. `maxSize` with entries of size 1, because `max` allocates all slots at once. */
export const createCallers = <Remembered extends object>() =>
  new LRUCache<string, Remembered>({ maxSize: MAX_CALLERS, sizeCalculation: () => 1 });

/** Buckets whose `take` is synchronous. */
export type LocalBuckets = ReturnType<typeof createBuckets>;
