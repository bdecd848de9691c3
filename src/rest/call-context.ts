import type { Cancellation } from './cancellation.ts';
import type { CouponMembers } from './decode/coupon-members.ts';
import type { Method } from './endpoints.ts';
import type { UpstreamErrorCode } from './errors.ts';

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
  /** The caller whose share limits the calls. Undefined: no share limits them. */
  readonly callerKey?: string | undefined;
  /** What the operation needs of each coupon. Undefined: everything. */
  readonly couponMembers?: CouponMembers | undefined;
  /** Called before each further read that this client adds to a call. Throws when the budget is used up. */
  takeCall?(): void;
  /** Called when a call begins: returns the context of this call. Absent: the operation's context is that of all its calls. */
  beginCall?(): CallContext;
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
