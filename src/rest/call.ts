/*
 * One call to the REST service, and everyone who waits for it.
 *
 * A call belongs to no operation. Operations join it, each with a deadline and a client of its own, and leave it when
 * either comes; the call goes on as long as one of them is left, and is cancelled when the last one leaves. So nobody can
 * spoil the answer of somebody else, and nothing goes on that nobody waits for.
 *
 * A healthy call costs one timer for each operation that waits, and no AbortController: what has to be stopped is told so
 * directly.
 */

import type { CallContext } from './call-context.ts';
import type { Endpoint } from './endpoints.ts';
import { cancelled, tooLate } from './errors.ts';
import type { IdentifiedRequest } from './request.ts';
import { type SubscribeOptions, Subscriber } from './subscriber.ts';
import type { Sending } from './transport.ts';

/** A call was cancelled, since nobody waits for it any more. */
export class Cancelled extends Error {
  /** Whether the service had its chance: the request was sent, and the time was over. Else the callers went away. */
  readonly late: boolean;

  constructor(late: boolean) {
    super(late ? 'Nobody waits any more: the time is over' : 'Nobody waits any more: the callers went away');
    this.late = late;
  }
}

/** What is sent, and what became of it so far. */
export class Call {
  readonly endpoint: Endpoint;
  readonly request: IdentifiedRequest;
  /** The player it is about. */
  readonly playerUniqueId: string;
  /** How often it was sent. */
  attempts = 0;
  /** The status of the last reply; undefined while there is none. */
  status: number | undefined;
  /** How long the body of the last reply was. */
  bytes = 0;
  /** Whether an attempt that failed may have been carried out by the service all the same. */
  maybeDone = false;
  /** Until when the most patient operation waits, on the clock of `performance.now()`. */
  deadline = 0;
  /** What is under way for it at the moment. */
  sending: Sending | undefined;
  cancelled: Cancelled | undefined;

  constructor(endpoint: Endpoint, request: IdentifiedRequest, playerUniqueId: string) {
    this.endpoint = endpoint;
    this.request = request;
    this.playerUniqueId = playerUniqueId;
  }
}

/** A call and those who wait for its answer. */
export class SharedCall<Result> extends Call {
  readonly #waiters: Subscriber<Result>[] = [];

  /** Has one more operation wait for the answer. Rejects with an `UpstreamError`. */
  join(op: CallContext, options: SubscribeOptions<Result>): Promise<Result> {
    const waiter = new Subscriber(this, op, options, this.#waiters.length > 0);
    this.#waiters.push(waiter);
    this.deadline = Math.max(this.deadline, waiter.deadline);
    return waiter.wait();
  }

  /** Tells all who wait what came of it. */
  answer(result: Result): void {
    for (const waiter of this.#waiters.splice(0)) waiter.answered(result);
  }

  /** Tells all who wait that it failed. */
  fail(error: unknown): void {
    for (const waiter of this.#waiters.splice(0)) waiter.failed(error);
  }

  /** One operation waits no more; `late` when its time was over. The last one takes the call along. */
  left(waiter: Subscriber<Result>, late: boolean): void {
    const index = this.#waiters.indexOf(waiter);
    if (index < 0) return;
    this.#waiters.splice(index, 1);
    if (this.#waiters.length > 0) return;
    this.cancelled = new Cancelled(late && this.sending !== undefined);
    this.sending?.abort(this.cancelled);
  }
}

/** Throws when an operation has no time left for a call, or no client. */
export function assertInTime(op: CallContext, endpoint: Endpoint): void {
  if (performance.now() >= op.deadline) throw tooLate(endpoint);
  if (op.cancellation.happened) throw cancelled(endpoint);
}
