/*
 * The steps between a call and the network, in order: the breaker, retries, the throttle, the queue for connections, and the
 * request itself. The order matters:
 *
 * - the breaker counts calls, not attempts, so that one failing endpoint with its retries does not stop the others;
 * - each retry passes the throttle and the queue again;
 * - a call that waits for the end of a pause holds no connection.
 */
import { Breaker, Throttle } from './breaker.ts';
import type { Call } from './call.ts';
import { ConnectionQueue } from './connection-queue.ts';
import type { Json } from './decode/members.ts';
import { timedOut, type UpstreamError } from './errors.ts';
import type { Health, Observer } from './observer.ts';
import { isTransient, noResponseError, readResponse, retryAfterMs, transientError } from './response.ts';
import { NoResponse, type Response, type Transport } from './transport.ts';

/** How often a call is sent again at most. */
const MAX_RETRIES = 2;
/** The longest random delay before the first retry, in milliseconds; doubled for the second. */
const RETRY_DELAY_MS = 100;
/** How much each call adds to the budget of retries: retries are at most this share of recent calls. */
const RETRY_SHARE = 0.2;
/** The largest and the first value of the budget. Fifty calls fill it, so "recent" means the last fifty calls. */
const MAX_RETRY_BUDGET = 10;

interface ResilienceOptions {
  transport: Transport;
  observer: Observer;
  connections: number;
  /** How long a call may wait for a connection, in milliseconds. */
  queueMs: number;
  /** How often an open breaker lets a trial through, in milliseconds. */
  breakerIntervalMs: number;
  /** A number from 0 up to 1. */
  random: () => number;
}

/** Decodes the body of a response; null when the player does not exist. */
export type Decode<Result, Sent extends Call = Call> = (body: Json | null, call: Sent) => Result;

/** Sends calls to the REST service. */
export class Resilience {
  readonly #transport: Transport;
  readonly #observer: Observer;
  readonly #queueMs: number;
  readonly #queue: ConnectionQueue;
  readonly #breaker: Breaker;
  readonly #throttle: Throttle;
  readonly #retries: Retries;

  constructor(options: ResilienceOptions) {
    const { transport, observer, queueMs, random } = options;
    this.#transport = transport;
    this.#observer = observer;
    this.#queueMs = queueMs;
    this.#queue = new ConnectionQueue({ ...options, onWaited: observer.queueWait });
    this.#breaker = new Breaker(options.breakerIntervalMs, (state) => observer.breaker?.(state));
    this.#throttle = new Throttle(random);
    this.#retries = new Retries(random);
  }

  /**
   * Sends the call, with retries, and decodes the response. A response is decoded at once, so that its buffer can be freed
   * before the next response is decoded.
   */
  async send<Result, Sent extends Call>(call: Sent, decode: Decode<Result, Sent>): Promise<Result> {
    const permit = this.#breaker.admit();
    const throttle = this.#throttle;
    try {
      this.#retries.earn();
      for (;;) {
        if (throttle.leftMs > 0) await throttle.wait(call, Math.min(call.deadline, performance.now() + this.#queueMs));
        const response = await this.#attempt(call);
        if (!(response instanceof Error) && !isTransient(response)) {
          throttle.reset();
          const result = decode(readResponse(response, call.endpoint, this.#observer), call);
          permit.succeed();
          return result;
        }
        const failure = response instanceof Error ? failureOf(call, response) : this.#transientFailure(call, response);
        const delayMs = this.#retries.delayMs(call, failure);
        if (delayMs === undefined) throw failure.error;
        this.#observer.retry?.(call.endpoint.method, call.endpoint.template);
        call.timeLeftMs -= delayMs;
        await call.sleep(delayMs);
      }
    } catch (error) {
      permit.fail(error);
      throw error;
    }
  }

  health(): Health {
    return {
      breaker: this.#breaker.state,
      active: this.#queue.active,
      queued: this.#queue.waiting + this.#throttle.waiting,
      pausedMs: Math.round(this.#throttle.leftMs),
    };
  }

  /** Sends the request once, when a connection is free. The call's time runs while it is in flight. */
  async #attempt(call: Call): Promise<Response | Error> {
    const permit = await this.#queue.acquire(call);
    const started = performance.now();
    let usedMs: number | undefined;
    try {
      if (call.cancelledBy) throw call.cancelledBy;
      this.#breaker.check();
      const exchange = this.#transport.send(call.request);
      call.begin(exchange);
      const timer = setTimeout(expire, call.timeLeftMs, call);
      const response = await exchange.response;
      clearTimeout(timer);
      usedMs = performance.now() - started;
      call.end(response, usedMs);
      this.#observer.attempt?.(call.endpoint.method, call.endpoint.template, call.status, usedMs);
      return response;
    } finally {
      this.#queue.release(permit, usedMs);
    }
  }

  #transientFailure({ endpoint }: Call, response: Response): Failure {
    if (response.status !== 429) {
      this.#throttle.reset();
      return { error: transientError(endpoint, response), sent: true };
    }
    this.#throttle.pause(retryAfterMs(response));
    return { error: transientError(endpoint, response, this.#throttle.leftMs), sent: true };
  }
}

/** The failure of an attempt without a response. Throws the reason of the abort if the request was aborted. */
function failureOf({ endpoint }: Call, error: Error): Failure {
  if (!(error instanceof NoResponse)) throw error;
  return { error: noResponseError(endpoint, error), sent: error.sent };
}

function expire(call: Call): void {
  call.cancel(timedOut(call.endpoint));
}

/** A failed attempt. */
interface Failure {
  error: UpstreamError;
  /** Whether the request may have reached the service. */
  sent: boolean;
}

/**
 * Decides which failed calls are sent again: at most twice, only if the endpoint allows it, after `Retry-After` and a random
 * delay (full jitter), within the call's timeout, and within a budget, so that retries do not overload a failing service.
 */
class Retries {
  readonly #random: () => number;
  #budget = MAX_RETRY_BUDGET;

  /** @param random A number from 0 up to 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Adds to the budget of retries. Called once for every call. */
  earn(): void {
    this.#budget = Math.min(this.#budget + RETRY_SHARE, MAX_RETRY_BUDGET);
  }

  /** The delay before the next retry, in milliseconds, taken from the budget; undefined: the call is not sent again. */
  delayMs(call: Call, { error, sent }: Failure): number | undefined {
    const { retry } = call.endpoint;
    const retries = call.attempts - 1;
    if (retries >= MAX_RETRIES || call.cancelledBy || !error.retryable) return undefined;
    if (retry === 'never' || (retry === 'unsent' && sent)) return undefined;
    const delayMs = (error.retryAfterMs ?? 0) + this.#random() * RETRY_DELAY_MS * 2 ** retries;
    const leftMs = Math.min(call.timeLeftMs, call.deadline - performance.now());
    if (delayMs >= leftMs || this.#budget < 1) return undefined;
    this.#budget -= 1;
    return delayMs;
  }
}
