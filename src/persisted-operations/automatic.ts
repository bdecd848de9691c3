/* The texts of automatic persisted queries. They are bounded, since any caller can add some; clients send a removed one again. */
import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';

export type PersistedQueryStore = ReturnType<typeof createPersistedQueryStore>;

/** The longest text that is kept, in bytes of UTF-8. A longer one is executed, but clients must always send it whole. */
const MAX_TEXT_BYTES = 16_384;
/** How many are kept, in memory and in Redis, for how long, and how many bytes in memory. */
const MAX_TEXTS = 10_000;
const KEPT_SECONDS = 86_400;
const MAX_BYTES = 16 * 1_024 * 1_024;

/** KEYS: the text, and the list of all texts in the order of registration. ARGV: text, seconds, maximum number. */
const REGISTER = `
if not redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2], 'NX') then return 0 end
redis.call('LPUSH', KEYS[2], KEYS[1])
while redis.call('LLEN', KEYS[2]) > tonumber(ARGV[3]) do redis.call('DEL', redis.call('RPOP', KEYS[2])) end
return 1
`;

/** Keeps texts in memory, and in Redis for the other replicas. Without an answer from Redis a text is unknown. */
export function createPersistedQueryStore(redis: Redis | undefined) {
  const memory = new LRUCache<string, string>({
    max: MAX_TEXTS,
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_TEXT_BYTES,
    sizeCalculation: (text) => Math.max(1, Buffer.byteLength(text)),
    ttl: KEPT_SECONDS * 1_000,
  });
  return {
    async get(key: string) {
      const known = memory.get(key);
      if (known !== undefined) return known;
      const text = await redis?.get(key).catch(() => null);
      // A text that was changed in Redis does not have the requested hash.
      if (!text || !key.endsWith(hash('sha256', text))) return undefined;
      memory.set(key, text);
      return text;
    },
    async set(key: string, text: string) {
      memory.set(key, text);
      if (!memory.has(key)) return;
      await redis?.eval(REGISTER, 2, key, 'apq-order', text, KEPT_SECONDS, MAX_TEXTS).catch(() => undefined);
    },
    delete: async (key: string) => memory.delete(key),
  };
}
