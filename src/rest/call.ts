/*
 * A call to the REST service, and the operations that subscribe to its result.
 *
 * A call belongs to no operation. Operations subscribe to it. An operation unsubscribes when its deadline passes or its client
 * disconnects. The call continues while it has a subscriber, and is cancelled when the last one unsubscribes. So the end of
 * one operation does not affect the others, and no call continues that no operation needs.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CallContext, CallRecord, Cancellable } from './call-context.ts';
import type { Endpoint } from './endpoints.ts';
import { cancelled, timedOut, UpstreamError } from './errors.ts';
import type { Observer } from './observer.ts';
import { refusalIn } from './refusal.ts';
import type { IdentifiedRequest } from './request.ts';
import type { Exchange, Response } from './transport.ts';

/**
 * A call that ends at an operation's deadline counts as the service's failure only if it was in flight for at least this share
 * of `timeoutMs`. Example: with a timeout of 3 s, a call in flight for 1 s is not a failure, one in flight for 2 s is.
 */
const MIN_SHARE_IN_FLIGHT = 1 / 2;

/** What a call is doing: `abort` ends it. */
interface Step {
  abort(reason: Error): void;
}

/** The request and its state. */
export class Call {
  readonly endpoint: Endpoint;
  readonly request: IdentifiedRequest;
  /** The player it is about. */
  readonly playerUniqueId: string;
  /** The caller whose share of the connections it uses; undefined: it is not limited to a share. */
  readonly callerKey: string | undefined;
  readonly #timeoutMs: number;
  /** The rest of the call's timeout, in milliseconds. Time spent waiting for a connection does not count. */
  timeLeftMs: number;
  /** The latest deadline of the operations that need it, on the clock of `performance.now()`. */
  deadline = 0;
  /** How long it has waited for connections, in milliseconds. */
  queueMs = 0;
  /** How often it was sent. */
  attempts = 0;
  /** The status of the last attempt's response; undefined without one. */
  status: number | undefined;
  /** The length of that response's body. */
  bytes = 0;
  /** Whether the service may have carried out an attempt that failed. */
  maybeDone = false;
  /** Why the call was ended before its response; undefined while it was not. */
  cancelledBy: UpstreamError | undefined;
  /** The current step of the call. */
  #step: Step | undefined;
  #exchange: Exchange | undefined;
  #sentAt = 0;

  constructor(endpoint: Endpoint, request: IdentifiedRequest, playerUniqueId: string, options: CallOptions) {
    this.endpoint = endpoint;
    this.request = request;
    this.playerUniqueId = playerUniqueId;
    this.callerKey = options.callerKey;
    this.#timeoutMs = options.timeoutMs;
    this.timeLeftMs = options.timeoutMs;
  }

  /** Called when an attempt begins. */
  begin(exchange: Exchange): void {
    this.#exchange = exchange;
    this.#step = exchange;
    this.#sentAt = performance.now();
    this.attempts += 1;
    this.status = undefined;
  }

  /** Called when an attempt ends, with its response or error. */
  end(response: Response | Error, ms: number): void {
    const wasSent = this.#exchange?.sent ?? false;
    this.#exchange = undefined;
    this.#step = undefined;
    this.timeLeftMs -= ms;
    if (response instanceof Error) {
      this.maybeDone ||= wasSent;
    } else {
      this.status = response.status;
      this.bytes = response.body.length;
      this.maybeDone ||= response.status >= 500;
    }
  }

  /** Whether it waits for a connection, for a retry, or for the end of a pause. */
  get isWaiting(): boolean {
    return this.#step !== undefined && this.#exchange === undefined;
  }

  /** Waits for the end of a step that is no exchange. `cancel` aborts it. */
  async during(step: Step, end: Promise<void>): Promise<void> {
    this.#step = step;
    await end;
    this.#step = undefined;
  }

