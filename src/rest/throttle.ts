import { NotTried } from './errors.ts';

/** The first pause after a 429 that names none, in milliseconds; doubled with every 429 after it. */
const FIRST_MS = 200;
const LONGEST_MS = 1_000;
/**
 * Those who waited go on spread over this many milliseconds. When the first of them is answered 429 again, the others
 * find the next pause begun.
 */
const SPREAD_MS = 100;

/**
 * A service that answers 429 is left alone by everyone for as long as it says, or for a little, growing while it goes on
 * saying so. Calls whose time allows wait for the end; the others, and those above `maxWaiting`, fail at once.
 */
export class Throttle {
  readonly #maxWaiting: number;
  readonly #random: () => number;
  #until = 0;
  #streak = 0;
  #waiting = 0;

  constructor(maxWaiting: number, random: () => number) {
    this.#maxWaiting = maxWaiting;
    this.#random = random;
  }

  /** For how many milliseconds the pause still lasts; 0 when there is none. */
  get leftMs(): number {
    return this.#until === 0 ? 0 : Math.max(this.#until - performance.now(), 0);
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** The service answered 429. The calls that were on their way together count as one. */
  begin(askedMs: number | undefined): void {
    const growing = Math.min(FIRST_MS * 2 ** this.#streak, LONGEST_MS);
    if (this.leftMs === 0) this.#streak += 1;
    this.#until = Math.max(this.#until, performance.now() + (askedMs ?? growing));
  }

  /** The service answered anything else. */
  end(): void {
    if (this.#streak === 0 || this.leftMs > 0) return;
    this.#streak = 0;
    this.#until = 0;
  }

  /** Resolves when this pause is over, and another may have begun; rejects when that is after `deadline` (on the clock of `performance.now()`). */
  async over(deadline: number): Promise<void> {
    const ms = this.leftMs + SPREAD_MS * this.#random();
    if (performance.now() + ms > deadline || this.#waiting >= this.#maxWaiting) {
      throw new NotTried('the service asked for a pause', this.leftMs);
    }
    this.#waiting += 1;
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#waiting -= 1;
  }
}
