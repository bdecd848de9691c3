import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';

/** Keeps records of keys for 24 hours. Each is small: a hash of the input and a state. A key is never evicted earlier. */
export interface KeyStore {
  /**
   * Stores the record of a new key and returns undefined, or returns what is stored and for how many milliseconds it has been.
   * Rejects when the store does not answer; then it releases the key, which may have been stored.
   */
  claim(key: string, record: string): Promise<{ record: string; ageMs: number } | undefined>;
  /** Replaces the record of a key that the caller has claimed. */
  replace(key: string, record: string): Promise<unknown>;
  /** Deletes a key if it has this record: after a claim with which nothing was done. Never rejects. */
  release(key: string, record: string): Promise<unknown>;
}

/** How long keys are kept, in milliseconds. */
const KEPT_MS = 86_400_000;
/** How many keys are kept in memory, about 400 bytes each; then new ones are refused. */
const MAX_KEYS = 200_000;

/** Keys in the memory of this process: its end forgets them, and no other process knows them. */
export function createMemoryKeyStore(now = () => performance.now()): KeyStore {
  /** In the order of their claims, so the first ones expire first. */
  const keys = new Map<string, { record: string; expiresAt: number }>();
  return {
    async claim(key, record) {
      for (const [old, { expiresAt }] of keys) {
        if (expiresAt > now()) break;
        keys.delete(old);
      }
      const found = keys.get(key);
      if (found) return { record: found.record, ageMs: KEPT_MS - (found.expiresAt - now()) };
      if (keys.size >= MAX_KEYS) throw new Error(`More than ${MAX_KEYS} idempotency keys in memory.`);
      keys.set(key, { record, expiresAt: now() + KEPT_MS });
      return undefined;
    },
    async replace(key, record) {
      Object.assign(keys.get(key) ?? {}, { record });
    },
    async release(key, record) {
      if (keys.get(key)?.record === record) keys.delete(key);
    },
  };
}

/** One call to Redis, because a Redis that does not answer may still do it later. Its clock alone tells how old a claim is. */
const CLAIM = `
if redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then return false end
return { redis.call('GET', KEYS[1]), ARGV[2] - redis.call('PTTL', KEYS[1]) }
`;
const RELEASE = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1])`;

/** How many releases wait for Redis to be connected again. */
const MAX_LATE = 10_000;

/** Keys in Redis, for all replicas. */
export function createRedisKeyStore(redis: Redis): KeyStore {
  const late = new LRUCache<string, string>({ max: MAX_LATE, ttl: KEPT_MS });
  const release = (key: string, record: string): Promise<unknown> =>
    redis.eval(RELEASE, 1, `key:${key}`, record).catch(() => late.set(key, record));
  redis.on('ready', () => {
    const waiting = [...late];
    late.clear();
    for (const [key, record] of waiting) void release(key, record);
  });
  return {
    async claim(key, record) {
      const mayArrive = redis.status === 'ready';
      try {
        const found = await redis.eval(CLAIM, 1, `key:${key}`, record, KEPT_MS);
        return Array.isArray(found) ? { record: String(found[0]), ageMs: Number(found[1]) } : undefined;
      } catch (error) {
        if (mayArrive) void release(key, record);
        throw error;
      }
    },
    replace: (key, record) => redis.set(`key:${key}`, record, 'PX', KEPT_MS),
    release,
  };
}
