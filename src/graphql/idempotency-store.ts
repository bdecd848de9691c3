import type { Redis } from 'ioredis';

/** What another operation stored under a key, and how long ago it claimed the key, in milliseconds. */
export interface Found {
  record: string;
  ageMs: number;
}

/** Keeps records of keys for 24 hours. Each is small: a hash of the input and a state. A key is never evicted earlier. */
export interface KeyStore {
  /** Stores the record of a new key and returns undefined, or returns what is stored. Rejects when the store does not answer. */
  claim(key: string, record: string): Promise<Found | undefined>;
  /** Replaces the record of a key that the caller has claimed. */
  replace(key: string, record: string): Promise<unknown>;
  /** Deletes a key that the caller has claimed. */
  delete(key: string): Promise<unknown>;
  /** Deletes a key if it has this record: after a claim that got no answer. */
  release(key: string, record: string): Promise<unknown>;
}

/** How long keys are kept, in milliseconds. */
const KEPT_MS = 86_400_000;
/** How many keys are kept in memory, about 400 bytes each; then new ones are refused. */
const MAX_KEYS = 200_000;

/** Keys in the memory of this process: its end forgets them, and no other process knows them. */
export function createMemoryKeys(now: () => number = performance.now.bind(performance), maxKeys = MAX_KEYS): KeyStore {
  /** In the order of their claims, so the first ones expire first. */
  const keys = new Map<string, { record: string; claimedAt: number }>();
  return {
    async claim(key, record) {
      const claimedAt = now();
      for (const [old, found] of keys) {
        if (claimedAt - found.claimedAt < KEPT_MS) break;
        keys.delete(old);
      }
      const found = keys.get(key);
      if (found) return { record: found.record, ageMs: claimedAt - found.claimedAt };
      if (keys.size >= maxKeys) throw new Error(`More than ${maxKeys} idempotency keys in memory.`);
      keys.set(key, { record, claimedAt });
      return undefined;
    },
    async replace(key, record) {
      const found = keys.get(key);
      if (found) found.record = record;
    },
    async delete(key) {
      keys.delete(key);
    },
    async release(key, record) {
      if (keys.get(key)?.record === record) keys.delete(key);
    },
  };
}

/** ARGV: record, time to keep it in milliseconds. Returns {stored record, milliseconds it is still kept}, or nothing. */
const CLAIM = `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return {} end
return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}
`;
const RELEASE = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1])`;

/** Keys in Redis, for all replicas. */
export function createSharedKeys(redis: Redis): KeyStore {
  return {
    async claim(key, record) {
      const reply: unknown = await redis.eval(CLAIM, 1, `key:${key}`, record, KEPT_MS);
      const [found, leftMs]: unknown[] = Array.isArray(reply) ? reply : [null];
      if (found === undefined) return undefined;
      if (typeof found === 'string' && typeof leftMs === 'number') return { record: found, ageMs: KEPT_MS - leftMs };
      throw new TypeError('Redis answered with something other than a claim.');
    },
    replace: (key, record) => redis.set(`key:${key}`, record, 'PX', KEPT_MS),
    delete: (key) => redis.del(`key:${key}`),
    release: (key, record) => redis.eval(RELEASE, 1, `key:${key}`, record),
  };
}
