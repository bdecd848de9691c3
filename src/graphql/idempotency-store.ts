import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { OptionalRedis } from '../redis-timeout.ts';

/** All texts are hashes. */
export interface IdempotencyKey {
  key: string;
  /** Whose key it is, and how many keys of one kind of caller are kept at once. */
  caller: string;
  max: number;
}

/** What a claim finds: the entry of a kept key and for how long it has been kept, or when its caller may have a new one. */
export type Found = { entry: string; ageMs: number } | { retryAfterMs: number };

/** Keeps entries of keys for 24 hours. Each is small: a hash of the input and a state. A key is never evicted earlier. */
export interface IdempotencyStore {
  /**
   * Stores the entry of a new key and resolves to undefined, or to what was found. Rejects when the store does not answer, or not
   * to earlier changes; a key that may have been stored is released.
   */
  claim(key: IdempotencyKey, entry: string): Promise<Found | undefined>;
  /** Replaces the entry of a claimed key; later, when the store does not take it now. Never rejects. */
  replace(key: IdempotencyKey, entry: string): Promise<unknown>;
  /** Deletes a key if it has this entry: after a claim with which nothing was done. Never rejects. */
  release(key: IdempotencyKey, entry: string): Promise<unknown>;
  /** Before the process ends: tries again what the store did not take, for about two seconds. Never rejects. */
  finish?(): Promise<void>;
}

const KEPT_MS = 86_400_000;
/** How many keys are kept in memory, at most 500 bytes each. */
const MAX_KEYS = 200_000;
/** How often the keys that ended are deleted for callers that do not return, in milliseconds. */
const SWEEP_MS = 60_000;

/** Keys in the memory of this process: its end forgets them, and no other process knows them. */
export function createMemoryStore(now = () => performance.now()): IdempotencyStore {
  /** By caller, in the order of their claims, so the first ones end first. */
  const callers = new Map<string, Map<string, { entry: string; claimedAt: number }>>();
  let count = 0;
  let sweptAt = now();
  const deleteEnded = (keys: NonNullable<ReturnType<typeof callers.get>>) => {
    for (const [key, { claimedAt }] of keys) {
      if (claimedAt + KEPT_MS > now()) break;
      keys.delete(key);
      count -= 1;
    }
  };
  const sweep = () => {
    sweptAt = now();
    for (const [caller, keys] of callers) {
      deleteEnded(keys);
      if (keys.size === 0) callers.delete(caller);
    }
  };
  return {
    async claim({ key, caller, max }, entry) {
      if (now() - sweptAt >= SWEEP_MS) sweep();
      const own = callers.get(caller) ?? new Map<string, { entry: string; claimedAt: number }>();
      deleteEnded(own);
      const found = own.get(key);
      if (found) return { entry: found.entry, ageMs: now() - found.claimedAt };
      // At most as many as are still free, so that one caller cannot take them all.
      if (own.size >= Math.min(max, MAX_KEYS - count)) {
        const [oldest] = own.values();
        if (!oldest) throw new Error(`${MAX_KEYS} idempotency keys are in memory.`);
        return { retryAfterMs: Math.ceil(oldest.claimedAt + KEPT_MS - now()) };
      }
      callers.set(caller, own.set(key, { entry, claimedAt: now() }));
      count += 1;
      return undefined;
    },
    async replace({ key, caller }, entry) {
      Object.assign(callers.get(caller)?.get(key) ?? {}, { entry });
    },
    async release({ key, caller }, entry) {
      const own = callers.get(caller);
      if (own?.get(key)?.entry === entry && own.delete(key)) count -= 1;
    },
  };
}

/** A caller's keys are counted by when they were claimed, in steps of five minutes. */
const STEP_MS = 300_000;

/*
 * Each is one call to Redis, because a Redis that does not answer may still do it later. KEYS: the key, and its caller's counts.
 * ARGV: the entry, KEPT_MS, STEP_MS and `max`. The clock of Redis alone tells how old a key is.
 */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kept, step = tonumber(ARGV[2]), tonumber(ARGV[3])
`;
const CLAIM = `${NOW}
local entry = redis.call('GET', KEYS[1])
if entry then return { entry, kept - redis.call('PTTL', KEYS[1]) } end
local counts, sum, oldest = redis.call('HGETALL', KEYS[2]), 0, now
for i = 1, #counts, 2 do
  local claimed = counts[i] * step
  if claimed + kept <= now or counts[i + 1] == '0' then
    redis.call('HDEL', KEYS[2], counts[i])
  else
    sum, oldest = sum + counts[i + 1], math.min(oldest, claimed)
  end
