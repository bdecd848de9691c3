import type { Maybe } from '../../rest/maybe.ts';
import { createCallers } from './callers.ts';

/** How much of something one caller may have: so many a second, and so many at once after a pause. */
export interface Limit {
  perSecond: number;
  burst: number;
}

/** Buckets of tokens by key; each refills at the limit's rate. */
export interface Buckets {
  /** Takes a token. Answers 0 when there was one, else in how many milliseconds there will be; then nothing is taken. */
  take(key: string): Maybe<number>;
  /** What `take` would answer, as far as this process knows; nothing is taken. */
  wait(key: string): number;
}

interface Bucket {
  fullAt: number;
}

/** Rounding: a token that is a microsecond away is there. */
const NEARLY_MS = 0.001;

/**
 * Buckets in the memory of this process. A bucket is one number, the time at which it will be full again (the generic cell
 * rate algorithm): nothing is refilled by a timer, and a full bucket needs no memory.
 */
export function createBuckets({ perSecond, burst }: Limit, now: () => number = performance.now.bind(performance)) {
  const msPerToken = 1_000 / perSecond;
  const msWhenEmpty = burst * msPerToken;
  const buckets = createCallers<Bucket>();

  /** When a bucket is full again if a token is taken now. */
  const fullAfterTaking = (bucket: Bucket | undefined, at: number) => Math.max(bucket?.fullAt ?? at, at) + msPerToken;
  const waitFor = (full: number, at: number) => {
    const excess = full - at - msWhenEmpty;
    return excess > NEARLY_MS ? Math.ceil(excess) : 0;
  };

  return {
    take(key) {
      const at = now();
      const bucket = buckets.get(key);
      const full = fullAfterTaking(bucket, at);
      const wait = waitFor(full, at);
      if (wait > 0) return wait;
      if (bucket) bucket.fullAt = full;
      else buckets.set(key, { fullAt: full });
      return 0;
    },
    wait(key) {
      const bucket = buckets.get(key);
      if (!bucket) return 0;
      const at = now();
      return waitFor(fullAfterTaking(bucket, at), at);
    },
  } satisfies Buckets;
}
