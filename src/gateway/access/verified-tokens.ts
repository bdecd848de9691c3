import type { Caller } from './caller.ts';

/** A caller whose token was verified, and when that ends, in milliseconds since 1970. */
export interface Verified {
  caller: Caller;
  expiresAt: number;
}

interface Entry extends Verified {
  generation: unknown;
}

/** How many tokens are remembered; the one remembered longest goes first. */
const MAX_REMEMBERED = 10_000;

/**
 * Verifying a signature costs about as much as a small request, so a verified token is remembered until it expires. The
 * key is a hash of the whole token, signature included. `generation` stands for the keys it was verified with: when they
 * change, nothing that was remembered holds.
 */
export function createRemembered() {
  const entries = new Map<string, Entry>();
  return {
    get(key: string, generation: unknown): Caller | undefined {
      const entry = entries.get(key);
      if (!entry) return undefined;
      if (entry.expiresAt > Date.now() && entry.generation === generation) return entry.caller;
      entries.delete(key);
      return undefined;
    },
    set(key: string, generation: unknown, { caller, expiresAt }: Verified): void {
      entries.set(key, { caller, expiresAt, generation });
      const [oldest] = entries.keys();
      if (entries.size > MAX_REMEMBERED && oldest !== undefined) entries.delete(oldest);
    },
  };
}
