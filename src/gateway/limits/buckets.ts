import { LRUCache } from 'lru-cache';

/** How many tokens one caller may spend: so many a second, and so many at once after a pause. */
export interface Limit {
  perSecond: number;
  burst: number;
}

/** Buckets of tokens by key; each refills at the limit's rate. */
export interface Buckets {
  /**
   * Takes `cost` tokens, or as many as a full bucket has if that is less. Answers 0 when they were there, else in how many
   * milliseconds they will be; then nothing is taken.
   */
  take(key: string, cost?: number): number | Promise<number>;
  /** Takes `cost` tokens that were spent already, even beyond empty: the next `take` waits until they are paid back. */
  debt(key: string, cost: number): void;
  /** What `take` of one token would answer, as far as this process knows; nothing is taken. */
  wait(key: string): number;
}

interface Bucket {
  fullAt: number;
}

/** Rounding: a token that is a microsecond away is there. */
export const ROUNDING_MS = 0.001;

/**
 * Buckets in the memory of this process. A bucket is one number, the time at which it will be full again (the generic cell
 * rate algorithm): no timer refills it, and a full bucket needs no memory.
 */
export function createBuckets({ perSecond, burst }: Limit, now: () => number = performance.now.bind(performance)) {
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

/** How many callers are remembered. Whoever is forgotten for want of room has not been here for longer than the others. */
const MAX_CALLERS = 50_000;

/** What is remembered of callers, by key. Bounded by size, each being one: by number it would take the room for all at once. */
export const createCallers = <Remembered extends object>() =>
  new LRUCache<string, Remembered>({ maxSize: MAX_CALLERS, sizeCalculation: () => 1 });

/** Buckets that answer at once. */
export type LocalBuckets = ReturnType<typeof createBuckets>;
