import { CircuitState, ConsecutiveBreaker, type IBreaker, SamplingBreaker } from 'cockatiel';
import { Cancelled } from './call.ts';
import { NotTried, UpstreamError } from './errors.ts';
import type { BreakerState } from './health.ts';

/** Over how long calls are counted, in milliseconds. */
const WINDOW_MS = 10_000;
/** The share of them that must fail for the breaker to open. */
const THRESHOLD = 0.5;
/** With fewer calls a second than this, over the window, nothing is concluded. */
const MINIMUM_RPS = 1;
/** So many failures without a success between them open the breaker at once, whatever was before. */
const IN_A_ROW = 20;

/** Told once what became of a call. */
export interface Judge {
  answered(): void;
  failed(error: unknown): void;
}

export interface Breaker {
  /**
   * Open means that nothing is let through: once a trial is due it is half-open, though nobody has come to send it yet.
   * Else a balancer that sends nothing to an open breaker would keep it open for ever.
   */
  readonly state: BreakerState;
  /** Why nothing is to be sent at this moment; undefined unless the breaker is open. */
  refusal(): NotTried | undefined;
  /** Lets a call begin, and is told what becomes of it. Throws a `NotTried` for one that must not be sent now. */
  admit(): Judge;
}

/**
 * Stops calls to a service that fails: more than half of the last ten seconds' calls, ten at least, or the last twenty
 * without exception, ended in 5xx, a timeout or a lost connection after their retries. Then one call is let through every
 * `intervalMs` to see, and the others fail at once, until one of those is answered.
 *
 * Cockatiel counts; the states are our own. Its policy lets one trial be sent at a time, and has the other calls wait for
 * it, which is as long as the service may hang. Here the next trial is sent on time though the last one hangs, so that a
 * service is back in use an interval after it recovered; and a trial that is answered late counts all the same, so that a
 * service is let back that is slower than the interval. A trial that nothing came of, since its client went away for
 * example, says nothing, and neither does a call from before the breaker opened.
 */
export function createBreaker(intervalMs: number, onChange: (state: BreakerState) => void): Breaker {
  let state: BreakerState = 'closed';
  let counter = newCounter();
  /** From when on the next trial may be sent, on the clock of `performance.now()`. */
  let trialAt = 0;

  function become(next: BreakerState): void {
    if (next === state) return;
    state = next;
    onChange(next);
  }

  function open(): void {
    counter = newCounter();
    trialAt = performance.now() + intervalMs;
    become('open');
  }

  /** One for all calls of a time, so that those from before the breaker opened count for nothing after. */
  function newCounter(): Judge {
    const counts = newCounts();
    const counting = {
      answered: () => counts.success(CircuitState.Closed),
      failed(error: unknown) {
        if (verdictOf(error) === 'failed' && counts.failure(CircuitState.Closed) && counting === counter) open();
      },
    };
    return counting;
  }

  function trial(): Judge {
    const leftMs = trialAt - performance.now();
    if (leftMs > 0) throw new NotTried('the service fails, and another call tries it first', leftMs);
    const next = performance.now() + intervalMs;
    trialAt = next;
    become('half-open');
    return {
      answered: () => become('closed'),
      failed(error) {
        if (verdictOf(error) === 'answered') become('closed');
        else if (state === 'half-open' && trialAt === next) become('open');
      },
    };
  }

  return {
    get state() {
      return state === 'open' && performance.now() >= trialAt ? 'half-open' : state;
    },
    refusal() {
      if (state !== 'open') return undefined;
      const leftMs = trialAt - performance.now();
      return leftMs > 0 ? new NotTried('the service fails, the breaker is open', leftMs) : undefined;
    },
    admit: () => (state === 'closed' ? counter : trial()),
  };
}

/** What a failed call says about the service: that it fails, that it is there, or nothing. */
function verdictOf(error: unknown): 'failed' | 'answered' | 'nothing' {
  if (error instanceof Cancelled) return error.late ? 'failed' : 'nothing';
  if (error instanceof NotTried) return 'nothing';
  const failed = error instanceof UpstreamError && error.code === 'UPSTREAM_UNAVAILABLE' && error.status !== 429;
  return failed ? 'failed' : 'answered';
}

/** Opens when one of them does. Each has to see everything. */
function newCounts(): IBreaker {
  const breakers = [
    new SamplingBreaker({ threshold: THRESHOLD, duration: WINDOW_MS, minimumRps: MINIMUM_RPS }),
    new ConsecutiveBreaker(IN_A_ROW),
  ];
  return {
    state: undefined,
    success(state) {
      for (const breaker of breakers) breaker.success(state);
    },
    failure: (state) => breakers.map((breaker) => breaker.failure(state)).includes(true),
  };
}
