import { NotSent } from './errors.ts';

/** The first pause after a 429 without `Retry-After`, in milliseconds; doubled by each further 429, up to the longest. */
const FIRST_MS = 200;
const LONGEST_MS = 1_000;
/** After a pause, the waiting calls are spread over this many milliseconds, so that the next 429 stops the rest. */
const SPREAD_MS = 100;
/** How many calls may wait for the end of a pause; the next one fails at once. */
const MAX_WAITING = 1_000;

/**
 * Pauses all calls after a 429: for the time that the service requests, else with exponential backoff. Calls wait for the end
 * of the pause if their deadline allows it; the others fail at once.
 */
export class Throttle {
  readonly #random: () => number;
  #until = 0;
  /** How many pauses began without a normal response between them. */
  #pauses = 0;
  #waiting = 0;

  /** @param random A number from 0 up to 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** How many milliseconds of the pause are left; 0 without one. */
  get leftMs(): number {
    return this.#until === 0 ? 0 : Math.max(this.#until - performance.now(), 0);
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Called after a 429. Several 429s for requests that were in flight together count as one. */
  pause(retryAfterMs: number | undefined): void {
    const growing = Math.min(FIRST_MS * 2 ** this.#pauses, LONGEST_MS);
    if (this.leftMs === 0) this.#pauses += 1;
    this.#until = Math.max(this.#until, performance.now() + (retryAfterMs ?? growing));
  }

  /** Called after a response with any other status. */
  reset(): void {
    if (this.#pauses === 0 || this.leftMs > 0) return;
    this.#pauses = 0;
    this.#until = 0;
  }

  /** Resolves when there is no pause; rejects with a `NotSent` when that is after `deadline` (of `performance.now()`). */
  async wait(deadline: number): Promise<void> {
    while (this.leftMs > 0) {
      const ms = this.leftMs + SPREAD_MS * this.#random();
      if (performance.now() + ms > deadline || this.#waiting >= MAX_WAITING) {
        throw new NotSent('the service asked for a pause', this.leftMs);
      }
      this.#waiting += 1;
      await new Promise((resolve) => setTimeout(resolve, ms));
      this.#waiting -= 1;
    }
  }
}
