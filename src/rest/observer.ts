import type { CallRecord } from './call-context.ts';
import type { Warn } from './decode/members.ts';

export type BreakerState = 'closed' | 'half-open' | 'open';

/** The state of the client at this moment. */
export interface Health {
  breaker: BreakerState;
  /** Requests in flight. */
  active: number;
  /** Calls that wait for a connection or for the end of a pause. */
  queued: number;
  /** For how many more milliseconds no call is sent because the service asked for a pause; 0 without one. */
  pausedMs: number;
}

/** Called by the client, for metrics. Every member is optional. */
export interface Observer {
  /** A call of an operation is over. */
  call?(record: CallRecord): void;
  /** An attempt is over: once for each request sent. */
  attempt?(method: string, template: string, status: number | undefined, ms: number): void;
  /** A call got a connection after this many milliseconds, or was refused one. */
  queueWait?(ms: number): void;
  retry?(method: string, template: string): void;
  breaker?(state: BreakerState): void;
  /** A value of a response did not have the form that the interface document describes. */
  decodeWarning?: Warn;
  /**
   * A 404 did not have the code that says that the player is unknown. It is still read as an unknown player. A wrong path in
   * the base URL causes this for every player.
   */
  notFoundWithoutCode?(endpoint: string): void;
}
