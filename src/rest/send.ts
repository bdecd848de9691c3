/*
 * One call: retries → circuit breaker → one request.
 *
 * The timeout of a call covers its retries. It begins when the first request leaves the queue for connections, so it measures
 * the service alone. The time in the queue is limited by the operation's deadline. It ends in OVERLOADED and says nothing
 * about the service.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Breaker, BreakerPermit, Result as BreakerResult } from './breaker.ts';
import { assertActive, type CallContext, endedBy } from './call-context.ts';
import type { Json } from './decode/members.ts';
import type { Endpoint } from './endpoints.ts';
import { noConnection, timedOut, UpstreamError } from './errors.ts';
import type { Observer } from './observer.ts';
import { isTransient, readResponse, transientError } from './response.ts';
import type { RetryBudget } from './retry-budget.ts';
import { type Exchange, NoResponse, type Request, type Response, type Transport } from './transport.ts';

/** How often a call is sent again at most. */
const MAX_RETRIES = 2;
/** The longest random delay before the first retry, in milliseconds; doubled for the second. */
const RETRY_DELAY_MS = 100;
/**
 * A request that ends at its operation's deadline is a failure of the service only after this part of the timeout. Example:
 * with a timeout of 3 s, a request in flight for 1 s is not a failure, one in flight for 2 s is.
 */
const MIN_PART_OF_TIMEOUT = 1 / 2;

/** What every call needs; one per client. */
export interface SendOptions {
  transport: Transport;
  breaker: Breaker;
  budget: RetryBudget;
  observer: Observer;
  /** How long a call may take once its first request is sent, in milliseconds. */
  timeoutMs: number;
  /** How many connections each endpoint has at most. */
  connections: number;
  /** A number from 0 up to 1. */
  random: () => number;
}

/** Decodes the body of a response; null when the player does not exist. */
export type Decode<Result> = (body: Json | null, maybeDone: boolean) => Result;

/** One call of an operation. */
interface CallInput<Result> {
  endpoint: Endpoint;
  request: Request;
  playerUniqueId: string;
  context: CallContext;
  decode: Decode<Result>;
}

/** Sends one call. Rejects with an `UpstreamError`; the error of a write has its outcome. */
export function send<Result>(options: SendOptions, input: CallInput<Result>): Promise<Result> {
  return new Call(options, input).send();
}

/** A call and its state. */
class Call<Result> {
  readonly #options: SendOptions;
  readonly #endpoint: Endpoint;
  readonly #context: CallContext;
  readonly #input: CallInput<Result>;
  readonly #began = performance.now();
  /** When the call has taken its time, on the clock of `performance.now()`; undefined before the first request. */
  #expiresAt: number | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #exchange: Exchange | undefined;
  #attempts = 0;
  #queueMs = 0;
  #status: number | undefined;
  /** Whether the service may have carried out an earlier attempt. */
  #maybeDone = false;

  constructor(options: SendOptions, input: CallInput<Result>) {
    this.#options = options;
    this.#endpoint = input.endpoint;
    this.#context = input.context;
    this.#input = input;
  }

