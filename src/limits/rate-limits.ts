import { hash } from 'node:crypto';
import type { Caller } from '../caller.ts';
import type { Config } from '../config/config.ts';
import { requestError } from '../errors.ts';
import type { OptionalRedis } from '../redis-timeout.ts';
import { createAddressKeys } from './addresses.ts';

type Windows = ReturnType<typeof createWindows>;

const MESSAGES = {
  failures: 'Too many operations without a valid token came from this address.',
  operations: 'Too many operations in a short time.',
  newDocuments: 'Too many operations that were not seen before; use variables.',
  couponReads: 'Too many reads of coupons in a short time.',
};

type Kind = keyof typeof MESSAGES;
type CallerKind = Exclude<Kind, 'failures'>;
/** `burst` points in each window of ⌈burst / perSecond⌉ seconds. A window begins with the first point. */
type Rate = Config['rates']['operations'];

export type RateLimits = ReturnType<typeof createRateLimits>;

/** @param shared Absent without Redis: then each process counts for itself. */
export function createRateLimits(rates: Config['rates'], shared: OptionalRedis | undefined) {
  const windows = (name: string, { perSecond, burst }: Rate) =>
    createWindows(name, burst, 1_000 * Math.ceil(burst / perSecond), shared);
  const limits = (prefix: string, operations: Rate, couponReads: Rate, documents: number) => ({
    operations: windows(`${prefix}operations`, operations),
    couponReads: windows(`${prefix}couponReads`, couponReads),
    newDocuments: createWindows('', 5 * documents, 5_000),
  });
  const players = limits('', rates.operations, rates.couponReads, 10);
  const servers = limits('server-', rates.serverOperations, rates.serverCouponReads, 200);
  const limitsOf = (caller: Pick<Caller, 'key' | 'isServer'>) => (caller.isServer ? servers : players);
  const failures = windows('failures', rates.failedAuthentications);
  const keyOfAddress = createAddressKeys(failures.windowMs);
  /** No single operation is impossible: at most the whole burst is consumed at once. */
  const consume = async (kind: Kind, limit: Windows, key: string, points: number, consumed = 0) => {
    const more = Math.min(points, limit.most) - consumed;
    if (more <= 0 || (await limit.consume(key, more))) return;
    const extensions = { retryable: true, retryAfterMs: limit.left(key).ms };
    throw requestError('RATE_LIMITED', 429, `${MESSAGES[kind]} Try again later.`, extensions);
  };
  return {
    /** Consumes points of a caller's limit, less those `consumed` before. With too few left, it consumes none and rejects (RATE_LIMITED). */
    consume: (kind: CallerKind, caller: Pick<Caller, 'key' | 'isServer'>, points = 1, consumed = 0) =>
      consume(kind, limitsOf(caller)[kind], caller.key, points, consumed),
    /** Consumes units after the fact, also beyond the limit. */
    consumeLate: (caller: Caller, units: number) => limitsOf(caller).operations.change(caller.key, units),
    /**
     * Counts a failure of an address: `count` at once; `countFirst` before a token is verified, then `confirm` or `forgive`. If other
     * addresses share the limit, `confirm` alone counts, so that they refuse no valid token. Over it, rejects with RATE_LIMITED.
     */
    failureOf(address: string) {
      const { key, isShared } = keyOfAddress(address);
      const count = () => consume('failures', failures, key, 1);
      return {
        count,
        countFirst: async () => (isShared ? undefined : count()),
        confirm: async () => (isShared ? count() : undefined),
        forgive: () => (isShared ? undefined : failures.change(key, -1)),
      };
    },
    /** What a caller's limit of operations is and what is left of it, as in draft-ietf-httpapi-ratelimit-headers-10. */
    headersOf(caller: Caller) {
      const { left, most, windowMs } = limitsOf(caller).operations;
      const { points, ms } = left(caller.key);
      return {
        'ratelimit-policy': `"operations";q=${most};w=${windowMs / 1_000}`,
        ratelimit: `"operations";r=${points};t=${Math.ceil(ms / 1_000)}`,
      };
    },
  };
}

/** Points beyond `most` make a window longer, and so does a clock of Redis that is set back. Then at most so many milliseconds are left. */
const LONGEST_MS = 60_000;

