/*
 * Two reasons not to send calls: the breaker (after failures) and the throttle (after a 429).
 */
import type { Call } from './call.ts';
import { NotSent, UpstreamError } from './errors.ts';
import type { BreakerState } from './observer.ts';

/** Calls of the last ten seconds count, in steps of one second. */
const WINDOW_S = 10;
/** The share of them that must fail for the breaker to open. */
const FAILURE_SHARE = 0.5;
/** With fewer calls than this in the window, `FAILURE_SHARE` does not apply. */
const MIN_CALLS = 10;
/** This many failures in a row always open the breaker. */
const MAX_CONSECUTIVE = 20;

/** The permit of a call that the breaker allowed. The end of the call is reported once. */
interface BreakerPermit {
  succeed(): void;
  fail(error: unknown): void;
}

/**
 * Stops calls to a failing service. A call fails when it ends, after its retries, in 5xx, a timeout or a lost connection. The
 * breaker opens when more than half of the calls of the last ten seconds failed (of at least ten calls), or the last twenty
 * calls in a row. Then one trial call is sent every `intervalMs`, and all other calls fail at once, until a trial succeeds.
 *
 * A trial that hangs does not delay the next one, and a trial that succeeds late still closes the breaker. So a service is
 * used again one interval after it recovered, even when it is slower than the interval. Calls from before the breaker opened
 * do not count afterwards.
 */
export class Breaker {
  readonly #intervalMs: number;
  readonly #onChange: (state: BreakerState) => void;
  #state: BreakerState = 'closed';
  /** When the next trial may be sent, on the clock of `performance.now()`. */
  #trialAt = 0;
  /** Shared by all calls between two openings, so that calls from before an opening do not count. */
  #counting = this.#newCounting();

  constructor(intervalMs: number, onChange: (state: BreakerState) => void) {
    this.#intervalMs = intervalMs;
    this.#onChange = onChange;
  }

  /**
   * `half-open` as soon as a trial may be sent, even without a call. Otherwise a load balancer that sends no requests to a
   * gateway with an open breaker would keep it open forever.
   */
  get state(): BreakerState {
    return this.#state === 'open' && performance.now() >= this.#trialAt ? 'half-open' : this.#state;
  }

  /** Allows a call. Throws a `NotSent` while the breaker is open, unless the call can be a trial. */
  admit(): BreakerPermit {
    return this.#state === 'closed' ? this.#counting : this.#trial();
  }

  /** Throws a `NotSent` when the breaker has opened since a call was allowed. */
  check(): void {
    const leftMs = this.#state === 'open' ? this.#trialAt - performance.now() : 0;
    if (leftMs > 0) throw new NotSent('the breaker is open', leftMs);
  }

  #newCounting(): BreakerPermit {
    const counts = new RecentCounts();
    const permit: BreakerPermit = {
      succeed: () => counts.add(false),
      fail: (error) => {
        const kind = classify(error);
        if (kind !== 'nothing') counts.add(kind === 'failure');
        if (this.#counting === permit && counts.exceedsThreshold()) this.#open();
      },
    };
    return permit;
  }

  #trial(): BreakerPermit {
    const now = performance.now();
    if (now < this.#trialAt) throw new NotSent('the breaker is open', this.#trialAt - now);
    const nextTrialAt = now + this.#intervalMs;
    this.#trialAt = nextTrialAt;
    this.#become('half-open');
    return {
      succeed: () => this.#become('closed'),
      fail: (error) => {
        if (classify(error) === 'success') this.#become('closed');
        else if (this.#state === 'half-open' && this.#trialAt === nextTrialAt) this.#become('open');
      },
    };
  }

  #open(): void {
    this.#counting = this.#newCounting();
    this.#trialAt = performance.now() + this.#intervalMs;
    this.#become('open');
  }

  #become(state: BreakerState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#onChange(state);
  }
}

/**
 * Whether the error of a call counts as a failure of the service. A call that was not sent, or whose client disconnected, does
 * not count. A 4xx is a success: the service works.
 */
function classify(error: unknown): 'failure' | 'success' | 'nothing' {
  if (error instanceof NotSent || !(error instanceof UpstreamError)) return 'nothing';
  switch (error.code) {
    case 'UPSTREAM_TIMEOUT':
      return 'failure';
    case 'UPSTREAM_UNAVAILABLE':
      return error.status === undefined || error.status >= 500 ? 'failure' : 'success';
    case 'CANCELLED':
    case 'OVERLOADED':
      return 'nothing';
    default:
      return 'success';
  }
}

/** Calls and failures of the last seconds, one entry for each second with calls, and the failures in a row. */
class RecentCounts {
  #seconds: { at: number; calls: number; failures: number }[] = [];
  #consecutive = 0;

  add(failed: boolean): void {
    const at = Math.floor(performance.now() / 1_000);
    let last = this.#seconds.at(-1);
    if (last?.at !== at) {
      last = { at, calls: 0, failures: 0 };
      this.#seconds = [...this.#seconds.filter((second) => second.at > at - WINDOW_S), last];
    }
    last.calls += 1;
    if (failed) last.failures += 1;
    this.#consecutive = failed ? this.#consecutive + 1 : 0;
  }

  exceedsThreshold(): boolean {
    const calls = this.#seconds.reduce((sum, second) => sum + second.calls, 0);
    const failures = this.#seconds.reduce((sum, second) => sum + second.failures, 0);
    return this.#consecutive >= MAX_CONSECUTIVE || (calls >= MIN_CALLS && failures / calls > FAILURE_SHARE);
  }
}

/** The first pause after a 429 without `Retry-After`, in milliseconds; doubled by each further 429, up to the longest. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 1_000;
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
    const growing = Math.min(FIRST_PAUSE_MS * 2 ** this.#pauses, LONGEST_PAUSE_MS);
    if (this.leftMs === 0) this.#pauses += 1;
    this.#until = Math.max(this.#until, performance.now() + (retryAfterMs ?? growing));
  }

  /** Called after a response with any other status. */
  reset(): void {
    if (this.#pauses === 0 || this.leftMs > 0) return;
    this.#pauses = 0;
    this.#until = 0;
  }

  /**
   * Resolves when there is no pause. Rejects with a `NotSent` when that is after `deadline` (of `performance.now()`), and at
   * once when the call is cancelled.
   */
  async wait(call: Call, deadline: number): Promise<void> {
    while (this.leftMs > 0) {
      const ms = this.leftMs + SPREAD_MS * this.#random();
      if (performance.now() + ms > deadline || this.#waiting >= MAX_WAITING) {
        throw new NotSent('the service asked for a pause', this.leftMs);
      }
      this.#waiting += 1;
      await call.sleep(ms).finally(() => {
        this.#waiting -= 1;
      });
    }
  }
}
