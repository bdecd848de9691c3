import type { Caller } from '../access/caller.ts';
import type { AccessRules } from '../access/rules.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { CallContext } from '../rest/call-context.ts';
import type { RestClient } from '../rest/client.ts';
import type { OperationRecord } from '../telemetry/operation-record.ts';
import type { Idempotency } from './idempotency.ts';
import {
  CallBudget,
  type CouponLoader,
  createCouponLoader,
  createPlayerLoader,
  type LoaderDependencies,
  type PlayerLoader,
} from './loaders/call.ts';
import { ReferralLoader } from './loaders/referral.ts';
import { createOperationWrites, type OperationWrites } from './loaders/writes.ts';
import type { KnownOperation } from './operations.ts';

/**
 * The context of one operation. Apollo Server copies it shallowly before execution, so mutable state is in objects.
 */
export interface Context {
  caller: Caller;
  /** The operation, once it is measured and charged; undefined before, and for a request that Apollo Server refuses. */
  known: KnownOperation | undefined;
  /** Its complexity; 0 before it is measured. */
  complexity: number;
  /** The part of the context that REST calls need: request id, deadline, signal. */
  call: CallContext;
  loaders: Loaders;
  idempotency: Idempotency;
  rules: AccessRules;
  /** The data for log, metrics and trace. */
  record: OperationRecord;
  /** `extensions` of the response. */
  extensions: Record<string, unknown>;
}

/** The loaders and writes of one operation, each created at its first use and never shared with another operation. */
class Loaders {
  readonly #dependencies: LoaderDependencies;
  #players: PlayerLoader | undefined;
  #coupons: CouponLoader | undefined;
  #referrals: ReferralLoader | undefined;
  #writes: OperationWrites | undefined;

  constructor(dependencies: LoaderDependencies) {
    this.#dependencies = dependencies;
  }

  get players(): PlayerLoader {
    this.#players ??= createPlayerLoader(this.#dependencies);
    return this.#players;
  }

  get coupons(): CouponLoader {
    this.#coupons ??= createCouponLoader(this.#dependencies);
    return this.#coupons;
  }

  get referrals(): ReferralLoader {
    this.#referrals ??= new ReferralLoader(this.#dependencies);
    return this.#referrals;
  }

  get writes(): OperationWrites {
    this.#writes ??= createOperationWrites(this.#dependencies, () => this.clearAll());
    return this.#writes;
  }

  /** Clears the caches of all loaders. */
  clearAll(): void {
    this.#players?.clearAll();
    this.#coupons?.clearAll();
    this.#referrals?.clearAll();
  }
}

/** The part of the context that all operations of a gateway share. */
export interface ContextOptions {
  rest: RestClient;
  rules: AccessRules;
  rates: Pick<RateLimits, 'consume'>;
  idempotency: Idempotency;
  /** How many REST calls one operation may cause. */
  maxUpstreamCalls: number;
  /** Called with the number of keys that a loader put into one batch. */
  onBatch: (loader: string, keys: number) => void;
}

/** What is known of an operation when its execution begins. */
interface OperationContext
  extends Pick<Context, 'caller' | 'record'>,
    Pick<CallContext, 'requestId' | 'signal' | 'deadline'> {}

/** Creates a context. Its loaders belong to this operation and are never shared with another caller. */
export function createContext(
  { rest, rules, rates, idempotency, maxUpstreamCalls, onBatch }: ContextOptions,
  operation: OperationContext,
): Context {
  const { requestId, caller, record, signal, deadline } = operation;
  const budget = new CallBudget(maxUpstreamCalls);
  const call: CallContext = {
    requestId,
    signal,
    deadline,
    traceHeaders: record.trace.headers,
    takeCall: () => budget.take(1),
    onCall: (ended) => record.calls.push(ended),
  };
  const consumeCouponReads = (reads: number) => rates.consume('couponReads', caller, reads);
  const loaders = new Loaders({ rest, call, budget, onBatch, consumeCouponReads });
  const extensions = { requestId };
  return { caller, known: undefined, complexity: 0, call, loaders, idempotency, rules, record, extensions };
}
