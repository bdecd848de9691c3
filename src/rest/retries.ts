import { DelegateBackoff, handleType, retry } from 'cockatiel';
import type { Call } from './call.ts';
import type { UpstreamError } from './errors.ts';

/** How often a call is sent again at most. */
const MAX_RETRIES = 2;
/** The longest random wait before the first retry, in milliseconds; doubled before the next. */
const BASE_MS = 100;
/** How many retries each call pays for: retries make up at most this share of recent traffic. */
const SHARE = 0.2;
/** How many retries can be saved up, which is what "recent" means: fifty calls. There are as many to begin with. */
const SAVED = 10;

/** Says that the call is to be sent again; never leaves this file. */
class Again extends Error {
  readonly delayMs: number;

  constructor(delayMs: number, cause: UpstreamError) {
    super('Again', { cause });
    this.delayMs = delayMs;
  }
}

export interface Failure {
  error: UpstreamError;
  /** Whether the request may have reached the service. */
  sent: boolean;
}

export interface Retries {
  /** Runs `attempt`, and again while `fail` lets it. */
  run<Result>(attempt: (number: number) => Promise<Result>): Promise<Result>;
  /** Throws what ends an attempt: the error itself, or the wish to try again. */
  fail(call: Call<unknown>, attempt: number, failure: Failure): never;
}

/**
 * Sends failed calls again: at most twice, only where the endpoint allows it, after a random wait (full jitter) on top of
 * what `Retry-After` asks, never past the call's deadline, and never more than the budget allows, so that retries cannot
 * finish off a service that is failing.
 */
export function createRetries(random: () => number, onRetry: (call: Call<unknown>) => void): Retries {
  let saved = SAVED;
  const policy = retry(handleType(Again), {
    maxAttempts: MAX_RETRIES,
    backoff: new DelegateBackoff(({ result }) =>
      'error' in result && result.error instanceof Again ? result.error.delayMs : 0,
    ),
  });

  function delayMs(call: Call<unknown>, attempt: number, { error, sent }: Failure): number | undefined {
    const { retry: rule } = call.endpoint;
    if (attempt >= MAX_RETRIES || call.cancelled || !error.retryable) return undefined;
    if (rule === 'never' || (rule === 'unsent' && sent)) return undefined;
    const delay = (error.retryAfterMs ?? 0) + random() * BASE_MS * 2 ** attempt;
    if (performance.now() + delay >= call.deadline || saved < 1) return undefined;
    return delay;
  }

  return {
    run(attempt) {
      saved = Math.min(saved + SHARE, SAVED);
      return policy.execute((context) => attempt(context.attempt));
    },
    fail(call, attempt, failure) {
      const delay = delayMs(call, attempt, failure);
      if (delay === undefined) throw failure.error;
      saved -= 1;
      onRetry(call);
      throw new Again(delay, failure.error);
    },
  };
}
