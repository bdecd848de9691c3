/*
 * One call: retries → circuit breaker → queue → one request. The timeout of a call covers its retries and begins when the first
 * request has a connection. The time in the queue is limited by the operation's deadline; it ends in OVERLOADED.
 */
import type { Json } from '../json.ts';
import type { Breaker, createBreakers, createRetryBudget, Permit } from './breaker.ts';
import type { CallContext, CallRecord, Observer } from './call-context.ts';
import type { Connections } from './connect.ts';
import type { Endpoint, PlayerUpsertRequest, TrackEventsRequest } from './endpoints.ts';
import { Exchange, type UpstreamRequest, type UpstreamResponse } from './exchange.ts';
import type { Queue } from './queue.ts';
import { isRefusal, MAX_RETRY_AFTER_MS, readResponse, resultOf } from './response.ts';
import { noConnection, timedOut, UpstreamError } from './upstream-error.ts';

const MAX_RETRIES = 2;
/** The longest random delay before the first retry, in milliseconds; doubled for the second. */
const RETRY_DELAY_MS = 100;
/** A request that ends at its operation's deadline is a failure of the service only after this part of the timeout. */
const MIN_PART_OF_TIMEOUT = 1 / 2;
/** When a call ends so many milliseconds after its operation's deadline, something held it up: the process was suspended or busy. */
const HELD_UP_MS = 500;

/** What the calls of one endpoint share. */
export interface EndpointState {
  endpoint: Endpoint;
  /** Throws a `RangeError` for an id that cannot be sent. */
  createRequest(endpoint: Endpoint, content: CallContent, callContext: CallContext): UpstreamRequest;
  queue: Queue;
  connections: Connections;
  breakers: ReturnType<typeof createBreakers>;
  observer: Observer;
  /** How long a call may take once its first request is sent, in milliseconds. */
  timeoutMs: number;
  random: () => number;
}

export interface CallContent {
  /** The player that the call is about: in the path, or in the body of a POST. */
  playerUniqueId: string;
  query?: string;
  lang?: string | undefined;
  body?: PlayerUpsertRequest | TrackEventsRequest;
}

/** One call with its retries. They are in one async function, because thousands can wait: with four functions, each took 5.0 KB. */
export class Call<Result> {
  readonly state: EndpointState;
  readonly content: CallContent;
  readonly callContext: CallContext;
  readonly #decode: (body: Json) => Result;
  readonly #breaker: Breaker;
  readonly #retryBudget: ReturnType<typeof createRetryBudget>;
  /** When the call has taken its time, on the clock of `performance.now()`. It begins with the first request. */
  #expiresAt = Number.POSITIVE_INFINITY;
  #expiry: NodeJS.Timeout | undefined;
  /** What allowed the current or last attempt, and the attempt. */
  #permit: Permit | undefined;
  #exchange: Exchange | undefined;
  readonly #record: CallRecord;
  /** Whether the service may have carried out an earlier attempt. */
  #maybeDone = false;

  /** @param decode Makes the result of the body of a success. */
  constructor(state: EndpointState, content: CallContent, callContext: CallContext, decode: (body: Json) => Result) {
    this.state = state;
    this.content = content;
    this.callContext = callContext;
    this.#decode = decode;
    const { breakerOf, retryBudget } = state.breakers.of(callContext.caller);
    this.#breaker = breakerOf(content.lang);
    this.#retryBudget = retryBudget;
    const times = { began: performance.now(), ms: 0, queueMs: 0, attempts: 0 };
    this.#record = { endpoint: state.endpoint, ...times, status: undefined, error: undefined };
  }

