/*
 * What stands between a call and the wire, from the outside in: the breaker, retries, the pause a service asked for, slots
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
import { Pause } from './pause.ts';
import { isUnavailable, readReply, retryAfterMs, unavailable, withoutReply } from './reply.ts';
import { type Failure, Retries } from './retries.ts';
import { Slots } from './slots.ts';
import { NoReply, type Reply, type Transport } from './transport.ts';

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

export interface Resilience {
  /** Sends the call for as often as it takes and is allowed. Null when the player does not exist. */
  send(call: Call): Promise<Json | null>;
  health(): Health;
}

export function createResilience(options: ResilienceOptions): Resilience {
  const { transport, observer, connections, maxQueued, breakerIntervalMs, random } = options;
  const slots = new Slots(connections, maxQueued);
  const breaker = createBreaker(breakerIntervalMs, (state) => observer.breaker?.(state));
  const pause = new Pause(maxQueued, random);
  const retries = new Retries(random);

  /** Sends the call, and again for as long as that may help and is allowed. */
  async function attempts(call: Call): Promise<Json | null> {
    retries.pay();
    for (let attempt = 0; ; attempt += 1) {
      while (pause.leftMs > 0) await pause.over(call.deadline);
      const reply = await exchange(call);
      if (!(reply instanceof NoReply) && !isUnavailable(reply.status)) {
        pause.end();
        return readReply(reply, call.endpoint);
      }
      const failure = reply instanceof NoReply ? lost(call, reply) : refused(call, reply);
      const delayMs = retries.take(call, attempt, failure);
      if (delayMs === undefined) throw failure.error;
      observer.retry?.(call.endpoint.method, call.endpoint.template);
      await sleep(delayMs);
    }
  }

  /** Sends the call once, when it is its turn. What fails here may have been carried out all the same, unless nothing was written. */
  async function exchange(call: Call): Promise<Reply | NoReply> {
    const turn = slots.take();
    if (turn) await turn;
    const refusal = call.cancelled ?? breaker.refusal();
    if (refusal) {
      slots.release();
      throw refusal;
    }
    const { method, template } = call.endpoint;
    const started = performance.now();
    const sending = transport.send(call.request);
    call.sending = sending;
    call.attempts += 1;
    call.status = undefined;
    try {
      const reply = await sending.reply;
      call.status = reply.status;
      call.characters = reply.body.length;
      if (reply.status >= 500) call.maybeDone = true;
      return reply;
    } catch (error) {
      if (!(error instanceof NoReply) || error.sent) call.maybeDone = true;
      if (error instanceof NoReply) return error;
      throw error;
    } finally {
      slots.release();
      call.sending = undefined;
      observer.attempt?.(method, template, call.status, performance.now() - started);
    }
  }

  function lost({ endpoint }: Call, reply: NoReply): Failure {
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
    send: (call) => breaker.run(() => attempts(call)),
    health: () => ({
      breaker: breaker.state,
      active: slots.taken,
      queued: slots.waiting + pause.waiting,
      pausedMs: Math.round(pause.leftMs),
    }),
  };
}
