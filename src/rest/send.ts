/*
 * One call: retries → circuit breaker → one request. The timeout of a call covers its retries. It begins when the first request
 * leaves the queue for connections, so it measures the service alone. The time in the queue is limited by the operation's
 * deadline; it ends in OVERLOADED and says nothing about the service.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Breaker, BreakerResult, RetryBudget } from './breaker.ts';
import type { CallContext, Observer } from './call-context.ts';
import type { Json } from './decode/members.ts';
import type { Endpoint } from './endpoints.ts';
import { noConnection, timedOut, UpstreamError } from './errors.ts';
import { readResponse, transientError } from './response.ts';
import type { Exchange, Request, Response, Transport } from './transport.ts';

/** How often a call is sent again at most. */
const MAX_RETRIES = 2;
/** The longest random delay before the first retry, in milliseconds; doubled for the second. */
const RETRY_DELAY_MS = 100;
/** A request that ends at its operation's deadline is a failure of the service only after this part of the timeout. */
const MIN_PART_OF_TIMEOUT = 1 / 2;

/** What a client has, and what one call of an operation is. */
export interface CallOptions<Result> {
  transport: Transport;
  breaker: Breaker;
  budget: RetryBudget;
  observer: Observer;
  /** How long a call may take once its first request is sent, in milliseconds. */
  timeoutMs: number;
  /** A number from 0 up to 1. */
  random: () => number;
  endpoint: Endpoint;
  request: Request;
  playerUniqueId: string;
  context: CallContext;
  /** The body is null when the player does not exist. `maybeDone`: an earlier attempt may have been carried out. */
  decode(body: Json | null, maybeDone: boolean): Result;
}

/** A call and its state. */
export class Call<Result> {
  readonly #options: CallOptions<Result>;
  readonly #began = performance.now();
  /** When the call has taken its time, on the clock of `performance.now()`. It begins with the first request. */
  #expiresAt = Number.POSITIVE_INFINITY;
  #expiry: NodeJS.Timeout | undefined;
  #exchange: Exchange | undefined;
  #attempts = 0;
  #queueMs = 0;
  #status: number | undefined;
  /** Whether the service may have carried out an earlier attempt. */
  #maybeDone = false;

  constructor(options: CallOptions<Result>) {
    this.#options = options;
  }

