import { breakerOpen } from './errors.ts';

export type BreakerState = 'closed' | 'half-open' | 'open';

/** Results are counted for this many milliseconds, then from zero again. */
const WINDOW_MS = 10_000;
/** The breaker opens when this many players had failures and these are more than half of all results in the window. */
const MIN_FAILURES = 10;
/** It also opens when this many players had failures without a success between them. */
const MAX_CONSECUTIVE = 20;
/** The time before the first trial; it doubles after each failed trial, up to the longest. In milliseconds. */
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** A success is any response but 5xx; `none` is a request that says nothing about the service. */
type Result = 'success' | 'failure' | 'none';

/** One request that the breaker allowed. */
export interface BreakerPermit {
  /** Whether it is the one request that decides whether the breaker closes. */
  readonly isTrial: boolean;
  /** Throws when the breaker has opened since. Called when the request leaves the queue for connections. */
  check(): void;
  /** Called once, when the request is over. */
  end(result: Result): void;
}

export interface BreakerOptions {
  /** A clock in milliseconds. */
  now(): number;
  onChange(state: BreakerState): void;
}

/**
 * Stops requests to a failing service. A failure counts once per player and window, so that one player's trouble opens the
 * breaker for nobody else. While it is open, one trial is sent after each back-off, until one succeeds.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #state: BreakerState = 'closed';
  #backOffMs = FIRST_MS;
  #trialAt = 0;
  #windowEnd = 0;
  /** The players with failures in the window. */
  #failing = new Set<string>();
  #successes = 0;
  #consecutive = 0;
  /** How often the breaker opened. Results of requests that were sent before do not count afterwards. */
  #openings = 0;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** `half-open` as soon as a trial may be sent: a balancer that sends nothing to an open gateway would never see it. */
  get state(): BreakerState {
    return this.#state === 'open' && this.#options.now() >= this.#trialAt ? 'half-open' : this.#state;
  }

  /** Allows one request about a player. Throws UPSTREAM_UNAVAILABLE while the breaker is open or a trial is under way. */
  admit(playerUniqueId: string): BreakerPermit {
    if (this.#state === 'closed') return this.#counted(playerUniqueId);
    const leftMs = this.#trialAt - this.#options.now();
    if (this.#state === 'half-open' || leftMs > 0) throw breakerOpen(Math.max(leftMs, FIRST_MS));
    this.#become('half-open');
    return { isTrial: true, check: () => undefined, end: (result) => this.#endTrial(result) };
  }

  #counted(playerUniqueId: string): BreakerPermit {
    const openings = this.#openings;
    const check = () => {
      if (this.#state !== 'closed') throw breakerOpen(Math.max(this.#trialAt - this.#options.now(), FIRST_MS));
    };
    const end = (result: Result) => {
      if (result !== 'none' && openings === this.#openings) this.#count(playerUniqueId, result === 'success');
    };
    return { isTrial: false, check, end };
  }

  #count(playerUniqueId: string, isSuccess: boolean): void {
    const now = this.#options.now();
    if (now >= this.#windowEnd) this.#startWindow(now);
    if (isSuccess) {
      this.#successes += 1;
      this.#consecutive = 0;
    } else if (!this.#failing.has(playerUniqueId)) {
      this.#failing.add(playerUniqueId);
      this.#consecutive += 1;
    }
    const isMajority = this.#failing.size >= MIN_FAILURES && this.#failing.size > this.#successes;
    if (isMajority || this.#consecutive >= MAX_CONSECUTIVE) this.#open(FIRST_MS);
  }

  #startWindow(now: number): void {
    this.#windowEnd = now + WINDOW_MS;
    this.#failing.clear();
    this.#successes = 0;
  }

  #endTrial(result: Result): void {
    if (result === 'success') this.#become('closed');
    else this.#open(result === 'failure' ? this.#backOffMs * 2 : this.#backOffMs);
  }

  #open(backOffMs: number): void {
    const now = this.#options.now();
    this.#backOffMs = Math.min(backOffMs, LONGEST_MS);
    this.#trialAt = now + this.#backOffMs;
    this.#openings += 1;
    this.#consecutive = 0;
    this.#startWindow(now);
    this.#become('open');
  }

  #become(state: BreakerState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onChange(state);
  }
}