  async send(): Promise<Result> {
    try {
      assertActive(this.#context, this.#endpoint);
      const result = await this.#sendWithRetries();
      this.#report(undefined);
      return result;
    } catch (error) {
      const failure = this.#withOutcome(asUpstreamError(error));
      this.#report(failure);
      throw failure;
    } finally {
      clearTimeout(this.#expiry);
    }
  }

  async #sendWithRetries(): Promise<Result> {
    const { breaker, budget, observer } = this.#options;
    const { method, template } = this.#endpoint;
    budget.earn();
    for (;;) {
      const permit = breaker.admit(this.#input.playerUniqueId);
      const response = await this.#sendOnce(permit);
      if (!(response instanceof UpstreamError)) return this.#read(response);
      const delayMs = permit.isTrial ? undefined : this.#retryDelayMs(response);
      if (delayMs === undefined) throw response;
      observer.retry?.(method, template);
      await this.#sleep(delayMs);
    }
  }

  /** One request: its final response, or the error of the attempt. Reports the result to the breaker; never rejects. */
  async #sendOnce(permit: BreakerPermit): Promise<Response | UpstreamError> {
    const { transport, observer, timeoutMs } = this.#options;
    const { signal } = this.#context;
    const queuedAt = performance.now();
    let startedAt: number | undefined;
    const exchange = transport.send(this.#endpoint, this.#input.request, () => {
      permit.check();
      startedAt = performance.now();
      this.#start(startedAt);
    });
    this.#exchange = exchange;
    const onAbort = () => exchange.abort(this.#endedWithOperation(exchange));
    signal.addEventListener('abort', onAbort, { once: true });
    const response = await exchange.response;
    signal.removeEventListener('abort', onAbort);
    const endedAt = performance.now();
    const inFlightMs = endedAt - (startedAt ?? endedAt);
    permit.end(resultOf(response, inFlightMs >= timeoutMs * MIN_PART_OF_TIMEOUT));
    this.#queueMs += (startedAt ?? endedAt) - queuedAt;
    this.#status = response instanceof Error ? undefined : response.status;
    this.#maybeDone ||= exchange.sent && (this.#status === undefined || this.#status >= 500);
    const outcome = outcomeOf(this.#endpoint, response);
    if (!(outcome instanceof UpstreamError && outcome.notSent)) {
      const { method, template } = this.#endpoint;
      this.#attempts += 1;
      observer.attempt?.(method, template, this.#status, inFlightMs);
    }
    return outcome;
  }

  /** The time of the call begins with its first request. */
  #start(now: number): void {
    if (this.#expiresAt !== undefined) return;
    const { timeoutMs } = this.#options;
    this.#expiresAt = now + timeoutMs;
    this.#expiry = setTimeout(() => this.#exchange?.abort(timedOut(this.#endpoint)), timeoutMs);
  }

  /** Without a free connection, the wait was caused by the gateway's own limit. */
  #endedWithOperation({ sent }: Exchange): UpstreamError {
    const { transport, connections } = this.#options;
    const error = endedBy(this.#context.signal, this.#endpoint);
    const isQueued = !sent && transport.load(this.#endpoint).active >= connections;
    return isQueued && error.code === 'UPSTREAM_TIMEOUT' ? noConnection(this.#endpoint) : error;
  }

  #read(response: Response): Result {
    const { observer } = this.#options;
    const onUnexpected404 = (endpoint: string) => observer.notFoundWithoutCode?.(endpoint);
    const maybeDone = this.#maybeDone;
    // An error response says that nothing was done; after a success that cannot be read, nobody knows.
    this.#maybeDone ||= response.status < 400;
    return this.#input.decode(readResponse(response, this.#endpoint, onUnexpected404), maybeDone);
  }

  /**
   * The delay before the next retry, in milliseconds; undefined: the call is not sent again. A timeout is not retried: it
   * used all the time of the call.
   */
  #retryDelayMs(error: UpstreamError): number | undefined {
    const { budget, random } = this.#options;
    const { retry } = this.#endpoint;
    if (retry === 'never' || (retry === 'unsent' && this.#exchange?.sent)) return undefined;
    if (!error.retryable || error.notSent || error.code === 'UPSTREAM_TIMEOUT') return undefined;
    if (this.#attempts > MAX_RETRIES) return undefined;
    const delayMs = (error.retryAfterMs ?? 0) + random() * RETRY_DELAY_MS * 2 ** (this.#attempts - 1);
    const end = Math.min(this.#expiresAt ?? Number.POSITIVE_INFINITY, this.#context.deadline);
    return performance.now() + delayMs < end && budget.take() ? delayMs : undefined;
  }

  async #sleep(ms: number): Promise<void> {
    const { signal } = this.#context;
    await delay(ms, undefined, { signal }).catch(() => undefined);
    assertActive(this.#context, this.#endpoint);
    if (this.#expiresAt !== undefined && performance.now() >= this.#expiresAt) throw timedOut(this.#endpoint);
  }

  /**
   * A write is NOT_DONE when none of its attempts can have been carried out. Whatever was certainly not done may be sent
   * again.
   */
  #withOutcome(error: UpstreamError): UpstreamError {
    if (this.#endpoint.method === 'GET') return error;
    return error.with({
      outcome: this.#maybeDone ? 'UNKNOWN' : 'NOT_DONE',
      retryable: error.retryable && !this.#maybeDone,
    });
  }

  #report(error: UpstreamError | undefined): void {
    const { method, template } = this.#endpoint;
    const record = {
      method,
      template,
      status: this.#status,
      ms: performance.now() - this.#began,
      queueMs: this.#queueMs,
      attempts: this.#attempts,
      error: error?.code,
    };
    this.#options.observer.call?.(record);
    this.#context.onCall?.(record);
  }
}

/** The final response of an attempt, or its error. */
function outcomeOf(endpoint: Endpoint, response: Response | Error): Response | UpstreamError {
  if (!(response instanceof Error)) return isTransient(response) ? transientError(endpoint, response) : response;
  if (!(response instanceof NoResponse)) return asUpstreamError(response);
  const { name } = endpoint;
  const { reason, cause } = response;
  switch (reason) {
    case 'connection':
      return new UpstreamError('UPSTREAM_UNAVAILABLE', `${name}: the connection failed`, { cause, retryable: true });
    case 'connect-timeout':
      return timedOut(endpoint);
    case 'too-large':
      return new UpstreamError('UPSTREAM_INVALID_RESPONSE', `${name}: the body is too large`, { cause });
    case 'bad-request':
      return new UpstreamError('UPSTREAM_MISCONFIGURED', `${name}: the request cannot be written`, { cause });
    case 'queue-full':
      return noConnection(endpoint);
  }
}

function asUpstreamError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  return new UpstreamError('UPSTREAM_INVALID_RESPONSE', 'The response could not be decoded', { cause: error });
}

/** What an attempt says about the service: only 5xx, lost connections and timeouts are failures. */
function resultOf(response: Response | Error, wasInFlight: boolean): BreakerResult {
  if (!(response instanceof Error)) return response.status >= 500 ? 'failure' : 'success';
  if (response instanceof NoResponse) {
    if (response.reason === 'too-large') return 'success';
    return response.reason === 'bad-request' || response.reason === 'queue-full' ? 'none' : 'failure';
  }
  const isTimeout = response instanceof UpstreamError && response.code === 'UPSTREAM_TIMEOUT';
  return isTimeout && wasInFlight ? 'failure' : 'none';
}
