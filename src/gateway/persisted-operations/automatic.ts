/*
 * Automatic persisted queries: a client sends a query's hash alone, and the whole query once, when nobody knows the hash.
 * Apollo Server does the talking and asks this store; it registers a query after it was found valid and within the limits,
 * and callers without a token never get so far.
 *
 * What is kept is bounded twice, since any caller can register: by the size of one query, and all together by bytes in
 * memory and by number in Redis, where the one registered first goes first. A query that is forgotten is sent again.
 */
import { createHash } from 'node:crypto';
import type { ApolloServerOptions, BaseContext } from '@apollo/server';
import { LRUCache } from 'lru-cache';
import type { SharedState } from '../../process/redis.ts';

type PersistedQueries = Exclude<ApolloServerOptions<BaseContext>['persistedQueries'], false | undefined>;
export type PersistedQueryStore = NonNullable<PersistedQueries['cache']>;

/** The longest query that is kept, in bytes of UTF-8; a longer one runs and is sent whole the next time too. */
const MAX_QUERY_BYTES = 16_384;

/** How much is kept in memory, in bytes. */
const MAX_BYTES = 16 * 1_024 * 1_024;

/** How much the bookkeeping of one query takes beside its text, in bytes, roughly. */
const OVERHEAD_BYTES = 256;

/** How many are kept in Redis: 160 MB if all were as long as they may be. And for how long, in seconds. */
const MAX_SHARED = 10_000;
const SHARED_LASTS_SECONDS = 86_400;

/** KEYS: the query's, and the list of all in the order of registration. ARGV: text, seconds, how many there may be. */
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
      if (query === null || !standsFor(key, query)) return undefined;
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

/** Redis is not believed: a text that was changed there does not have the hash it is asked for by. */
function standsFor(key: string, query: string): boolean {
  return key.endsWith(createHash('sha256').update(query).digest('hex'));
}

function sharedKey(key: string): string {
  return `gateway:${key}`;
}
