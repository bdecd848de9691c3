/*
 * Automatic persisted queries: a client sends only the hash of a query, and the whole query once, when the hash is unknown.
 * Apollo Server handles the protocol and uses this store. A query is registered only when it is valid and within the limits.
 * Callers without a token are refused earlier.
 *
 * Any caller can register queries, so the store is bounded: by the size of one query, by the bytes of all in memory, and by
 * their number in Redis, where the oldest is removed first. A client sends a removed query again.
 */
import { createHash } from 'node:crypto';
import type { ApolloServerOptions, BaseContext } from '@apollo/server';
import { LRUCache } from 'lru-cache';
import type { SharedState } from '../process/redis.ts';

type PersistedQueries = Exclude<ApolloServerOptions<BaseContext>['persistedQueries'], false | undefined>;
export type PersistedQueryStore = NonNullable<PersistedQueries['cache']>;

/** The longest query that is kept, in bytes of UTF-8. A longer query is executed, but clients must always send it whole. */
const MAX_QUERY_BYTES = 16_384;

/** How much is kept in memory, in bytes. */
const MAX_BYTES = 16 * 1_024 * 1_024;

/** The approximate memory of one entry without its text, in bytes. */
const OVERHEAD_BYTES = 256;

/** How many are kept in Redis (160 MB if all have the maximum length), and for how long, in seconds. */
const MAX_SHARED = 10_000;
const SHARED_LASTS_SECONDS = 86_400;

/** KEYS: the query, and the list of all queries in the order of registration. ARGV: text, seconds, maximum number. */
const REGISTER = `
if not redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2], 'NX') then return 0 end
redis.call('LPUSH', KEYS[2], KEYS[1])
while redis.call('LLEN', KEYS[2]) > tonumber(ARGV[3]) do redis.call('DEL', redis.call('RPOP', KEYS[2])) end
return 1
`;

/** Keeps registered queries in memory, and in Redis for the other replicas when there is one. */
export function createPersistedQueryStore(shared: SharedState | undefined): PersistedQueryStore {
  const memory = new LRUCache<string, string>({
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_QUERY_BYTES + OVERHEAD_BYTES,
    sizeCalculation: (query) => Buffer.byteLength(query) + OVERHEAD_BYTES,
  });
  return {
    async get(key) {
      const known = memory.get(key);
      if (known !== undefined || !shared?.available()) return known;
      const query = await shared.get(sharedKey(key)).catch(() => null);
      if (query === null || !hasHash(key, query)) return undefined;
      memory.set(key, query);
      return query;
    },
    async set(key, query) {
      memory.set(key, query);
      if (!shared?.available() || !memory.has(key)) return;
      const keys = [sharedKey(key), sharedKey('order')];
      await shared.evaluate(REGISTER, keys, [query, SHARED_LASTS_SECONDS, MAX_SHARED]).catch(() => undefined);
    },
    async delete(key) {
      return memory.delete(key);
    },
  };
}

/** Verifies a text from Redis: a text that was changed there does not have the requested hash. */
function hasHash(key: string, query: string): boolean {
  return key.endsWith(createHash('sha256').update(query).digest('hex'));
}

function sharedKey(key: string): string {
  return `gateway:${key}`;
}
