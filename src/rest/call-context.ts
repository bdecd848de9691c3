import type { Caller } from '../caller.ts';
import type { UpstreamErrorCode } from '../errors.ts';
import type { BreakerState } from './breaker.ts';
import type { Wanted, Warn } from './decode/properties.ts';
import type { Endpoint } from './endpoints.ts';

/** The data of a GraphQL operation that its REST calls need. */
export interface CallContext {
  readonly cancellation: Cancellation;
  readonly requestId: string;
  /** What is read of the responses; the rest is not decoded. Set by engine/apollo.ts before any resolver runs. */
  wanted?: Wanted;
  readonly caller: Pick<Caller, 'key' | 'isServer' | 'name'>;
  /** The headers of W3C Trace Context that are sent, names and values in turn. */
  readonly traceHeaders?: readonly string[];
  /** Called with every call when it is over, successful or not, and the player that it is about. */
  onCall?(record: CallRecord, playerUniqueId: string): void;
}

type CancellationReason = 'the client disconnected' | 'the deadline passed' | 'the operation is over';

/**
 * Ends the REST calls of one operation: its client disconnected, its deadline passed, or it does not need them.
 * An AbortController with a timer would do the same, but creating its signal and listeners took 4 % of a small request.
 */
export class Cancellation {
  /** When the operation must be over, on the clock of `performance.now()`, in milliseconds. */
  readonly deadline: number;
  /** Undefined until it is cancelled. */
  reason: CancellationReason | undefined;
  readonly listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;

  constructor(deadline: number) {
    this.deadline = deadline;
    // When the process was held up, responses may have arrived: sockets are read before the immediate.
    const pass = () => setImmediate(() => this.cancel('the deadline passed'));
    this.#timer = setTimeout(pass, Math.max(0, deadline - performance.now()));
  }

  cancel(reason: CancellationReason): void {
    if (this.reason) return;
    this.reason = reason;
    for (const listener of this.listeners) listener();
  }

  /** Resolves after so many milliseconds, or when it is cancelled. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.listeners.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.listeners.add(end);
    });
  }

  /** Called when the operation is over. Calls that wait for a connection are not sent, such as coupons of an unknown player. */
  end(): void {
    clearTimeout(this.#timer);
    this.cancel('the operation is over');
  }
}

/** One call as logs, metrics and `extensions.upstream` show it: without ids, keys or bodies. */
export interface CallRecord {
  endpoint: Endpoint;
  /** When it was asked for, by `performance.now()`. */
  began: number;
  /** The HTTP status of the last attempt; undefined when it had no response. */
  status: number | undefined;
  /** From when it was asked for to its result, in milliseconds. */
  ms: number;
  /** How long the call waited for a connection, in milliseconds; a part of `ms`. */
  queueMs: number;
  /** How often the call was tried, also without a connection. */
  attempts: number;
  error: UpstreamErrorCode | undefined;
}

/** Called by the client, for metrics. `endpoint` is the name of one: method and template. */
export interface Observer {
  call?(record: CallRecord): void;
  /** An attempt is over, also one that got no connection. */
  attempt?(endpoint: string, status: number | undefined, ms: number): void;
  retry?(endpoint: string): void;
  breaker?(endpoint: string, state: BreakerState): void;
  decodeWarning?: Warn;
  /** A 404 without the code of an unknown player is read as one. A wrong path in the base URL causes it for every player. */
  notFoundWithoutCode?(endpoint: string): void;
}