end
if sum >= tonumber(ARGV[4]) then return { false, oldest + kept - now } end
redis.call('HINCRBY', KEYS[2], math.floor(now / step), 1)
redis.call('PEXPIRE', KEYS[2], kept)
redis.call('SET', KEYS[1], ARGV[1], 'PX', kept)
return false
`;
const RELEASE = `${NOW}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return end
local claimed = now - kept + redis.call('PTTL', KEYS[1])
redis.call('DEL', KEYS[1])
redis.call('HINCRBY', KEYS[2], math.floor(claimed / step), -1)
`;

/** How many keys may have changes that wait for Redis. From half of them on, new claims are refused, so that outcomes have room. */
const MAX_LATE = 10_000;
/** After how many milliseconds they are sent again. */
const SEND_AGAIN_MS = 1_000;

/** A command that Redis has not taken. `entry` is the outcome that it stores; until then this process responds with it. */
type Change = { send(): Promise<unknown>; entry?: string };
/** The changes of one key in their order; `sending` while they are sent. */
type Late = { changes: Change[]; sending?: Promise<void> | undefined };

/** Keys in Redis, for all replicas. `withLongTimeout` rejects after `REDIS_TIMEOUT_MS`. */
export function createRedisStore(redis: Redis, withLongTimeout: OptionalRedis['withTimeout']): IdempotencyStore {
  /** What Redis has not taken, by key: it is being sent, the connection was lost, its memory was full, or it was a replica. */
  const late = new LRUCache<string, Late>({ max: MAX_LATE });
  let isScheduled = false;
  const run = (script: string, { key, caller, max }: IdempotencyKey, entry: string) =>
    withLongTimeout(() => redis.eval(script, 2, `key:${key}`, `keys-of:${caller}`, entry, KEPT_MS, STEP_MS, max));
  const sendLater = () => {
    if (!isScheduled) setTimeout(sendOldest, SEND_AGAIN_MS).unref();
    isScheduled = true;
  };
  const sendNow = async (key: string, change: Change) => {
    const one = late.get(key) ?? { changes: [] };
    one.changes.push(change);
    late.set(key, one);
    await sendChanges(key);
  };
  /** Sends the changes of a key, until Redis does not take one. Never rejects. */
  function sendChanges(key: string): Promise<void> | undefined {
    const one = late.get(key);
    if (!one) return undefined;
    const sendAll = async () => {
      for (; one.changes[0]; one.changes.shift()) await one.changes[0].send();
      late.delete(key);
    };
    const ended = () => {
      one.sending = undefined;
    };
    one.sending ??= sendAll().catch(sendLater).finally(ended);
    return one.sending;
  }
  const sendAllChanges = () => Promise.all([...late.keys()].map(sendChanges));
  /** Sends the changes of one key. If Redis takes them, those of the others are sent too. */
  async function sendOldest(): Promise<void> {
    isScheduled = false;
    const [key = ''] = late.rkeys();
    await sendChanges(key);
    if (!late.has(key)) await sendAllChanges();
  }
  const release = (key: IdempotencyKey, entry: string) => sendNow(key.key, { send: () => run(RELEASE, key, entry) });
  redis.on('ready', sendAllChanges);
  return {
    async claim(key, claim) {
      const known = late.get(key.key)?.changes.findLast((change) => change.entry !== undefined)?.entry;
      if (known !== undefined) return { entry: known, ageMs: 0 };
      // Otherwise each claim of a client that repeats the key would add a change, and claims of many keys would evict outcomes.
      await sendChanges(key.key);
      if (late.has(key.key) || late.size >= MAX_LATE / 2) throw new Error('Redis does not take earlier changes.');
      const mayArrive = redis.status === 'ready';
      try {
        const found = await run(CLAIM, key, claim);
        if (!Array.isArray(found)) return undefined;
        const [entry, ms] = found;
        return entry === null ? { retryAfterMs: Number(ms) } : { entry: String(entry), ageMs: Number(ms) };
      } catch (error) {
        if (mayArrive) void release(key, claim);
        throw error;
      }
    },
    replace({ key }, entry) {
      const send = () => withLongTimeout(() => redis.set(`key:${key}`, entry, 'PX', KEPT_MS));
      return sendNow(key, { send, entry });
    },
    release,
    async finish() {
      await sendAllChanges();
      for (let left = 2; late.size > 0 && left > 0; left -= 1) await sleep(SEND_AGAIN_MS).then(sendAllChanges);
    },
  };
}
