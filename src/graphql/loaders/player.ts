import DataLoader from 'dataloader';
import { ClientError } from '../../errors.ts';
import type { CallContext } from '../../rest/call-context.ts';
import type { RestClient } from '../../rest/client.ts';

/** The dependencies of a loader: the REST client, the call context of the operation, and its budget of REST calls. */
export interface LoaderDependencies {
  rest: RestClient;
  call: CallContext;
  budget: CallBudget;
  /** Consumes the coupon reads of one batch; rejects with RATE_LIMITED. */
  consumeCouponReads: (reads: number) => Promise<void>;
  /** Called with the number of keys that a loader put into one batch. */
  onBatch: (loader: string, keys: number) => void;
}

/** How many calls to the REST service one operation has left. */
export class CallBudget {
  readonly #max: number;
  #left: number;

  constructor(max: number) {
    this.#max = max;
    this.#left = max;
  }

  /** Takes `calls` from the budget before the first call is sent; throws OPERATION_TOO_COMPLEX when fewer are left. */
  take(calls: number): void {
    if (calls > this.#left) {
      const message = `The operation needs more than ${this.#max} calls to the referral and rewards service. Ask for fewer players at once.`;
      const extensions = { limit: 'upstreamCalls', max: this.#max };
      throw new ClientError('OPERATION_TOO_COMPLEX', message, { extensions });
    }
    this.#left -= calls;
  }
}

/** Players, each read once per operation and language. */
export function createPlayerLoader({ rest, call, budget, onBatch }: LoaderDependencies) {
  const readAll = async (keys: readonly { playerUniqueId: string; lang: string | undefined }[]) => {
    onBatch('players', keys.length);
    budget.take(keys.length);
    return await Promise.all(
      keys.map(({ playerUniqueId, lang }) => rest.getPlayer(playerUniqueId, lang, call).catch(asError)),
    );
  };
  // An id has no line break, so the key is unambiguous.
  return new DataLoader(readAll, { cacheKeyFn: ({ playerUniqueId, lang }) => `${lang ?? ''}\n${playerUniqueId}` });
}

/**
 * Players' coupons, each player's read once per operation; null for a player that does not exist. A batch consumes its coupon
 * reads at once: one call to Redis, and all or none of its fields are RATE_LIMITED.
 */
export function createCouponLoader({ rest, call, budget, onBatch, consumeCouponReads }: LoaderDependencies) {
  return new DataLoader(async (keys: readonly string[]) => {
    onBatch('coupons', keys.length);
    budget.take(keys.length);
    await consumeCouponReads(keys.length);
    return await Promise.all(keys.map((id) => rest.listCoupons(id, call).catch(asError)));
  });
}

/** For DataLoader, an Error in the place of a result is the failure of that key. All errors of the REST client are Errors. */
export const asError = (error: Error) => error;