  /** Waits for `ms` milliseconds. Rejects at once with the reason when the call is cancelled. */
  async sleep(ms: number): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    await this.during(
      controller,
      delay(ms, undefined, { signal }).catch(() => undefined),
    );
    if (this.cancelledBy) throw this.cancelledBy;
  }

  /** Ends the call at once. */
  cancel(reason: UpstreamError): void {
    this.cancelledBy = reason;
    this.#step?.abort(reason);
  }

  /** Ends the call when no operation needs the result. A timeout is the service's failure only after `MIN_SHARE_IN_FLIGHT`. */
  abandon(isTimeout: boolean): void {
    const wasLongEnough = this.#exchange && performance.now() - this.#sentAt >= this.#timeoutMs * MIN_SHARE_IN_FLIGHT;
    this.cancel(isTimeout && wasLongEnough ? timedOut(this.endpoint) : cancelled(this.endpoint));
  }

  /**
   * The error for an operation. The error of a write has its outcome. It is retryable only if the write was certainly not done.
   * An event is retryable only if it was not even sent: an event that counts twice cannot be undone.
   */
  withOutcome(error: UpstreamError): UpstreamError {
    if (this.endpoint.method === 'GET') return error;
    const isRefused = this.status !== undefined && this.status >= 400 && this.status < 500;
    const maybeSent = this.maybeDone || (this.#exchange?.sent ?? false) || this.status !== undefined;
    const isNotDone = !maybeSent || (isRefused && !this.maybeDone);
    const mayRepeat = this.endpoint.retry === 'never' ? !maybeSent : isNotDone;
    return error.with({ outcome: isNotDone ? 'NOT_DONE' : 'UNKNOWN', retryable: error.retryable && mayRepeat });
  }
}

interface CallOptions {
  /** How long the call may take once it has a connection, retries included, in milliseconds. */
  timeoutMs: number;
  callerKey: string | undefined;
}

/** One operation that needs the result of a call. */
interface Subscriber<Result> extends Cancellable {
  succeed(result: Result): void;
  fail(error: UpstreamError): void;
}

/** A call and the operations that need its result. */
export class SubscribedCall<Result> extends Call {
  readonly #subscribers: Subscriber<Result>[] = [];

  /**
   * Resolves to the call's result, or rejects with an `UpstreamError` when it fails or the operation ends before it.
   *
   * @param fallback A result to use in place of a temporary failure; undefined when there is none.
   */
  subscribe(context: CallContext, observer: Observer, fallback?: () => Result | undefined): Promise<Result> {
    this.deadline = Math.max(this.deadline, context.deadline);
    const started = performance.now();
    const shared = this.#subscribers.length > 0;
    return new Promise((resolve, reject) => {
      const finish = (error: UpstreamError | undefined, stale: boolean) => {
        context.cancellation.unwatch(subscriber);
        const record = this.#recordOf(performance.now() - started, shared, stale, error);
        observer.call?.(record);
        context.onCall?.(record);
      };
      const subscriber: Subscriber<Result> = {
        succeed: (result) => {
          resolve(result);
          finish(undefined, false);
        },
        fail: (error) => {
          const instead = error.retryable ? fallback?.() : undefined;
          if (instead === undefined) reject(this.withOutcome(error));
          else resolve(instead);
          finish(error, instead !== undefined);
        },
        cancel: (isTimeout) => {
          subscriber.fail((isTimeout ? timedOut : cancelled)(this.endpoint));
          this.#unsubscribe(subscriber, isTimeout);
        },
      };
      this.#subscribers.push(subscriber);
      context.cancellation.watch(subscriber, context.deadline);
    });
  }

  succeed(result: Result): void {
    for (const subscriber of this.#subscribers.splice(0)) subscriber.succeed(result);
  }

  fail(error: unknown): void {
    const failure = this.#explain(asUpstreamError(error));
    for (const subscriber of this.#subscribers.splice(0)) subscriber.fail(failure);
  }

  /** Adds the service's own reason, for the log. */
  #explain(error: UpstreamError): UpstreamError {
    if (error.excerpt === undefined) return error;
    try {
      return error.with({ refusal: refusalIn(error.excerpt, this.request, this.playerUniqueId) });
    } catch {
      // The reason is for the log only. The subscribers must get the error in any case.
      return error;
    }
  }

  /** Removes a subscriber. The call ends when it was the last one. */
  #unsubscribe(subscriber: Subscriber<Result>, isTimeout: boolean): void {
    const index = this.#subscribers.indexOf(subscriber);
    if (index < 0) return;
    this.#subscribers.splice(index, 1);
    if (this.#subscribers.length === 0) this.abandon(isTimeout);
  }

  #recordOf(ms: number, shared: boolean, stale: boolean, error: UpstreamError | undefined): CallRecord {
    const { endpoint, status, attempts, queueMs } = this;
    const { method, template } = endpoint;
    return { method, template, status, ms, queueMs, attempts, shared, cached: stale, stale, error: error?.code };
  }
}

function asUpstreamError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  return new UpstreamError('UPSTREAM_INVALID_RESPONSE', 'The response could not be decoded', { cause: error });
}
