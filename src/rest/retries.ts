import type { Call } from './call.ts';
import type { UpstreamError } from './errors.ts';

/** How often a call is sent again at most. */
const MAX_RETRIES = 2;
/** The longest random delay before the first retry, in milliseconds; doubled for the second. */
const BASE_DELAY_MS = 100;
/** How much each call adds to the budget of retries: retries are at most this share of recent calls. */
const SHARE = 0.2;
/** The largest and the first value of the budget. Fifty calls fill it, so "recent" means the last fifty calls. */
const MAX_BUDGET = 10;

/** A failed attempt. */
export interface Failure {
  error: UpstreamError;
  /** Whether the request may have reached the service. */
  sent: boolean;
}

/**
 * Decides which failed calls are sent again: at most twice, only if the endpoint allows it, after `Retry-After` and a random
 * delay (full jitter), within the call's timeout, and within a budget, so that retries do not overload a failing service.
 */
export class Retries {
  readonly #random: () => number;
  #budget = MAX_BUDGET;

  /** @param random A number from 0 up to 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Adds to the budget of retries. Called once for every call. */
  earn(): void {
    this.#budget = Math.min(this.#budget + SHARE, MAX_BUDGET);
  }

  /** The delay before the next retry, in milliseconds, taken from the budget; undefined: the call is not sent again. */
  delayMs(call: Call, { error, sent }: Failure): number | undefined {
    const { retry } = call.endpoint;
    const retries = call.attempts - 1;
    if (retries >= MAX_RETRIES || call.cancelled || !error.retryable) return undefined;
    if (retry === 'never' || (retry === 'unsent' && sent)) return undefined;
    const delayMs = (error.retryAfterMs ?? 0) + this.#random() * BASE_DELAY_MS * 2 ** retries;
    const leftMs = Math.min(call.timeLeftMs, call.deadline - performance.now());
    if (delayMs >= leftMs || this.#budget < 1) return undefined;
    this.#budget -= 1;
    return delayMs;
  }
}
