import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { SharedState } from '../process/redis.ts';
import type { WriteOutcome } from '../rest/errors.ts';

/** What a store answers to an operation that wants to send events with a key. */
export type Claim =
  /** The key is this operation's: it was never used, or certainly nothing was sent with it. */
  | 'CLAIMED'
  /** Another operation has claimed it and is under way. */
  | 'UNDER_WAY'
  | 'DONE'
  /** The outcome is unknown, or the lease of a claim ended without a record of the outcome. */
  | 'UNKNOWN'
  /** It was used with another input. */
  | 'OTHER_INPUT';

export interface ClaimRequest {
  /** A hash of caller, player and key. */
  key: string;
  /** A hash of the input. */
  input: string;
  /** Names this claim; nobody else can record its outcome. */
  claim: string;
  /** How long the claim is valid without a record, in milliseconds. */
  leaseMs: number;
}

/** Keeps keys for 24 hours. Every key has the same small size, since inputs are kept as hashes. */
export interface KeyStore {
  /** Claims a key, which no other operation can do at the same time. Rejects when the store does not answer. */
  claim(request: ClaimRequest): Promise<Claim>;
  /** Records the outcome of a claim; does nothing when the key has another claim or none. Never rejects. */
  record(claimed: Pick<ClaimRequest, 'key' | 'claim'>, outcome: WriteOutcome): Promise<void>;
}

/** How long keys are kept, in milliseconds. */
const KEPT_MS = 86_400_000;
/** How many keys are kept in memory, about 400 bytes each; then the least recently used is forgotten. */
const MAX_KEYS = 100_000;

interface Kept {
  input: string;
  claim: string;
  leaseEnds: number;
  outcome: WriteOutcome | undefined;
}

/** Keys in the memory of this process: its end forgets them, and no other process knows them. */
export function createMemoryKeys(now: () => number = performance.now.bind(performance)): KeyStore {
  const keys = new LRUCache<string, Kept>({
    maxSize: MAX_KEYS,
    sizeCalculation: () => 1,
    ttl: KEPT_MS,
    ttlResolution: 0,
    perf: { now },
  });
  return {
    async claim({ key, input, claim, leaseMs }) {
      const kept = keys.get(key);
      if (kept && kept.input !== input) return 'OTHER_INPUT';
      if (kept && kept.outcome === undefined) return now() < kept.leaseEnds ? 'UNDER_WAY' : 'UNKNOWN';
      if (kept?.outcome === 'DONE' || kept?.outcome === 'UNKNOWN') return kept.outcome;
      keys.set(key, { input, claim, leaseEnds: now() + leaseMs, outcome: undefined });
      return 'CLAIMED';
    },
    async record({ key, claim }, outcome) {
      const kept = keys.get(key);
      if (kept?.claim === claim) keys.set(key, { ...kept, outcome });
    },
  };
}

/**
 * KEYS[1] is a hash: `input`, `claim`, `state` (UNDER_WAY or an outcome) and `ends`, when the lease ends, in milliseconds of
 * Redis's clock. ARGV: input, claim, lease and time to keep the key, in milliseconds. Answers a `Claim`.
 */
const CLAIM = `
local input, state, ends = unpack(redis.call('HMGET', KEYS[1], 'input', 'state', 'ends'))
if input and input ~= ARGV[1] then return 'OTHER_INPUT' end
if state == 'DONE' or state == 'UNKNOWN' then return state end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if state == 'UNDER_WAY' then return now < tonumber(ends) and 'UNDER_WAY' or 'UNKNOWN' end
redis.call('HSET', KEYS[1], 'input', ARGV[1], 'claim', ARGV[2], 'state', 'UNDER_WAY', 'ends', now + ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 'CLAIMED'
`;

/** KEYS[1] as above. ARGV: claim, outcome, time to keep the key, in milliseconds. */
const RECORD = `
if redis.call('HGET', KEYS[1], 'claim') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[2])
return redis.call('PEXPIRE', KEYS[1], ARGV[3])
`;

const CLAIMS: readonly unknown[] = ['CLAIMED', 'UNDER_WAY', 'DONE', 'UNKNOWN', 'OTHER_INPUT'] satisfies Claim[];

/** How often an outcome that Redis did not take is sent again, and after how many milliseconds each time. */
const MAX_RECORD_RETRIES = 10;
const RECORD_RETRY_MS = 1_000;

/** Keys in Redis, for all replicas and workers. */
export function createSharedKeys(shared: SharedState): KeyStore {
  async function tryToRecord({ key, claim }: Pick<ClaimRequest, 'key' | 'claim'>, outcome: WriteOutcome) {
    if (!shared.available()) return false;
    return await shared.evaluate(RECORD, [redisKey(key)], [claim, outcome, KEPT_MS]).then(
      () => true,
      () => false,
    );
  }

  async function recordLater(claimed: Pick<ClaimRequest, 'key' | 'claim'>, outcome: WriteOutcome): Promise<void> {
    for (let retries = 0; retries < MAX_RECORD_RETRIES; retries += 1) {
      await sleep(RECORD_RETRY_MS, undefined, { ref: false });
      if (await tryToRecord(claimed, outcome)) return;
    }
  }

  return {
    async claim({ key, input, claim, leaseMs }) {
      if (!shared.available()) throw new Error('Redis is not reachable.');
      const reply = await shared.evaluate(CLAIM, [redisKey(key)], [input, claim, leaseMs, KEPT_MS]);
      if (isClaim(reply)) return reply;
      throw new TypeError('Redis answered with something other than a claim.');
    },
    async record(claimed, outcome) {
      if (!(await tryToRecord(claimed, outcome))) void recordLater(claimed, outcome);
    },
  };
}

function isClaim(reply: unknown): reply is Claim {
  return CLAIMS.includes(reply);
}

function redisKey(key: string): string {
  return `gateway:events:${key}`;
}