  /**
   * Resolves to null when the player does not exist. Rejects with an `UpstreamError`, that of a write with its outcome; with a
   * `RangeError` for an id that cannot be sent.
   */
  async send(): Promise<Result | null> {
    const { endpoint, createRequest, observer } = this.state;
    const { content, callContext } = this;
    const { playerUniqueId } = content;
    const request = createRequest(endpoint, content, callContext);
    const onCancel = () => this.#cancel();
    callContext.cancellation.listeners.add(onCancel);
    this.#retryBudget.earn();
    try {
      for (;;) {
        this.#assertActive();
        const permit = this.#breaker.admit(playerUniqueId);
        const exchange = new Exchange(request, this);
        [this.#permit, this.#exchange] = [permit, exchange];
        const meaning = this.#endAttempt(permit, exchange, await exchange.response);
        if (!(meaning instanceof Error)) return meaning === null ? null : this.#decode(meaning);
        const delayMs = permit.isTrial ? undefined : this.#retryDelayMs(meaning);
        if (delayMs === undefined) throw meaning;
        observer.retry?.(endpoint.name);
        await callContext.cancellation.wait(delayMs);
      }
    } catch (thrown) {
      const error = this.#withOutcome(thrown);
      this.#record.error = error.code;
      throw error;
    } finally {
      callContext.cancellation.listeners.delete(onCancel);
      clearTimeout(this.#expiry);
      this.#expiry = undefined;
      this.#record.ms = performance.now() - this.#record.began;
      observer.call?.(this.#record);
      callContext.onCall?.(this.#record, playerUniqueId);
    }
  }

  /** Called when a connection is open and nothing is written yet. What it throws is the response of the exchange. */
  beforeSending(now: number, queuedAt: number): void {
    const { endpoint, timeoutMs } = this.state;
    if (this.#permit) this.#breaker.check(this.#permit);
    // A call that has waited longer than the time that is left is given up: those behind it, which have more time, can be in time.
    if (now - queuedAt > this.callContext.cancellation.deadline - now) throw noConnection(endpoint);
    this.#expiresAt = Math.min(this.#expiresAt, now + timeoutMs);
    // When the process was held up, the response may have arrived: sockets are read before the immediate.
    this.#expiry ??= setTimeout(() => setImmediate(() => this.#expiry && this.#expire()), timeoutMs);
  }

  /** Sets `#expiresAt` to 0, because a timer can fire a millisecond early: the next attempt would have no timeout. */
  #expire(): void {
    this.#expiresAt = 0;
    this.#exchange?.abort(this.#endError());
  }

  #cancel(): void {
    const { reason } = this.callContext.cancellation;
    // A sent request continues until its own timeout in two cases: the operation is over, because aborting closes the connection;
    // a write whose client disconnected, because its outcome is logged.
    const isWrite = this.state.endpoint.method !== 'GET';
    const goesOn = reason === 'the operation is over' || (isWrite && reason === 'the client disconnected');
    if (this.#exchange?.sent && goesOn) return;
    this.#exchange?.abort(this.#endError());
  }

  /** Reports an attempt to the breaker, and returns what its response says; null when the player does not exist. */
  #endAttempt(permit: Permit, exchange: Exchange, given: UpstreamResponse | UpstreamError) {
    const { endpoint, observer, timeoutMs } = this.state;
    const record = this.#record;
    const endedAt = performance.now();
    const { sent, aborted, queuedAt, grantedAt, connectedAt } = exchange;
    // A request without a connection waited for one to open. The record counts that time as queueing, the breaker as in flight. Time
    // in the gateway's own queue says nothing of the service.
    const inFlightMs = endedAt - (connectedAt ?? grantedAt ?? endedAt);
    // Not a time limit of undici, which has a cause: its timers are late by a second, and more in a busy process.
    const isOwnLimit = given instanceof Error && given.code === 'UPSTREAM_TIMEOUT' && given.cause === undefined;
    const isHeldUp = !sent && isOwnLimit && endedAt - this.callContext.cancellation.deadline > HELD_UP_MS;
    const response = isHeldUp ? noConnection(endpoint) : given;
    this.#breaker.end(permit, resultOf(response, inFlightMs >= timeoutMs * MIN_PART_OF_TIMEOUT));
    record.queueMs += (connectedAt ?? endedAt) - queuedAt;
    record.status = response.status;
    const earlierMaybeDone = this.#maybeDone;
    this.#maybeDone ||= sent && (response instanceof Error || !isRefusal(response));
    // A refused connection is an attempt. A call that ended while it waited for a connection was never tried.
    const isSkipped = response instanceof Error && response.skipped;
    if (sent || (!aborted && !isSkipped)) {
      record.attempts += 1;
      observer.attempt?.(endpoint.name, record.status, endedAt - (connectedAt ?? endedAt));
    }
    return response instanceof Error ? response : readResponse(response, endpoint, earlierMaybeDone, observer);
  }

  #assertActive(): void {
    const { reason, deadline } = this.callContext.cancellation;
    if (reason || performance.now() >= Math.min(deadline, this.#expiresAt)) throw this.#endError();
  }

  /** Why the call ends: it has no time left, or its operation was cancelled. In the queue, the gateway's own limit is the cause. */
  #endError(): UpstreamError {
    const { endpoint, connections } = this.state;
    const { reason, deadline } = this.callContext.cancellation;
    const isExpired = this.#expiresAt === 0 || reason === 'the deadline passed';
    if (reason && !isExpired) return new UpstreamError('CANCELLED', `${endpoint.name}: ${reason}`);
    const isQueued = this.#exchange
      ? this.#exchange.grantedAt === undefined && connections.isOpen()
      : performance.now() - deadline > HELD_UP_MS;
    return isQueued ? noConnection(endpoint) : timedOut(endpoint);
  }

  /** The delay before the next retry, in milliseconds; undefined: the call is not sent again. */
  #retryDelayMs(error: UpstreamError): number | undefined {
    const { endpoint, random } = this.state;
    const { cancellation } = this.callContext;
    if (cancellation.reason) return undefined;
    if (endpoint.retry === 'never' || (endpoint.retry === 'unsent' && this.#exchange?.sent)) return undefined;
    // A timeout used all the time of the call.
    if (!error.retryable || error.skipped || error.code === 'UPSTREAM_TIMEOUT') return undefined;
    // A longer pause is for the client: the operator corrects something meanwhile.
    if ((error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) return undefined;
    const { attempts } = this.#record;
    if (attempts > MAX_RETRIES) return undefined;
    const delayMs = (error.retryAfterMs ?? 0) + random() * RETRY_DELAY_MS * 2 ** (attempts - 1);
    const end = Math.min(this.#expiresAt, cancellation.deadline);
    if (performance.now() + delayMs >= end) return undefined;
    return this.#retryBudget.consume(this.content.playerUniqueId) ? delayMs : undefined;
  }

  /** A write is NOT_DONE when none of its attempts can have been carried out; then it may be sent again. */
  #withOutcome(cause: unknown): UpstreamError {
    const isOurs = cause instanceof UpstreamError;
    const error = isOurs ? cause : new UpstreamError('UPSTREAM_INVALID_RESPONSE', 'Cannot be decoded', { cause });
    if (this.state.endpoint.method === 'GET') return error;
    const outcome = this.#maybeDone ? 'UNKNOWN' : 'NOT_DONE';
    const retryable = error.retryable && !this.#maybeDone;
    return new UpstreamError(error.code, error.message, { ...error, cause: error.cause, outcome, retryable });
  }
}
