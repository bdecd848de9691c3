import type { CallContext } from '../../rest/call-context.ts';
import type { RestClient } from '../../rest/client.ts';
import type { Caller } from '../access/caller.ts';
import { type AccessRules, Refusals } from '../access/rules.ts';
import { type CouponRates, CouponReads } from '../limits/rate-limits.ts';
import type { OperationRecord } from '../observe/operation-record.ts';
import type { Idempotency } from './idempotency.ts';
import { CallBudget } from './loaders/call.ts';
import { Loaders } from './loaders/loaders.ts';
import type { KnownOperation } from './operations.ts';

/**
 * The context of one operation. Apollo Server copies it shallowly before execution, so mutable state is in objects.
 */
export interface Context {
  caller: Caller;
  /** The operation that was measured and charged; undefined for a request that Apollo Server will refuse. */
  known: KnownOperation | undefined;
  /** The part of the context that REST calls need: request id, deadline, cancellation. */
  call: CallContext;
  loaders: Loaders;
  idempotency: Idempotency;
  /** The allowance for reading coupons. */
  couponReads: CouponReads;
  /** The refusals of access rules so far. */
  refusals: Refusals;
  rules: AccessRules;
  /** The data for log, metrics and trace. */
  record: OperationRecord;
  /** `extensions` of the response. */
  extensions: Record<string, unknown>;
}

/** The part of the context that all operations of a gateway share. */
export interface ContextOptions {
  rest: RestClient;
  rules: AccessRules;
  rates: CouponRates;
  idempotency: Idempotency;
  /** How many REST calls one operation may cause. */
  maxUpstreamCalls: number;
  /** Called with the number of keys that a loader put into one batch. */
  onBatch: (loader: string, keys: number) => void;
}

/** The part of the context that is given for each operation. */
export type OperationContext = Pick<Context, 'caller' | 'known' | 'call' | 'record'>;

/** Creates a context. Its loaders belong to this operation and are never shared with another caller. */
export function createContext(
  { rest, rules, rates, idempotency, maxUpstreamCalls, onBatch }: ContextOptions,
  { caller, known, call, record }: OperationContext,
): Context {
  const budget = new CallBudget(maxUpstreamCalls);
  call.takeCall = () => budget.take(1);
  const reading = { rest, call, budget, onBatch };
  const loaders = new Loaders(reading);
  const couponReads = new CouponReads(rates, caller);
  const refusals = new Refusals();
  const extensions = { requestId: call.requestId };
  return { caller, known, call, loaders, idempotency, couponReads, refusals, rules, record, extensions };
}
