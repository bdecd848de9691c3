import { hash } from 'node:crypto';
import type { OptionalRedis } from '../impatience.ts';

/** KEYS: the window. ARGV: the points, the most, milliseconds, and 1 if nothing is refused. */
const COUNT = `
local used = tonumber(redis.call('GET', KEYS[1]) or 0)
local allowed = ARGV[4] == '1' or used + ARGV[1] <= tonumber(ARGV[2])
if allowed then used = math.max(0, used + ARGV[1]) end
local ms = redis.call('PTTL', KEYS[1])
if ms <= 0 then ms = tonumber(ARGV[3]) end
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
  /** The current window of a key. Entries are used again: in a Map that changes with each operation, V8 keeps young objects. */
  const windowOf = (key: string, now = performance.now()) => {
    if (now >= sweepAt) {
      for (const [other, { endsAt, asked }] of windows) if (endsAt <= now && asked === 0) windows.delete(other);
      sweepAt = now + windowMs;
    }
    const last = windows.get(key);
    if (last && last.endsAt > now) return last;
    if (last) return Object.assign(last, { used: 0, endsAt: now + windowMs });
    const begun = { used: 0, asked: 0, toldAt: 0, endsAt: now + windowMs };
    windows.set(key, begun);
    return begun;
  };
  /** What Redis says of a window; undefined when it does not answer, or need not be asked. */
  const ask = async (key: string, points: number, isForced: boolean) => {
    const window = windowOf(key);
    const isKnown = window.used >= most && performance.now() - window.toldAt < ASK_AGAIN_MS;
    if (!shared || (isKnown && !isForced)) return undefined;
    // Names of callers can be personal data, and addresses are, so keys in Redis contain a hash.
    const hashed = `rate:${name}:${hash('sha256', key, 'base64url').slice(0, 22)}`;
    window.asked += points;
    const answer = await shared
      .impatience(() => shared.redis.eval(COUNT, 1, hashed, points, most, windowMs, isForced ? 1 : 0))
      .catch(() => undefined);
    window.asked -= points;
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
    /** Consumes points whether they are left or not, or gives negative ones back. */
    change(key: string, points: number): void {
      const window = windowOf(key);
      window.used = Math.max(0, window.used + points);
      void ask(key, points, true);
    },
  };
}
