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
import { WriteOutcomes } from './write-outcomes.ts';

/**
 * What one operation carries through its resolvers. Apollo Server copies it shallowly before execution, so what changes
 * is held in objects of its own.
 */
export interface Context {
  caller: Caller;
  /** The operation that was measured and charged for; undefined for a request that Apollo Server will refuse. */
  known: KnownOperation | undefined;
  /** What REST calls need of the operation: its id, its deadline, its cancellation. */
  call: CallContext;
  loaders: Loaders;
  idempotency: Idempotency;
  /** What became of the operation's writes so far. */
  writes: WriteOutcomes;
  /** The allowance for reading coupons. */
  couponReads: CouponReads;
  /** What access rules refused so far. */
  refusals: Refusals;
  rules: AccessRules;
  /** What log, metrics and trace will show of the operation. */
  record: OperationRecord;
  /** `extensions` of the response. */
  extensions: Record<string, unknown>;
}

/** What all operations of a gateway share. */
export interface ContextOptions {
  rest: RestClient;
  rules: AccessRules;
  rates: CouponRates;
  idempotency: Idempotency;
  /** How many REST calls one operation may cause. */
  maxUpstreamCalls: number;
  /** Told how many keys a loader put into one batch. */
  onBatch: (loader: string, keys: number) => void;
}

/** What differs from operation to operation. */
export type OperationContext = Pick<Context, 'caller' | 'known' | 'call' | 'record'>;

/** A fresh context: its loaders live as long as the operation and never serve another caller. */
export function createContext(
  { rest, rules, rates, idempotency, maxUpstreamCalls, onBatch }: ContextOptions,
  { caller, known, call, record }: OperationContext,
): Context {
  const budget = new CallBudget(maxUpstreamCalls);
  call.takeCall = () => budget.take(1);
  const reading = { rest, call, budget, onBatch };
  const loaders = new Loaders(reading);
  const couponReads = new CouponReads(rates, caller);
  const writes = new WriteOutcomes();
  const refusals = new Refusals();
  const extensions = { requestId: call.requestId };
  return { caller, known, call, loaders, idempotency, writes, couponReads, refusals, rules, record, extensions };
}
