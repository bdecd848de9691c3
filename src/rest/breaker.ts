import { breakerOpen } from './errors.ts';

export type BreakerState = 'closed' | 'half-open' | 'open';

/** Requests of this many milliseconds count. */
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
  /** The last time of each player's counted failure, the oldest first. */
  #failures = new Map<string, number>();
  #consecutive = 0;
  /** Successes per second of the window, the oldest first. */
  #successes = new Map<number, number>();

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

  /** Results of requests that were sent before the breaker opened do not count afterwards. */
  #counted(playerUniqueId: string): BreakerPermit {
    const failures = this.#failures;
    const isCurrent = () => this.#state === 'closed' && this.#failures === failures;
    const check = () => {
      if (this.#state !== 'closed') throw breakerOpen(Math.max(this.#trialAt - this.#options.now(), FIRST_MS));
    };
    return { isTrial: false, check, end: (result) => isCurrent() && this.#count(playerUniqueId, result) };
  }

  #count(playerUniqueId: string, result: Result): void {
    const now = this.#options.now();
    const second = Math.floor(now / 1_000);
    if (result === 'success') {
      this.#consecutive = 0;
      this.#successes.set(second, (this.#successes.get(second) ?? 0) + 1);
    }
    for (const at of this.#successes.keys()) if (at <= second - WINDOW_MS / 1_000) this.#successes.delete(at);
    if (result !== 'failure') return;
    for (const [id, at] of this.#failures) {
      if (at > now - WINDOW_MS) break;
      this.#failures.delete(id);
    }
    if (this.#failures.has(playerUniqueId)) return;
    this.#failures.set(playerUniqueId, now);
    this.#consecutive += 1;
    let successes = 0;
    for (const count of this.#successes.values()) successes += count;
    const isMajority = this.#failures.size >= MIN_FAILURES && this.#failures.size > successes;
    if (isMajority || this.#consecutive >= MAX_CONSECUTIVE) this.#open(FIRST_MS);
  }

  #endTrial(result: Result): void {
    if (result !== 'success') return this.#open(result === 'failure' ? this.#backOffMs * 2 : this.#backOffMs);
    this.#failures = new Map();
    this.#become('closed');
  }

  #open(backOffMs: number): void {
    this.#backOffMs = Math.min(backOffMs, LONGEST_MS);
    this.#trialAt = this.#options.now() + this.#backOffMs;
    this.#failures = new Map();
    this.#successes = new Map();
    this.#consecutive = 0;
    this.#become('open');
  }

  #become(state: BreakerState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onChange(state);
  }
}
