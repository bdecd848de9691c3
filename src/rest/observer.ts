import type { BreakerState } from './breaker.ts';
import type { CallRecord } from './call-context.ts';
import type { Warn } from './decode/members.ts';

/** Called by the client, for metrics. Every property is optional. */
export interface Observer {
  /** A call of an operation is over. */
  call?(record: CallRecord): void;
  /** An attempt is over: once for each request sent. */
  attempt?(method: string, template: string, status: number | undefined, ms: number): void;
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
