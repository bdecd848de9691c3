/*
 * The steps between a call and the network, in order: the breaker, retries, the throttle, the queue for connections, and the
 * request itself. The order matters:
 *
 * - the breaker counts calls, not attempts, so that one failing endpoint with its retries does not stop the others;
 * - each retry passes the throttle and the queue again;
 * - a call that waits for the end of a pause holds no connection.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Breaker } from './breaker.ts';
import type { Call } from './call.ts';
import { ConnectionQueue } from './connection-queue.ts';
import type { Json } from './decode/members.ts';
import { timedOut } from './errors.ts';
import type { Health, Observer } from './observer.ts';
import { isPassing, noResponseError, passingError, readResponse, retryAfterMs } from './response.ts';
import { type Failure, Retries } from './retries.ts';
import { Throttle } from './throttle.ts';
import { NoResponse, type Response, type Transport } from './transport.ts';

export interface ResilienceOptions {
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

export interface Resilience {
  /**
   * Sends the call, with retries, and decodes the response. A response is decoded at once, so that its buffer can be freed
   * before the next response is decoded.
   */
  send<Result, Sent extends Call>(call: Sent, decode: Decode<Result, Sent>): Promise<Result>;
  health(): Health;
}

export function createResilience(options: ResilienceOptions): Resilience {
  const { transport, observer, queueMs, random } = options;
  const queue = new ConnectionQueue({ ...options, onWaited: observer.queueWait });
  const breaker = new Breaker(options.breakerIntervalMs, (state) => observer.breaker?.(state));
  const throttle = new Throttle(random);
  const retries = new Retries(random);

  async function send<Result, Sent extends Call>(call: Sent, decode: Decode<Result, Sent>): Promise<Result> {
    const permit = breaker.admit();
    try {
      retries.earn();
      for (;;) {
        if (throttle.leftMs > 0) await throttle.wait(Math.min(call.deadline, performance.now() + queueMs));
        const response = await attempt(call);
        if (!(response instanceof Error) && !isPassing(response)) {
          throttle.reset();
          const result = decode(readResponse(response, call.endpoint), call);
          permit.succeed();
          return result;
        }
        const failure = response instanceof Error ? failureOf(call, response) : refusal(call, response);
        const delayMs = retries.delayMs(call, failure);
        if (delayMs === undefined) throw failure.error;
        observer.retry?.(call.endpoint.method, call.endpoint.template);
        call.timeLeftMs -= delayMs;
        await sleep(delayMs);
      }
    } catch (error) {
      permit.fail(error);
      throw error;
    }
  }

  /** Sends the request once, when a connection is free. The call's time runs while it is in flight. */
  async function attempt(call: Call): Promise<Response | Error> {
    const permit = await queue.acquire(call);
    const started = performance.now();
    let usedMs: number | undefined;
    try {
      if (call.cancelled) throw call.cancelled;
      breaker.check();
      const exchange = transport.send(call.request);
      call.begin(exchange);
      const timer = setTimeout(expire, call.timeLeftMs, call);
      const response = await exchange.response;
      clearTimeout(timer);
      usedMs = performance.now() - started;
      call.end(response, usedMs);
      observer.attempt?.(call.endpoint.method, call.endpoint.template, call.status, usedMs);
      return response;
    } finally {
      queue.release(permit, usedMs);
    }
  }

  /** The failure of an attempt without a response. Throws the reason of the abort if the request was aborted. */
  function failureOf({ endpoint }: Call, error: Error): Failure {
    if (!(error instanceof NoResponse)) throw error;
    return { error: noResponseError(endpoint, error), sent: error.sent };
  }

  function refusal({ endpoint }: Call, response: Response): Failure {
    if (response.status !== 429) {
      throttle.reset();
      return { error: passingError(endpoint, response), sent: true };
    }
    throttle.pause(retryAfterMs(response));
    return { error: passingError(endpoint, response, throttle.leftMs), sent: true };
  }

  return {
    send,
    health: () => ({
      breaker: breaker.state,
      active: queue.active,
      queued: queue.waiting + throttle.waiting,
      pausedMs: Math.round(throttle.leftMs),
    }),
  };
}

function expire(call: Call): void {
  call.cancel(timedOut(call.endpoint));
}
