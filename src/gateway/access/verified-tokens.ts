import type { Caller } from './caller.ts';

/** A caller whose token was verified, and until when that holds, in milliseconds since 1970. */
export interface Verified {
  caller: Caller;
  expiresAt: number;
}

interface Entry extends Verified {
  generation: unknown;
}

/** How many tokens are kept; the oldest go first. */
const MAX_TOKENS = 10_000;

/**
 * Verifying a signature costs about as much as a small request, so verified tokens are kept until they expire. The key is a
 * hash of the whole token, signature included. `generation` stands for the keys it was verified with: when they change,
 * nothing that was kept holds.
 */
export class VerifiedTokens {
  readonly #entries = new Map<string, Entry>();

  get(digest: string, generation: unknown): Caller | undefined {
    const entry = this.#entries.get(digest);
    if (!entry) return undefined;
    if (entry.expiresAt > Date.now() && entry.generation === generation) return entry.caller;
    this.#entries.delete(digest);
    return undefined;
  }

  set(digest: string, generation: unknown, { caller, expiresAt }: Verified): void {
    this.#entries.set(digest, { caller, expiresAt, generation });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_TOKENS && oldest !== undefined) this.#entries.delete(oldest);
  }
}
