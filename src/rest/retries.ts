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

export interface Failure {
  error: UpstreamError;
  /** Whether the request may have reached the service. */
  sent: boolean;
}

/**
 * When failed calls are sent again: at most twice, only where the endpoint allows it, after a random wait (full jitter) on
 * top of what `Retry-After` asks, never past the call's deadline, and never more than the budget allows, so that retries
 * cannot finish off a service that is failing.
 */
export class Retries {
  readonly #random: () => number;
  #saved = SAVED;

  /** @param random A number from 0 up to 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Every call that is begun pays for its share of a retry. */
  pay(): void {
    this.#saved = Math.min(this.#saved + SHARE, SAVED);
  }

  /** Takes a retry from the budget and answers after how many milliseconds it is due; undefined when there is none. */
  take(call: Call, attempt: number, { error, sent }: Failure): number | undefined {
    const { retry: rule } = call.endpoint;
    if (attempt >= MAX_RETRIES || call.cancelled || !error.retryable) return undefined;
    if (rule === 'never' || (rule === 'unsent' && sent)) return undefined;
    const delayMs = (error.retryAfterMs ?? 0) + this.#random() * BASE_MS * 2 ** attempt;
    if (performance.now() + delayMs >= call.deadline || this.#saved < 1) return undefined;
    this.#saved -= 1;
    return delayMs;
  }
}
