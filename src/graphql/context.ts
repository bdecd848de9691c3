import type { AccessRules } from '../access/rules.ts';
import type { Caller } from '../caller.ts';
import type { CallContext } from '../rest/call-context.ts';
import type { OperationRecord } from '../telemetry/observe.ts';
import type { Idempotency } from './idempotency.ts';
import type { HashFriend } from './loaders/connection.ts';
import { createCouponLoader } from './loaders/coupon.ts';
import { createBudget, type LoaderDependencies } from './loaders/loader.ts';
import { createPlayerLoader } from './loaders/player.ts';
import { createReferralLoader, type ReferralLoader } from './loaders/referral.ts';
import { createWrites } from './writes.ts';

/** The context of one operation. Apollo Server makes a shallow copy of it for its pipeline. */
export interface Context extends Pick<SharedContext, 'rules' | 'idempotency' | 'hashFriend'> {
  caller: Caller;
  /** The complexity of the operation: measured before it, increased by lists that are longer than assumed. */
  complexity: number;
  /** The REST calls that it has taken, and may still take. */
  budget: LoaderDependencies['budget'];
  /** Whether the caller may send all events of the operation; undefined until its first event. */
  eventsAllowed?: boolean;
  /** What REST calls need. The loaders have this same object, so they see what is set in it later. */
  callContext: CallContext;
  loaders: Loaders;
  record: OperationRecord;
  /** `extensions` of the response. */
  extensions: Record<string, unknown>;
}

/**
 * The loaders and writes of one operation, never shared with another operation. A class, because V8 keeps what the getters of
 * an object literal refer to until the next full collection: that doubled the CPU time of collections.
 */
class Loaders {
  readonly players: ReturnType<typeof createPlayerLoader>;
  readonly coupons: ReturnType<typeof createCouponLoader>;
  readonly #dependencies: LoaderDependencies;
  #referrals: ReferralLoader | undefined;
  #writes: ReturnType<typeof createWrites> | undefined;

  constructor(dependencies: LoaderDependencies) {
    this.#dependencies = dependencies;
    this.players = createPlayerLoader(dependencies);
    this.coupons = createCouponLoader(dependencies);
  }

  get referrals(): ReferralLoader {
    this.#referrals ??= createReferralLoader(this.#dependencies);
    return this.#referrals;
  }

  get writes() {
    this.#writes ??= createWrites(this.#dependencies, () => {
      for (const loader of [this.players, this.coupons, this.#referrals]) loader?.clearAll();
    });
    return this.#writes;
  }
}

/** The part of the context that all operations of a gateway share. */
export interface SharedContext extends Pick<LoaderDependencies, 'rest' | 'rates' | 'onBatch' | 'report'> {
  rules: AccessRules;
  idempotency: Idempotency;
  hashFriend: HashFriend;
  maxUpstreamCalls: number;
}

/** What is known of an operation when its execution begins. */
type OperationStart = Pick<Context, 'caller' | 'record'> & Pick<CallContext, 'requestId' | 'cancellation'>;

export function createContext(options: SharedContext, start: OperationStart): Context {
  const { requestId, caller, record, cancellation } = start;
  const { rest, rules, rates, idempotency, hashFriend, maxUpstreamCalls, onBatch, report } = options;
  const budget = createBudget(maxUpstreamCalls);
  const callContext: CallContext = {
    requestId,
    cancellation,
    caller,
    traceHeaders: record.trace.headers,
    onCall(ended, playerUniqueId) {
      record.calls.push(ended);
      if (caller.isServer) record.players = (record.players ?? new Set()).add(playerUniqueId);
    },
  };
  const loaders = new Loaders({ rest, callContext, record, budget, rates, onBatch, report });
  const extensions = { requestId };
  // biome-ignore format: in one line. Without a spread, because V8 would give each context a hidden class of its own.
  return { caller, complexity: 0, budget, callContext, loaders, idempotency, hashFriend, rules, record, extensions };
}
