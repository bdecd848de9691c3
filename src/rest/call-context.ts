import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { CouponMembers } from './decode/coupon.ts';
import type { Endpoint, Method } from './endpoints.ts';
import { cancelled, timedOut, type UpstreamErrorCode } from './errors.ts';

/** The headers of W3C Trace Context. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

/** The data of a GraphQL operation that its REST calls need. */
export interface CallContext {
  /** Fires when the operation's client disconnects; calls in flight then end at once. */
  readonly cancellation: Cancellation;
  /** When the operation must be over, on the clock of `performance.now()`, in milliseconds. */
  readonly deadline: number;
  /** Sent as `x-request-id`. */
  readonly requestId: string;
  /** W3C trace context, sent in these headers. */
  readonly trace?: TraceHeaders | undefined;
  /** The caller whose share limits the calls. Undefined: the calls are not limited to a share. */
  readonly callerKey?: string | undefined;
  /** What the operation needs of each coupon. Undefined: everything. */
  readonly couponMembers?: CouponMembers | undefined;
  /** Called before each further read that this client adds to a call. Throws when the budget is used up. */
  takeCall?(): void;
  /** Called when a call begins; returns the values that replace those of this context for the call. */
  beginCall?: (() => Pick<CallContext, 'trace' | 'onCall'>) | undefined;
  /** Called with every call when it is over, successful or not. */
  onCall?(record: CallRecord): void;
}

/** One call as logs, metrics and `extensions.upstream` show it: without ids, keys or bodies. */
export interface CallRecord {
  method: Method;
  /** The path with the parameter's name in place of the id. */
  template: string;
  /** The HTTP status of the last response; undefined when there was none. */
  status?: number | undefined;
  /** From the operation's request to the result, in milliseconds. */
  ms: number;
  /** How long the call waited for a free connection, in milliseconds; a part of `ms`. */
  queueMs: number;
  /** How often the call was sent: 0 when it was refused before, or read from the cache. */
  attempts: number;
  /** Whether another operation had already started the call. */
  shared: boolean;
  /** Whether the result came from the read cache. */
  cached: boolean;
  /** Whether an expired result of the read cache replaced a failure. */
  stale: boolean;
  error?: UpstreamErrorCode | undefined;
}

/** Something that must end when its operation ends. */
export interface Cancellable {
  /** @param timedOut Whether the operation's deadline has passed; otherwise its client disconnected. */
  cancel(timedOut: boolean): void;
}

/**
 * Ends the calls of one operation when its client disconnects or its deadline passes. An AbortSignal with one listener
 * costs some 4 µs per call on Node 20; this costs an array entry per call and one timer per operation.
 */
export class Cancellation {
  #cancelled = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #watchers: Cancellable[] = [];

  get cancelled(): boolean {
    return this.#cancelled;
  }

  /**
   * Cancels `watcher` when the client disconnects or `deadline` passes, until `unwatch`.
   *
   * @param deadline The operation's, on the clock of `performance.now()`; the same for all of its watchers.
   */
  watch(watcher: Cancellable, deadline: number): void {
    this.#watchers.push(watcher);
    this.#timer ??= setTimeout(() => this.#end(true), deadline - performance.now());
  }

  unwatch(watcher: Cancellable): void {
    const index = this.#watchers.indexOf(watcher);
    if (index >= 0) this.#watchers.splice(index, 1);
    if (this.#watchers.length === 0) this.#stopTimer();
  }

  /** The client disconnected. */
  cancel(): void {
    this.#cancelled = true;
    this.#end(false);
  }

  #end(timedOut: boolean): void {
    this.#stopTimer();
    for (const watcher of this.#watchers.splice(0)) watcher.cancel(timedOut);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** Throws when the deadline of an operation has passed or its client has disconnected. */
export function assertActive({ deadline, cancellation }: CallContext, endpoint: Endpoint): void {
  if (performance.now() >= deadline) throw timedOut(endpoint);
  if (cancellation.cancelled) throw cancelled(endpoint);
}

/** W3C trace context: 32, 16 and 2 hexadecimal digits. */
export interface TraceParent {
  traceId: string;
  spanId: string;
  flags: string;
  /** The header `tracestate`, which is passed on as it is. */
  state: string | undefined;
}

/** Version, trace id, parent id, flags; a later version than 00 may add more (W3C Trace Context, section 4.3). */
const FORM = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** A `tracestate` that is passed on (section 3.3.1.5: at least 512 characters). */
const STATE = /^[\x20-\x7e]{1,512}$/;

/** Reads the headers of a request; undefined when `traceparent` is absent or not well-formed. */
export function readTraceParent({ traceparent, tracestate }: IncomingHttpHeaders): TraceParent | undefined {
  const [, version, traceId, spanId, flags, more] = (typeof traceparent === 'string' && FORM.exec(traceparent)) || [];
  if (!traceId || !spanId || !flags || (version === '00' && more)) return undefined;
  const state = typeof tracestate === 'string' && STATE.test(tracestate) ? tracestate : undefined;
  return { traceId, spanId, flags, state };
}

export function writeTraceParent({ traceId, spanId, flags, state }: TraceParent): TraceHeaders {
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: state };
}

/** A trace context for an operation without a trace. Not sampled. */
export function newTraceParent(): TraceParent {
  return { traceId: randomDigits(), spanId: randomDigits().slice(16), flags: '00', state: undefined };
}

/** 32 hexadecimal digits, never all 0. Node gets the random bytes for many UUIDs at once. */
function randomDigits(): string {
  return randomUUID().replaceAll('-', '');
}
