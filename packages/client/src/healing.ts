import { type GatewayResponse, isRetryable, type ResponseError } from './errors.ts';
import { hasData, inBackground, isPartial, pauseBeforeHealing, wait } from './retry.ts';

/** A query whose response had data, and errors that may be retried. */
export interface Partial {
  readonly response: GatewayResponse;
  /** How long the request took, in milliseconds. */
  readonly tookMs: number;
  /** Sends the query again. */
  readonly again: () => Promise<GatewayResponse>;
  /** Whether a screen still shows it, and lacks what the last response lacks. Asked before each request. */
  readonly isShown: (last: GatewayResponse) => boolean;
  /** Called with each response that has fewer errors than the ones before. */
  readonly improved: (response: GatewayResponse) => void;
  readonly signal: AbortSignal;
}

/**
 * Asks for the missing parts of a query that was already delivered, until they are there, nothing shows them any more, or
 * the signal aborts. The whole query is sent: a gateway that runs persisted documents alone knows no smaller one. So the
 * pauses grow.
 */
export async function heal({ response, tookMs, again, isShown, improved, signal }: Partial): Promise<void> {
  let last = response;
  let took = tookMs;
  for (let attempt = 1; isPartial(last); attempt += 1) {
    const pause = pauseBeforeHealing(attempt, last.errors ?? [], took);
    await wait(pause, signal, inBackground).catch(() => undefined);
    if (signal.aborted || !isShown(last)) return;
    const started = Date.now();
    // Without a response, the part is still missing.
    const next = await again().catch(() => undefined);
    took = Date.now() - started;
    if (signal.aborted) return;
    if (!next || !hasData(next) || missing(next.errors) >= missing(last.errors)) continue;
    improved(next);
    last = next;
  }
}

const missing = (errors: readonly ResponseError[] = []) => errors.filter(isRetryable).length;
