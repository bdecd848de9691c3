import type { CallContext } from '../../rest/call-context.ts';
import type { RestClient } from '../../rest/client.ts';
import type { Caller } from '../access/caller.ts';
import type { Refusals } from '../access/enforce.ts';
import type { AccessRules } from '../access/rules.ts';
import { CouponReads } from '../limits/coupon-reads.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { OperationRecord } from '../observe/operation-record.ts';
import { CallBudget } from './loaders/budget.ts';
import { Loaders } from './loaders/loaders.ts';
import { Writes } from './loaders/writes.ts';

/**
 * What one operation carries through its resolvers. Apollo Server copies it shallowly before execution, so what changes
 * on the way is held in objects of its own.
 */
export interface Context {
  caller: Caller;
  /** What REST calls borrow from the operation: its id, its deadline, and whether its client is still there. */
  operation: CallContext;
  loaders: Loaders;
  writes: Writes;
  /** The allowance for reading coupons. */
  couponReads: CouponReads;
  /** What the schema's rules refused so far. */
  refusals: Refusals;
  rules: AccessRules;
  /** What the log, the metrics and the trace will tell of the operation. */
  record: OperationRecord;
  /** What the answer tells beside data and errors. */
  extensions: Record<string, unknown>;
}

/** What all operations of a gateway have in common. */
export interface ContextOptions {
  rest: RestClient;
  rules: AccessRules;
  rates: RateLimits;
  /** How many calls to the REST service one operation may cause. */
  maxUpstreamCalls: number;
  /** Told how many keys a loader put into one batch. */
  onBatch: (loader: string, keys: number) => void;
}

/** A fresh context: its loaders live as long as the operation and never serve another caller. */
export function createContext(
  { rest, rules, rates, maxUpstreamCalls, onBatch }: ContextOptions,
  caller: Caller,
  operation: CallContext,
  record: OperationRecord,
): Context {
  const reading = { rest, operation, budget: new CallBudget(maxUpstreamCalls), onBatch };
  const loaders = new Loaders(reading);
  const writes = new Writes(reading, loaders);
  const couponReads = new CouponReads(rates, caller);
  const extensions = { requestId: operation.requestId };
  return { caller, operation, loaders, writes, couponReads, refusals: new Map(), rules, record, extensions };
}
