import {
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
  type IBreaker,
  SamplingBreaker,
} from 'cockatiel';
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

export interface Breaker {
  readonly state: BreakerState;
  /** Throws a `NotTried` while the breaker is open. */
  assertNotOpen(): void;
  /** Runs a call unless it must not be sent now, and counts what becomes of it. */
  run<Result>(call: () => Promise<Result>): Promise<Result>;
}

/**
 * Stops calls to a service that fails: more than half of the last ten seconds' calls, ten at least, or the last twenty
 * without exception, ended in 5xx, a timeout or a lost connection after their retries. Then nothing is sent for `intervalMs`, one call is let through to see, and so on
 * until one succeeds.
 *
 * Two things are added to cockatiel's breaker. While the one call is on its way the others fail at once; cockatiel lets
 * them wait for it, which is as long as the service may hang. And when nothing comes of that call, since its client went
 * away for example, the breaker stays open; cockatiel would close it.
 */
export function createBreaker(intervalMs: number, onChange: (state: BreakerState) => void): Breaker {
  let opened = 0;
  const policy: CircuitBreakerPolicy = circuitBreaker(
    handleWhen((error) => {
      const verdict = verdictOf(error);
      return verdict === 'failed' || (verdict === 'nothing' && policy.state === CircuitState.HalfOpen);
    }),
    {
      halfOpenAfter: intervalMs,
      breaker: either(
        new SamplingBreaker({ threshold: THRESHOLD, duration: WINDOW_MS, minimumRps: MINIMUM_RPS }),
        new ConsecutiveBreaker(IN_A_ROW),
      ),
    },
  );
  policy.onBreak(() => {
    opened = Date.now();
  });
  policy.onStateChange((state) => onChange(nameOf(state)));

  const assertNotOpen = () => {
    if (policy.state !== CircuitState.Open) return;
    const left = opened + intervalMs - Date.now();
    if (left > 0) throw new NotTried('the service fails, the breaker is open', left);
  };

  return {
    get state() {
      return nameOf(policy.state);
    },
    assertNotOpen,
    async run(call) {
      assertNotOpen();
      if (policy.state === CircuitState.HalfOpen)
        throw new NotTried('another call tries the service first', intervalMs);
      return await policy.execute(call);
    },
  };
}

/** What a failed call says about the service: that it fails, that it is there, or nothing. */
function verdictOf(error: Error): 'failed' | 'answered' | 'nothing' {
  if (error instanceof Cancelled) return error.late ? 'failed' : 'nothing';
  if (error instanceof NotTried) return 'nothing';
  const failed = error instanceof UpstreamError && error.code === 'UPSTREAM_UNAVAILABLE' && error.status !== 429;
  return failed ? 'failed' : 'answered';
}

/** Opens when one of them does. Each has to see everything. */
function either(...breakers: IBreaker[]): IBreaker {
  return {
    state: undefined,
    success(state) {
      for (const breaker of breakers) breaker.success(state);
    },
    failure: (state) => breakers.map((breaker) => breaker.failure(state)).includes(true),
  };
}

function nameOf(state: CircuitState): BreakerState {
  switch (state) {
    case CircuitState.Closed:
      return 'closed';
    case CircuitState.HalfOpen:
      return 'half-open';
    case CircuitState.Open:
    case CircuitState.Isolated:
      return 'open';
  }
}
