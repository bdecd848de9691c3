/*
 * One call to the REST service, and everyone who waits for it.
 *
 * A call belongs to no operation. Operations join it, each with a deadline and a signal of its own, and leave it when
 * either comes; the call goes on as long as one of them is left, and is cancelled when the last one leaves. So nobody can
 * spoil the answer of somebody else, and nothing goes on that nobody waits for.
 *
 * A healthy call costs one timer and one abort listener per operation that waits, and no AbortController: what has to be
 * stopped is told so directly.
 */
import type { Endpoint } from './endpoints.ts';
import { UpstreamError } from './errors.ts';
import type { Observer } from './observe.ts';
import type { CallRecord, Operation } from './operation.ts';
import type { Request, Sending } from './transport.ts';

/** Why a call was cancelled: its time was over, which the breaker counts, or its callers went away, which it does not. */
export class Cancelled extends Error {
  readonly late: boolean;

  constructor(late: boolean) {
    super(late ? 'Nobody waits any more: the time is over' : 'Nobody waits any more: the callers went away');
    this.late = late;
  }
}

export interface WaitOptions<Result> {
  /** How long the operation waits at most, in milliseconds; its own deadline may come before. */
  timeoutMs: number;
  /** Whether the call had been started for someone else. */
  shared: boolean;
  observer: Observer;
  /** An answer to give in place of a failure that may pass; undefined when there is none. */
  fallback?: (() => Result | undefined) | undefined;
}

export class Call<Result> {
  readonly endpoint: Endpoint;
  readonly request: Request;
  /** How often it was sent. */
  attempts = 0;
  /** The status of the last reply. */
  status: number | undefined;
  /** How long the body of the last reply was, in characters. */
  characters = 0;
  /** Whether an attempt that failed may have been carried out by the service all the same. */
  maybeDone = false;
  /** Until when the most patient operation waits, on the clock of `performance.now()`. */
  deadline = 0;
  cancelled: Cancelled | undefined;
  #sending: Sending | undefined;
  #waiting = 0;
  #result: Promise<Result> | undefined;

  constructor(endpoint: Endpoint, request: Request) {
    this.endpoint = endpoint;
    this.request = request;
  }

  /** Begins; everyone who joins is given what `run` comes to. */
  start(run: (call: Call<Result>) => Promise<Result>): void {
    this.#result = run(this);
  }

  /** What is under way for this call at the moment, so that it can be stopped. */
  set sending(sending: Sending | undefined) {
    this.#sending = sending;
  }

  /** Waits for the result on behalf of one operation. Rejects with an `UpstreamError`. */
  join(op: Operation, { timeoutMs, shared, observer, fallback }: WaitOptions<Result>): Promise<Result> {
    const result = this.#result;
    if (result === undefined) throw new TypeError('A call must be started before it is joined.');
    const started = performance.now();
    const patience = Math.min(timeoutMs, op.deadline - started);
    this.deadline = Math.max(this.deadline, started + patience);
    this.#waiting += 1;

    return new Promise((resolve, reject) => {
      let over = false;
      const timer = setTimeout(() => leave(true), patience);
      const onAbort = () => leave(performance.now() >= op.deadline);
      op.signal.addEventListener('abort', onAbort);

      const finish = (error: CallRecord['error'], stale = false) => {
        over = true;
        clearTimeout(timer);
        op.signal.removeEventListener('abort', onAbort);
        this.#waiting -= 1;
        const ms = performance.now() - started;
        const { endpoint, status, attempts } = this;
        report({
          method: endpoint.method,
          template: endpoint.template,
          status,
          ms,
          attempts,
          shared,
          cached: stale,
          stale,
          error,
        });
      };
      const report = (record: CallRecord) => {
        observer.call?.(record);
        op.onCall?.(record);
      };
      const fail = (error: UpstreamError, seen: CallRecord['error'] = error.code) => {
        const instead = error.retryable && seen !== 'CANCELLED' ? fallback?.() : undefined;
        finish(seen, instead !== undefined);
        if (instead === undefined) reject(error);
        else resolve(instead);
      };
      const leave = (late: boolean) => {
        fail(tooLate(this.endpoint), late ? 'UPSTREAM_TIMEOUT' : 'CANCELLED');
        if (this.#waiting === 0) this.#cancel(new Cancelled(late));
      };

      result.then(
        (value) => {
          if (over) return;
          finish(undefined);
          resolve(value);
        },
        (error: unknown) => {
          if (over) return;
          fail(error instanceof UpstreamError ? error : unexpected(this.endpoint, error));
        },
      );
    });
  }

  #cancel(reason: Cancelled): void {
    this.cancelled = reason;
    this.#sending?.abort(reason);
  }
}

/** An operation that went away is told the same as one whose time was over: nobody is there to see the difference. */
export function tooLate(endpoint: Endpoint): UpstreamError {
  return new UpstreamError('UPSTREAM_TIMEOUT', `${endpoint.name}: no answer in time`, { retryable: true });
}

function unexpected({ name }: Endpoint, cause: unknown): UpstreamError {
  return new UpstreamError('UPSTREAM_INVALID_RESPONSE', `${name}: the answer could not be read`, { cause });
}
