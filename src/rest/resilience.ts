/*
 * What stands between a call and the wire, from the outside in: the breaker, retries, the pause a service asked for, semaphore
 * with a bounded queue, and the exchange itself. The order matters:
 *
 * - the breaker judges calls, not attempts: one endpoint that fails, and is tried again, must not close the others down;
 * - each retry waits for the pause and for its turn again;
 * - waiting for the pause holds no connection.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createBreaker } from './breaker.ts';
import type { Call } from './call.ts';
import type { Json } from './decode/members.ts';
import type { Health } from './health.ts';
import type { Observer } from './observe.ts';
import { isUnavailable, readReply, retryAfterMs, unavailable, withoutReply } from './response.ts';
import { type Failure, Retries } from './retries.ts';
import { Semaphore } from './semaphore.ts';
import { Throttle } from './throttle.ts';
import { NoReply, type Reply, type Sending, type Transport } from './transport.ts';

export interface ResilienceOptions {
  transport: Transport;
  observer: Observer;
  /** How many requests are on their way at most. */
  connections: number;
  /** How many more may wait for their turn; the next one fails at once. */
  maxQueued: number;
  /** How long an open breaker lets nothing through, in milliseconds. */
  breakerIntervalMs: number;
  /** A number from 0 up to 1. */
  random: () => number;
}

/** Makes of an answer what its callers want. */
export type ReadAnswer<Result, Sent extends Call = Call> = (answer: Json | null, call: Sent) => Result;

export interface Resilience {
  /**
   * Sends the call for as often as it takes and is allowed, and reads its answer: null when the player does not exist. It is
   * read at once, so that the memory it was read from is free before the next one is read.
   */
  send<Result, Sent extends Call>(call: Sent, read: ReadAnswer<Result, Sent>): Promise<Result>;
  health(): Health;
}

export function createResilience(options: ResilienceOptions): Resilience {
  const { transport, observer, connections, maxQueued, breakerIntervalMs, random } = options;
  const semaphore = new Semaphore(connections, maxQueued);
  const breaker = createBreaker(breakerIntervalMs, (state) => observer.breaker?.(state));
  const pause = new Throttle(maxQueued, random);
  const retries = new Retries(random);

  /** Sends the call, and again for as long as that may help and is allowed. */
  async function send<Result, Sent extends Call>(call: Sent, read: ReadAnswer<Result, Sent>): Promise<Result> {
    const judge = breaker.admit();
    try {
      retries.pay();
      for (let attempt = 0; ; attempt += 1) {
        while (pause.leftMs > 0) await pause.over(call.deadline);
        const turn = semaphore.take();
        if (turn) await turn;
        const started = performance.now();
        const reply = await begin(call).reply;
        end(call, reply, performance.now() - started);
        if (!(reply instanceof Error) && !isUnavailable(reply.status)) {
          pause.end();
          const answer = readReply(reply, call.endpoint);
          judge.answered();
          return read(answer, call);
        }
        const failure = reply instanceof Error ? lost(call, reply) : refused(call, reply);
        const delayMs = retries.take(call, attempt, failure);
        if (delayMs === undefined) throw failure.error;
        observer.retry?.(call.endpoint.method, call.endpoint.template);
        await sleep(delayMs);
      }
    } catch (error) {
      judge.failed(error);
      throw error;
    }
  }

  /** Puts a request on its way. Its slot was taken before, and is given back when it ends or nothing is to be sent. */
  function begin(call: Call): Sending {
    const refusal = call.cancelled ?? breaker.refusal();
    if (refusal) {
      semaphore.release();
      throw refusal;
    }
    const sending = transport.send(call.request);
    call.sending = sending;
    call.attempts += 1;
    call.status = undefined;
    return sending;
  }

  /** What fails may have been carried out all the same, unless not a byte of it was written. */
  function end(call: Call, reply: Reply | Error, ms: number): void {
    semaphore.release();
    call.sending = undefined;
    if (!(reply instanceof Error)) {
      call.status = reply.status;
      call.bytes = reply.body.length;
      if (reply.status >= 500) call.maybeDone = true;
    } else if (!(reply instanceof NoReply) || reply.sent) call.maybeDone = true;
    observer.attempt?.(call.endpoint.method, call.endpoint.template, call.status, ms);
  }

  /** The failure of a request without a reply; throws the reason it was cut for. */
  function lost({ endpoint }: Call, reply: Error): Failure {
    if (!(reply instanceof NoReply)) throw reply;
    return { error: withoutReply(endpoint, reply), sent: reply.sent };
  }

  function refused({ endpoint }: Call, reply: Reply): Failure {
    if (reply.status !== 429) {
      pause.end();
      return { error: unavailable(endpoint, reply), sent: true };
    }
    pause.begin(retryAfterMs(reply));
    return { error: unavailable(endpoint, reply, pause.leftMs), sent: true };
  }

  return {
    send,
    health: () => ({
      breaker: breaker.state,
      active: semaphore.taken,
      queued: semaphore.waiting + pause.waiting,
      pausedMs: Math.round(pause.leftMs),
    }),
  };
}