  /** Rejects with an `UpstreamError`; the error of a write has its outcome. */
  async send(): Promise<Result> {
    const { endpoint, context, observer } = this.#options;
    let error: UpstreamError | undefined;
    try {
      this.#assertActive();
      return await this.#sendWithRetries();
    } catch (thrown) {
      error = this.#withOutcome(thrown);
      throw error;
    } finally {
      clearTimeout(this.#expiry);
      const ms = performance.now() - this.#began;
      const attempts = { status: this.#status, ms, queueMs: this.#queueMs, attempts: this.#attempts };
      const record = { method: endpoint.method, template: endpoint.template, ...attempts, error: error?.code };
      observer.call?.(record);
      context.onCall?.(record);
    }
  }

  async #sendWithRetries(): Promise<Result> {
    const { breaker, budget, observer, endpoint, playerUniqueId, context } = this.#options;
    budget.earn();
    for (;;) {
      const permit = breaker.admit(playerUniqueId);
      const response = await this.#sendOnce(permit);
      if (!(response instanceof Error)) return this.#read(response);
      const delayMs = permit.isTrial ? undefined : this.#retryDelayMs(response);
      if (delayMs === undefined) throw response;
      observer.retry?.(endpoint.method, endpoint.template);
      await delay(delayMs, undefined, { signal: context.signal }).catch(() => undefined);
      this.#assertActive();
    }
  }

  /** One request: its final response, or the error of the attempt. Reports the result to the breaker; never rejects. */
  async #sendOnce(permit: ReturnType<Breaker['admit']>): Promise<Response | UpstreamError> {
    const { transport, observer, timeoutMs, endpoint, request, context } = this.#options;
    const queuedAt = performance.now();
    let startedAt: number | undefined;
    const exchange = transport.send(endpoint, request, () => {
      permit.check();
      startedAt = performance.now();
      this.#expiresAt = Math.min(this.#expiresAt, startedAt + timeoutMs);
      this.#expiry ??= setTimeout(() => this.#exchange?.abort(timedOut(endpoint)), timeoutMs);
    });
    this.#exchange = exchange;
    const onAbort = () => exchange.abort(this.#endedWithOperation(exchange));
    context.signal.addEventListener('abort', onAbort, { once: true });
    const response = await exchange.response;
    context.signal.removeEventListener('abort', onAbort);
    const endedAt = performance.now();
    const inFlightMs = endedAt - (startedAt ?? endedAt);
    permit.end(resultOf(response, inFlightMs >= timeoutMs * MIN_PART_OF_TIMEOUT));
    this.#queueMs += (startedAt ?? endedAt) - queuedAt;
    this.#status = response instanceof Error ? undefined : response.status;
    this.#maybeDone ||= exchange.sent && (this.#status === undefined || this.#status >= 500);
    if (!(response instanceof Error && response.notSent)) {
      this.#attempts += 1;
      observer.attempt?.(endpoint.method, endpoint.template, this.#status, inFlightMs);
    }
    return response instanceof Error ? response : (transientError(endpoint, response) ?? response);
  }

  /** Throws when the call, or its operation, has ended. */
  #assertActive(): void {
    const { endpoint, context } = this.#options;
    if (context.signal.aborted) throw endedBy(context.signal, endpoint);
    if (performance.now() >= Math.min(context.deadline, this.#expiresAt)) throw timedOut(endpoint);
  }

  /** Without a free connection, the wait was caused by the gateway's own limit. */
  #endedWithOperation({ sent }: Exchange): UpstreamError {
    const { transport, endpoint, context } = this.#options;
    const error = endedBy(context.signal, endpoint);
    const isQueued = !sent && error.code === 'UPSTREAM_TIMEOUT' && transport.isBusy(endpoint);
    return isQueued ? noConnection(endpoint) : error;
  }

  #read(response: Response): Result {
    const { endpoint, observer, decode } = this.#options;
    const maybeDone = this.#maybeDone;
    // An error response says that nothing was done; after a success that cannot be read, nobody knows.
    this.#maybeDone ||= response.status < 400;
    return decode(readResponse(response, endpoint, observer), maybeDone);
  }

  /** The delay before the next retry, in milliseconds; undefined: the call is not sent again. */
  #retryDelayMs(error: UpstreamError): number | undefined {
    const { budget, random, endpoint, context } = this.#options;
    if (endpoint.retry === 'never' || (endpoint.retry === 'unsent' && this.#exchange?.sent)) return undefined;
    // A timeout used all the time of the call.
    if (!error.retryable || error.notSent || error.code === 'UPSTREAM_TIMEOUT') return undefined;
    if (this.#attempts > MAX_RETRIES) return undefined;
    const delayMs = (error.retryAfterMs ?? 0) + random() * RETRY_DELAY_MS * 2 ** (this.#attempts - 1);
    const end = Math.min(this.#expiresAt, context.deadline);
    return performance.now() + delayMs < end && budget.take() ? delayMs : undefined;
  }

  /** A write is NOT_DONE when none of its attempts can have been carried out; then it may be sent again. */
  #withOutcome(cause: unknown): UpstreamError {
    const undecodable = 'The response could not be decoded';
    const error =
      cause instanceof UpstreamError ? cause : new UpstreamError('UPSTREAM_INVALID_RESPONSE', undecodable, { cause });
    if (this.#options.endpoint.method === 'GET') return error;
    const outcome = this.#maybeDone ? 'UNKNOWN' : 'NOT_DONE';
    const changes = { outcome, retryable: error.retryable && !this.#maybeDone } as const;
    return new UpstreamError(error.code, error.message, { ...error, cause: error.cause, ...changes });
  }
}

/** What an attempt says about the service: only 5xx, lost connections and timeouts are failures. */
function resultOf(response: Response | UpstreamError, wasInFlight: boolean): BreakerResult {
  if (!(response instanceof Error)) return response.status >= 500 ? 'failure' : 'success';
  const { code, notSent, cause } = response;
  if (code === 'UPSTREAM_INVALID_RESPONSE') return 'success';
  if (code === 'UPSTREAM_UNAVAILABLE') return notSent ? 'none' : 'failure';
  // A cause says that no connection was opened in time.
  return code === 'UPSTREAM_TIMEOUT' && (wasInFlight || cause !== undefined) ? 'failure' : 'none';
}

/** The reason of a signal whose client disconnected. */
export const DISCONNECTED = 'the client disconnected';

/** The error of a call that ends because its operation ended. */
function endedBy(signal: AbortSignal, endpoint: Endpoint): UpstreamError {
  if (signal.reason !== DISCONNECTED) return timedOut(endpoint);
  return new UpstreamError('CANCELLED', `${endpoint.name}: the client disconnected`);
}

/**
 * Aborts `controller` at `deadline`, on the clock of `performance.now()`. Returns the function that clears the timer when the
 * operation ends. `AbortSignal.timeout` and `any` are not used: on Node 20 they can be collected before they abort.
 */
export function abortAt(controller: AbortController, deadline: number): () => void {
  // Each call of the operation listens while it is in flight.
  setMaxListeners(0, controller.signal);
  const timer = setTimeout(() => controller.abort('the deadline passed'), Math.max(0, deadline - performance.now()));
  return () => clearTimeout(timer);
}
