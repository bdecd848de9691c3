/** The largest and the first number of retries in the budget. */
const MAX = 10;
/** How much each call adds: retries are at most this share of recent calls, */
const SHARE = 0.2;
/** and at least this many a second, so that a quiet gateway retries too. */
const PER_SECOND = 1;

/** Limits retries, so that they do not overload a failing service. */
export class RetryBudget {
  readonly #now: () => number;
  #left = MAX;
  #filledAt: number;

  /** @param now A clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
    this.#filledAt = now();
  }

  /** Called once for every call. */
  earn(): void {
    this.#add(SHARE);
  }

  /** Takes one retry; false when there is none. */
  take(): boolean {
    const now = this.#now();
    this.#add(((now - this.#filledAt) * PER_SECOND) / 1_000);
    this.#filledAt = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  #add(amount: number): void {
    this.#left = Math.min(this.#left + amount, MAX);
  }
}
