/*
 * Buckets that all replicas and workers have in common, in Redis. Asking Redis for every operation would make each of them
 * wait for a round trip, so a process takes tokens from the common bucket in lots and spends them on its own:
 *
 * - Together the processes never give out more than the limit allows, since every token came out of the one bucket.
 * - A lot is one token for a caller who was not here within a second, and twice the last lot for one who has spent that, up
 *   to a tenth of the burst. A quiet caller waits for a round trip; a busy one hardly ever does, since the next lot is
 *   fetched while the second half of this one is being spent.
 * - A lot that is not spent within a second is forgotten: no more is lost than was just spent, however many replicas
 *   a caller is spread over.
 * - "No" is remembered for as long as Redis said it holds, so that a flood is refused without asking.
 *
 * While Redis is away or does not answer, this process's own buckets decide.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { SharedState } from '../../process/redis.ts';
import type { Buckets, Limit } from './buckets.ts';

/** What a process holds of a caller's common bucket. Times are of `performance.now()`. */
interface Lot {
  tokens: number;
  /** How many were asked for last. */
  size: number;
  endsAt: number;
  refusedUntil: number;
  /** How many operations wait for tokens. */
  waiting: number;
  /** The question under way. */
  asking: Promise<void> | undefined;
}

interface SharedOptions {
  /** Distinguishes the buckets of one purpose from others. */
  name: string;
  limit: Limit;
  shared: SharedState;
  /** Decides while Redis does not. */
  local: Buckets;
}

const LOT_LASTS_MS = 1_000;

/**
 * KEYS[1] is when the bucket will be full again, in milliseconds of Redis's clock, so that no two machines' clocks need to
 * agree. ARGV: milliseconds per token, tokens of a full bucket, tokens wanted. Answers how many were taken, and if none,
 * in how many milliseconds there will be one.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local each, burst, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local taken = math.min(wanted, math.floor((now + burst * each - full) / each + 0.001))
if taken < 1 then return {0, math.ceil(full + each - burst * each - now)} end
full = full + taken * each
redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.ceil(full - now))
return {taken, 0}
`;

export function createSharedBuckets({ name, limit, shared, local }: SharedOptions): Buckets {
  const largestLot = Math.max(1, Math.floor(limit.burst / 10));
  const lots = new LRUCache<string, Lot>({ max: 50_000 });

  return {
    take(key) {
      if (!shared.available()) return local.take(key);
      const lot = lotOf(key);
      const wait = spend(lot);
      if (wait === undefined) return takeWhenAsked(key, lot);
      if (lot.tokens > 0 && lot.tokens < lot.size / 2) askAhead(key, lot);
      return wait;
    },
    debt: (key, cost) => local.debt(key, cost),
    wait(key) {
      const refusedFor = (lots.get(key)?.refusedUntil ?? 0) - performance.now();
      return refusedFor > 0 ? Math.ceil(refusedFor) : local.wait(key);
    },
  };

  function lotOf(key: string): Lot {
    const known = lots.get(key);
    if (known) return known;
    const lot: Lot = { tokens: 0, size: 1, endsAt: 0, refusedUntil: 0, waiting: 0, asking: undefined };
    lots.set(key, lot);
    return lot;
  }

  /** What is known without asking: 0 for a token taken, a wait for none, undefined for not known. */
  function spend(lot: Lot): number | undefined {
    const now = performance.now();
    if (lot.tokens > 0 && now < lot.endsAt) {
      lot.tokens -= 1;
      return 0;
    }
    return now < lot.refusedUntil ? Math.ceil(lot.refusedUntil - now) : undefined;
  }

  async function takeWhenAsked(key: string, lot: Lot): Promise<number> {
    lot.waiting += 1;
    try {
      for (;;) {
        await ask(key, lot);
        const wait = spend(lot);
        if (wait !== undefined) return wait;
      }
    } catch {
      return local.take(key);
    } finally {
      lot.waiting -= 1;
    }
  }

  function askAhead(key: string, lot: Lot): void {
    if (performance.now() < lot.refusedUntil) return;
    ask(key, lot).catch(() => undefined);
  }

  function ask(key: string, lot: Lot): Promise<void> {
    lot.asking ??= fetchTokens(key, lot).finally(() => {
      lot.asking = undefined;
    });
    return lot.asking;
  }

  async function fetchTokens(key: string, lot: Lot): Promise<void> {
    await undefined; // so that everybody who asks in this moment is counted
    const isBusy = performance.now() < lot.endsAt;
    lot.size = Math.min(limit.burst, Math.max(isBusy ? Math.min(2 * lot.size, largestLot) : 1, lot.waiting));
    const args = [1_000 / limit.perSecond, limit.burst, lot.size];
    const reply: unknown = await shared.ask((redis) => redis.eval(TAKE, 1, redisKey(name, key), ...args));
    const [taken, wait] = numbersOf(reply);
    const now = performance.now();
    if (taken > 0) {
      lot.tokens = (now < lot.endsAt ? lot.tokens : 0) + taken;
      lot.endsAt = now + LOT_LASTS_MS;
    } else {
      lot.refusedUntil = now + wait;
    }
  }
}

/** Callers' names can be personal data, and addresses are: Redis gets a hash. */
function redisKey(name: string, key: string): string {
  return `gateway:rate:${name}:${createHash('sha256').update(key).digest('base64url')}`;
}

function numbersOf(reply: unknown): [taken: number, waitMs: number] {
  const [taken, wait]: unknown[] = Array.isArray(reply) ? reply : [];
  if (typeof taken === 'number' && typeof wait === 'number') return [taken, Math.max(wait, 1)];
  throw new TypeError('Redis gave an answer that is no number of tokens.');
}