/** KEYS: the window. ARGV: the points, the most, milliseconds, 1 if nothing is refused, LONGEST_MS. A PTTL of 0: it has ended. */
const COUNT = `
local ms = math.min(redis.call('PTTL', KEYS[1]), math.max(ARGV[3], ARGV[5]))
local used = ms > 0 and tonumber(redis.call('GET', KEYS[1])) or 0
local allowed = ARGV[4] == '1' or used + ARGV[1] <= tonumber(ARGV[2])
if allowed then used = math.max(0, used + ARGV[1]) end
if ms <= 0 then ms = tonumber(ARGV[3]) end
local more = math.max(0, math.min(ARGV[1], used - ARGV[2])) * ARGV[3] / ARGV[2]
if allowed then ms = math.max(ms, math.ceil(math.min(ms + more, ARGV[5]))) end
redis.call('SET', KEYS[1], used, 'PX', ms)
return { allowed and 1 or 0, used, ms }
`;

/** How often Redis is asked for a key without points, in milliseconds: another replica may have given some back. */
const ASK_AGAIN_MS = 1_000;

/**
 * Windows of `windowMs` in which each key has at most `most` points. A window begins with its first point. With Redis, the last
 * count of Redis is kept in memory: a key without points causes at most one call a second, and without Redis counting goes on.
 */
export function createWindows(name: string, most: number, windowMs: number, shared?: OptionalRedis) {
  /** `asked`: the points that Redis was asked for and has not answered yet; `toldAt`: when it answered last. */
  const windows = new Map<string, { used: number; asked: number; toldAt: number; endsAt: number }>();
  let sweepAt = performance.now() + windowMs;
  /** The current window of a key. Entries are used again; see docs/decisions/benchmark-notes.md. */
  const windowOf = (key: string, now = performance.now()) => {
    if (now >= sweepAt) {
      for (const [other, { endsAt, asked }] of windows) if (endsAt <= now && asked === 0) windows.delete(other);
      sweepAt = now + windowMs;
    }
    const last = windows.get(key) ?? { used: 0, asked: 0, toldAt: 0, endsAt: 0 };
    if (last.endsAt > now) return last;
    windows.set(key, last);
    return Object.assign(last, { used: 0, endsAt: now + windowMs });
  };
  /** What Redis says of a window; undefined when it does not answer, or need not be asked. */
  const ask = async (key: string, points: number, isForced: boolean) => {
    const window = windowOf(key);
    const isExhausted = window.used >= most && performance.now() - window.toldAt < ASK_AGAIN_MS;
    if (!shared || (isExhausted && !isForced)) return undefined;
    // Names of callers can be personal data, and addresses are, so keys in Redis contain a hash.
    const hashed = `rate:${name}:${hash('sha256', key, 'base64url').slice(0, 22)}`;
    // A change is in `used` already.
    const asked = isForced ? 0 : points;
    window.asked += asked;
    const answer = await shared
      .withTimeout(() => shared.redis.eval(COUNT, 1, hashed, points, most, windowMs, isForced ? 1 : 0, LONGEST_MS))
      .catch(() => undefined);
    window.asked -= asked;
    if (!Array.isArray(answer)) return undefined;
    const [allowed, used, ms] = answer.map(Number);
    const toldAt = performance.now();
    Object.assign(window, { used, toldAt, endsAt: toldAt + Number(ms) });
    return allowed === 1;
  };
  return {
    most,
    windowMs,
    /** The points that a key has left, and the milliseconds until it has all of them, as far as this process knows. */
    left(key: string): { points: number; ms: number } {
      const { used, asked, endsAt } = windowOf(key);
      return { points: Math.max(0, most - used - asked), ms: Math.max(1, Math.ceil(endsAt - performance.now())) };
    },
    /** Consumes points if so many are left, and says whether. Never rejects. */
    async consume(key: string, points: number): Promise<boolean> {
      const allowed = await ask(key, points, false);
      if (allowed !== undefined) return allowed;
      const window = windowOf(key);
      if (window.used + points > most) return false;
      window.used += points;
      return true;
    },
    /** Consumes points whether they are left or not, or gives negative ones back. Those beyond `most` make the window longer. */
    change(key: string, points: number): void {
      const window = windowOf(key);
      window.used = Math.max(0, window.used + points);
      const more = (Math.max(0, Math.min(points, window.used - most)) * windowMs) / most;
      window.endsAt = Math.max(window.endsAt, Math.min(window.endsAt + more, performance.now() + LONGEST_MS));
      void ask(key, points, true);
    },
  };
}
