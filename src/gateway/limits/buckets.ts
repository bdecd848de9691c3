import { LRUCache } from 'lru-cache';

/** How much of something one caller may have: so much a second, and so much at once after a pause. */
export interface Limit {
  perSecond: number;
  burst: number;
}

/** Token buckets by key; each refills at the limit's rate. */
export interface Buckets {
  /** Takes tokens, one by default. Returns 0, or takes nothing and returns in how many milliseconds there will be enough. */
  take(key: string, cost?: number): number | Promise<number>;
  /** Takes tokens that may not be there yet: the next ones come later. */
  debt(key: string, cost: number): void;
  /** In how many milliseconds there will be a token, as far as this process knows; takes nothing. */
  wait(key: string): number;
}

/** Buckets that answer at once. */
export type LocalBuckets = ReturnType<typeof createBuckets>;

interface Bucket {
  fullAt: number;
}

/** How many callers are remembered; the least recently used are forgotten. */
const MAX_CALLERS = 50_000;

/** Rounding: a token that is a microsecond away is there. */
const NEARLY_MS = 0.001;

/**
 * Buckets in the memory of this process. A bucket is one number, the time at which it will be full again (the generic cell
 * rate algorithm): no timer refills it, and a full bucket needs no memory.
 */
export function createBuckets({ perSecond, burst }: Limit, now: () => number = performance.now.bind(performance)) {
  const msPerToken = 1_000 / perSecond;
  const msWhenEmpty = burst * msPerToken;
  // Bounded by size, each being one: bounded by number, the cache would allocate all places at once.
  const buckets = new LRUCache<string, Bucket>({ maxSize: MAX_CALLERS, sizeCalculation: () => 1 });

  const fullAfter = (bucket: Bucket | undefined, at: number, cost: number) =>
    Math.max(bucket?.fullAt ?? at, at) + cost * msPerToken;
  const waitFor = (full: number, at: number) => {
    const excess = full - at - msWhenEmpty;
    return excess > NEARLY_MS ? Math.ceil(excess) : 0;
  };
  const fill = (key: string, bucket: Bucket | undefined, fullAt: number) => {
    if (bucket) bucket.fullAt = fullAt;
    else buckets.set(key, { fullAt });
  };

  return {
    take(key, cost = 1) {
      const at = now();
      const bucket = buckets.get(key);
      // More than a whole bucket is to be had when the bucket is full, and then owed.
      const needed = fullAfter(bucket, at, Math.min(cost, burst));
      const wait = waitFor(needed, at);
      if (wait === 0) fill(key, bucket, fullAfter(bucket, at, cost));
      return wait;
    },
    debt(key, cost) {
      const bucket = buckets.get(key);
      fill(key, bucket, fullAfter(bucket, now(), cost));
    },
    wait(key) {
      const bucket = buckets.get(key);
      if (!bucket) return 0;
      const at = now();
      return waitFor(fullAfter(bucket, at, 1), at);
    },
  } satisfies Buckets;
}
