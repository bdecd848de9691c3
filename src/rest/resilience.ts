/*
 * What stands between a call and the wire, from the outside in: the breaker, retries, the pause a service asked for, a
 * bulkhead with a bounded queue, and the exchange itself. The order matters:
 *
 * - the breaker judges calls, not attempts: one endpoint that fails, and is tried again, must not close the others down;
 * - each retry waits for the pause and for its turn again;
 * - waiting for the pause holds no connection.
 */
import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import { createBreaker } from './breaker.ts';
import type { Call } from './call.ts';
import type { Json } from './decode/members.ts';
import { NotTried } from './errors.ts';
import type { Health } from './health.ts';
import type { Observer } from './observe.ts';
import { Pause } from './pause.ts';
import { isUnavailable, readReply, retryAfterMs, unavailable, withoutReply } from './reply.ts';
import { createRetries } from './retries.ts';
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
  send(call: Call<unknown>): Promise<Json | null>;
  health(): Health;
}

export function createResilience(options: ResilienceOptions): Resilience {
  const { transport, observer, connections, maxQueued, breakerIntervalMs, random } = options;
  const slots = bulkhead(connections, maxQueued);
  const breaker = createBreaker(breakerIntervalMs, (state) => observer.breaker?.(state));
  const pause = new Pause(maxQueued, random);
  const retries = createRetries(random, ({ endpoint }) => observer.retry?.(endpoint.method, endpoint.template));

  async function attempt(call: Call<unknown>, number: number): Promise<Json | null> {
    while (pause.leftMs > 0) await pause.over(call.deadline);
    let reply: Reply;
    try {
      reply = await slots.execute(() => exchange(call));
    } catch (error) {
      if (error instanceof BulkheadRejectedError) throw new NotTried('too many calls wait already');
      if (!(error instanceof NoReply)) throw error;
      return retries.fail(call, number, { error: withoutReply(call.endpoint, error), sent: error.sent });
    }
    if (reply.status === 429) pause.begin(retryAfterMs(reply));
    else pause.end();
    if (isUnavailable(reply.status)) {
      const error = unavailable(call.endpoint, reply, reply.status === 429 ? pause.leftMs : undefined);
      return retries.fail(call, number, { error, sent: true });
    }
    return readReply(reply, call.endpoint);
  }

  /** Sends the call once. What fails here may have been carried out all the same, unless nothing was written. */
  async function exchange(call: Call<unknown>): Promise<Reply> {
    if (call.cancelled) throw call.cancelled;
    breaker.assertNotOpen();
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
      throw error;
    } finally {
      call.sending = undefined;
      observer.attempt?.(method, template, call.status, performance.now() - started);
    }
  }

  return {
    send: (call) => breaker.run(() => retries.run((number) => attempt(call, number))),
    health: () => ({
      breaker: breaker.state,
      active: connections - slots.executionSlots,
      queued: maxQueued - slots.queueSlots + pause.waiting,
      pausedMs: Math.round(pause.leftMs),
    }),
  };
}
