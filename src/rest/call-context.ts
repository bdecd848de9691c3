import { setMaxListeners } from 'node:events';
import type { UpstreamErrorCode } from '../errors.ts';
import type { Endpoint, Method } from './endpoints.ts';
import { cancelled, timedOut, type UpstreamError } from './errors.ts';

/** The data of a GraphQL operation that its REST calls need. */
export interface CallContext {
  /** Aborts when the client disconnects (reason `DISCONNECTED`) or the operation's deadline passes (any other reason). */
  readonly signal: AbortSignal;
  /** When the operation must be over, on the clock of `performance.now()`, in milliseconds. */
  readonly deadline: number;
  /** Sent as `x-request-id`. */
  readonly requestId: string;
  /** The headers of W3C Trace Context that are sent, names and values in turn. */
  readonly traceHeaders?: readonly string[];
  /** Called before each further read that this client adds to a call. Throws when the budget is used up. */
  takeCall?(): void;
  /** Called with every call when it is over, successful or not. */
  onCall?(record: CallRecord): void;
}

/** One call as logs, metrics and `extensions.upstream` show it: without ids, keys or bodies. */
export interface CallRecord {
  method: Method;
  /** The path with the parameter's name in place of the id. */
  template: string;
  /** The HTTP status of the last response; undefined when there was none. */
  status: number | undefined;
  /** From the operation's request to the result, in milliseconds. */
  ms: number;
  /** How long the call waited for a free connection, in milliseconds; a part of `ms`. */
  queueMs: number;
  /** How often the call was sent: 0 when it was rejected before. */
  attempts: number;
  error: UpstreamErrorCode | undefined;
}

/** The reason of a signal whose client disconnected. */
export const DISCONNECTED = 'the client disconnected';

/** The reason of a signal whose operation has reached its deadline. */
const DEADLINE = 'the deadline of the operation passed';

/**
 * Aborts `controller` at `deadline`, on the clock of `performance.now()`. Returns the function that clears the timer when the
 * operation ends. `AbortSignal.timeout` and `any` are not used: on Node 20 they can be collected before they abort.
 */
export function abortAt(controller: AbortController, deadline: number): () => void {
  // Each call of the operation listens while it is in flight.
  setMaxListeners(0, controller.signal);
  if (deadline === Number.POSITIVE_INFINITY) return () => undefined;
  const timer = setTimeout(() => controller.abort(DEADLINE), Math.max(0, deadline - performance.now()));
  return () => clearTimeout(timer);
}

/** Throws when the deadline of an operation has passed or its client has disconnected. */
export function assertActive({ deadline, signal }: CallContext, endpoint: Endpoint): void {
  if (signal.aborted) throw endedBy(signal, endpoint);
  if (performance.now() >= deadline) throw timedOut(endpoint);
}

/** The error of a call that ends because its operation ended. */
export function endedBy(signal: AbortSignal, endpoint: Endpoint): UpstreamError {
  return signal.reason === DISCONNECTED ? cancelled(endpoint) : timedOut(endpoint);
}
