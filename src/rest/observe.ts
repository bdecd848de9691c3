import type { CallRecord } from './call-context.ts';
import type { BreakerState } from './health.ts';

/** What a value of the REST service had wrong with it; such a value is left out or read as `unknown`. */
export type Oddity = 'unknown-enum-value' | 'undecodable-date' | 'wrong-type' | 'bad-url';

/** Takes notice of one odd value; `member` names it as `coupon.couponType`, never by its content. */
export type Notice = (oddity: Oddity, member: string) => void;

/** Where the client reports what happens, for metrics. Every member may be left out. */
export interface Observer {
  /** A call that an operation asked for is over. */
  call?(record: CallRecord): void;
  /** A request was sent and answered, or failed: once per attempt. */
  attempt?(method: string, template: string, status: number | undefined, ms: number): void;
  retry?(method: string, template: string): void;
  breaker?(state: BreakerState): void;
  oddity?: Notice;
}
