import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  circuitBreaker,
  handleWhen,
  SamplingBreaker,
} from 'cockatiel';
import { Cancelled } from './call.ts';
import { notTried } from './errors.ts';
import type { BreakerState } from './health.ts';
import { NoReply, type Reply } from './transport.ts';

/** Over how long failures are counted, in milliseconds. */
const WINDOW_MS = 10_000;
/** The share of calls that must fail for the breaker to open. */
const THRESHOLD = 0.5;
/** Below this many calls a second, over the window, nothing is concluded. */
const MINIMUM_RPS = 0.5;

export interface Breaker {
  readonly state: BreakerState;
  /** Throws when no call may be sent now. */
  admit(): void;
  /** Sends through the breaker, which counts what becomes of it. */
  run(exchange: () => Promise<Reply>): Promise<Reply>;
}

/**
 * Stops calls to a service that fails: more than half of the last ten seconds' calls ended in 5xx, a timeout or a lost
 * connection. Then nothing is sent for `intervalMs`, one call is let through to see, and so on until one succeeds.
 *
 * Two things are added to cockatiel's breaker. While the one call is on its way the others fail at once; cockatiel lets
 * them wait for it, which is as long as the service may hang. And that call's callers going away says nothing about the
 * service; cockatiel would close the breaker.
 */
export function createBreaker(intervalMs: number, onChange: (state: BreakerState) => void): Breaker {
  let opened = 0;
  const policy: CircuitBreakerPolicy = circuitBreaker(
    handleWhen(
      (error) => countsAgainstService(error) || (error instanceof Cancelled && state() === 'half-open'),
    ).orWhenResult((reply) => isServerError(reply)),
    {
      halfOpenAfter: intervalMs,
      breaker: new SamplingBreaker({ threshold: THRESHOLD, duration: WINDOW_MS, minimumRps: MINIMUM_RPS }),
    },
  );
  policy.onBreak(() => {
    opened = Date.now();
  });
  policy.onStateChange(() => onChange(state()));

  function state(): BreakerState {
    switch (policy.state) {
      case CircuitState.Closed:
        return 'closed';
      case CircuitState.HalfOpen:
        return 'half-open';
      default:
        return 'open';
    }
  }

  const broken = (waitMs: number) => notTried('the service fails, the breaker is open', Math.max(waitMs, 1));

  return {
    get state() {
      return state();
    },
    admit() {
      if (policy.state === CircuitState.Closed) return;
      const left = opened + intervalMs - Date.now();
      if (policy.state === CircuitState.HalfOpen) throw broken(intervalMs);
      if (left > 0) throw broken(left);
    },
    async run(exchange) {
      try {
        return await policy.execute(exchange);
      } catch (error) {
        throw error instanceof BrokenCircuitError ? broken(intervalMs) : error;
      }
    },
  };
}

function countsAgainstService(error: Error): boolean {
  return error instanceof Cancelled ? error.late : error instanceof NoReply && error.reason === 'connection';
}

function isServerError(reply: unknown): boolean {
  return typeof reply === 'object' && reply !== null && 'status' in reply && Number(reply.status) >= 500;
}
