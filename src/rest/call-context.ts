import type { Caller } from '../caller.ts';
import type { Cancellation } from '../cancellation.ts';
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
  readonly caller: Pick<Caller, 'key' | 'isServer'>;
  /** The headers of W3C Trace Context that are sent, names and values in turn. */
  readonly traceHeaders?: readonly string[];
  /** Called with every call when it is over, successful or not, and the player that it is about. */
  onCall?(record: CallRecord, playerUniqueId: string): void;
}

/** One call as logs, metrics and `extensions.upstream` show it: without ids, keys or bodies. */
export interface CallRecord {
  endpoint: Endpoint;
  /** When it was asked for, by `performance.now()`. */
  began: number;
  /** The HTTP status of the last attempt; undefined when it had no response. */
  status: number | undefined;
  /** From the operation's request to the result, in milliseconds. */
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
