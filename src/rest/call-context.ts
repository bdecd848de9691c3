import type { Cancellation } from './cancellation.ts';
import type { UpstreamErrorCode } from './errors.ts';

/** What one GraphQL operation lends the REST client for every call it makes on the operation's behalf. */
export interface CallContext {
  /** Happens when the operation's client goes away; calls under way then end at once. */
  readonly cancellation: Cancellation;
  /** Until when the operation must be answered, on the clock of `performance.now()`, in milliseconds. */
  readonly deadline: number;
  /** Goes upstream as `x-request-id`. */
  readonly requestId: string;
  /** W3C trace context; goes upstream as `traceparent`. */
  readonly traceparent?: string | undefined;
  /** Told about every call when it is over, whatever became of it. */
  onCall?(record: CallRecord): void;
}

/** One call as logs, metrics and `extensions.upstream` show it: without ids, keys or bodies. */
export interface CallRecord {
  method: Method;
  /** The path with its parameter's name in place of the id. */
  template: string;
  /** The HTTP status of the last answer; absent when none arrived. */
  status?: number | undefined;
  /** How long the operation waited, in milliseconds. */
  ms: number;
  /** How often the call was sent: 0 when it was refused before, or answered from the cache. */
  attempts: number;
  /** Whether the call had been started for someone else. */
  shared: boolean;
  /** Whether the answer came from the read cache. */
  cached: boolean;
  /** Whether it came from the cache after its time because the service failed. */
  stale: boolean;
  /** How the call failed. */
  error?: UpstreamErrorCode | undefined;
}

export type Method = 'GET' | 'POST' | 'DELETE';
