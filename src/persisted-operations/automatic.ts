/* The texts of automatic persisted queries. They are bounded, since any caller can add some; clients send a removed one again. */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { OptionalRedis } from '../redis-timeout.ts';

export type PersistedQueryStore = ReturnType<typeof createPersistedQueryStore>;

/** The longest text that is kept, in bytes of UTF-8. A longer one is executed, but clients must always send it whole. */
const MAX_TEXT_BYTES = 16_384;
/** How many are kept, in memory and in Redis, for how long, and how many bytes in memory. */
const MAX_TEXTS = 10_000;
const KEPT_SECONDS = 86_400;
const MAX_BYTES = 16 * 1_024 * 1_024;

/** The least time between two uses of a text that Redis is told about, in milliseconds. */
const USED_MS = 60_000;

/**
 * Registers a text, or notes that it is used, and returns it; the least recently used ones are deleted. KEYS: the text, and all
 * texts by their last use. ARGV: seconds, maximum number, and the text that is registered.
 */
const USE = `
local text = ARGV[3] or redis.call('GET', KEYS[1])
if not text then return false end
redis.call('SET', KEYS[1], text, 'EX', ARGV[1])
local now = redis.call('TIME')
redis.call('ZADD', KEYS[2], now[1] * 1e6 + now[2], KEYS[1])
local excess = redis.call('ZCARD', KEYS[2]) - ARGV[2]
if excess > 0 then
  for i, old in ipairs(redis.call('ZPOPMIN', KEYS[2], excess)) do
    if i % 2 == 1 then redis.call('DEL', old) end
  end
end
return text
`;

/** Keeps texts in memory, and in Redis for the other replicas. Without an answer from Redis a text is unknown. */
export function createPersistedQueryStore(shared: OptionalRedis | undefined) {
  const memory = new LRUCache<string, string>({
    max: MAX_TEXTS,
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_TEXT_BYTES,
    sizeCalculation: (text) => Math.max(1, Buffer.byteLength(text)),
    ttl: KEPT_SECONDS * 1_000,
  });
  const use = async (key: string, ...text: string[]): Promise<unknown> =>
    shared
      ?.withTimeout(() => shared.redis.eval(USE, 2, key, 'apq-used', KEPT_SECONDS, MAX_TEXTS, ...text))
      .catch(() => undefined);
  return {
    async get(key: string) {
      const kept = memory.get(key);
      if (kept !== undefined) {
        if (memory.getRemainingTTL(key) < KEPT_SECONDS * 1_000 - USED_MS) {
          memory.set(key, kept);
          void use(key);
        }
        return kept;
      }
      const text = await use(key);
      // A text that was changed in Redis does not have the requested hash.
      if (typeof text !== 'string' || !key.endsWith(hash('sha256', text))) return undefined;
      memory.set(key, text);
      return text;
    },
    async set(key: string, text: string) {
      memory.set(key, text);
      if (memory.has(key)) await use(key, text);
    },
    delete: async (key: string) => memory.delete(key),
  };
}
