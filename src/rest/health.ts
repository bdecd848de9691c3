export type BreakerState = 'closed' | 'half-open' | 'open';

/** How the client fares with the REST service at this moment. */
export interface Health {
  breaker: BreakerState;
  /** Requests that are on their way. */
  active: number;
  /** Calls that wait for a free connection. */
  queued: number;
  /** For how many milliseconds no call is sent because the service asked for a pause; 0 without one. */
  pausedMs: number;
}
