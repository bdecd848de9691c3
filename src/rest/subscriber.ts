import type { SharedCall } from './call.ts';
import type { CallContext, CallRecord } from './call-context.ts';
import type { Cancellable } from './cancellation.ts';
import { cancelled, tooLate, UpstreamError } from './errors.ts';
import type { Observer } from './observe.ts';

export interface SubscribeOptions<Result> {
  /** How long an operation waits at most, in milliseconds; its own deadline may come before. */
  timeoutMs: number;
  observer: Observer;
  /** An answer to give in place of a failure that may pass; undefined when there is none. */
  fallback?: (() => Result | undefined) | undefined;
}

/** One operation that waits for a call, until the answer, its deadline or its abort, whichever comes first. */
export class Subscriber<Result> implements Cancellable {
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  readonly #call: SharedCall<Result>;
  readonly #op: CallContext;
  readonly #options: SubscribeOptions<Result>;
  readonly #started = performance.now();
  readonly #shared: boolean;
  #timer: NodeJS.Timeout | undefined;
  #over = false;
  #resolve: (result: Result) => void = nothing;
  #reject: (error: UpstreamError) => void = nothing;

  /** @param shared Whether others wait for the call already. */
  constructor(call: SharedCall<Result>, op: CallContext, options: SubscribeOptions<Result>, shared: boolean) {
    this.#call = call;
    this.#op = op;
    this.#options = options;
    this.#shared = shared;
    this.deadline = Math.min(this.#started + options.timeoutMs, op.deadline);
  }

  wait(): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#timer = setTimeout(onTime, this.deadline - this.#started, this);
      this.#op.cancellation.watch(this);
    });
  }

  /** The operation's time is over, or its client went away; without `late` the clock tells which. */
  cancel(late = performance.now() >= this.#op.deadline): void {
    if (this.#over) return;
    this.#fail((late ? tooLate : cancelled)(this.#call.endpoint));
    this.#call.left(this, late);
  }

  answered(result: Result): void {
    this.#resolve(result);
    this.#finish();
  }

  failed(error: unknown): void {
    this.#fail(error instanceof UpstreamError ? error : unexpected(error));
  }

  #fail(error: UpstreamError): void {
    const instead = error.retryable ? this.#options.fallback?.() : undefined;
    if (instead === undefined) this.#reject(error);
    else this.#resolve(instead);
    this.#finish(error.code, instead !== undefined);
  }

  #finish(error?: CallRecord['error'], stale = false): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#op.cancellation.unwatch(this);
    const { endpoint, status, attempts } = this.#call;
    const record: CallRecord = {
      method: endpoint.method,
      template: endpoint.template,
      status,
      ms: performance.now() - this.#started,
      attempts,
      shared: this.#shared,
      cached: stale,
      stale,
      error,
    };
    this.#options.observer.call?.(record);
    this.#op.onCall?.(record);
  }
}

function nothing(): void {}

function onTime(waiter: Cancellable): void {
  waiter.cancel(true);
}

function unexpected(cause: unknown): UpstreamError {
  return new UpstreamError('UPSTREAM_INVALID_RESPONSE', 'The answer could not be read', { cause });
}
