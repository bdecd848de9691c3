import DataLoader from 'dataloader';
import { ClientError } from '../../errors.ts';
import type { CallContext } from '../../rest/call-context.ts';
import type { RestClient } from '../../rest/client.ts';

/** The dependencies of a loader: the REST client, the call context of the operation, and its budget of REST calls. */
export interface LoaderDependencies {
  rest: RestClient;
  call: CallContext;
  takeCalls: ReturnType<typeof createBudget>;
  /** Consumes the coupon reads of one batch; rejects with RATE_LIMITED. */
  consumeCouponReads: (reads: number) => Promise<void>;
  /** Called with the number of keys that a loader put into one batch. */
  onBatch: (loader: string, keys: number) => void;
}

/** Takes calls from an operation's budget, before the first is sent; throws OPERATION_TOO_COMPLEX when fewer are left. */
export function createBudget(max: number): (calls: number) => void {
  let left = max;
  return (calls) => {
    if (calls > left) {
      const message = `The operation needs more than ${max} calls to the referral and rewards service. Ask for fewer players at once.`;
      throw new ClientError('OPERATION_TOO_COMPLEX', message, { extensions: { limit: 'upstreamCalls', max } });
    }
    left -= calls;
  };
}

/** Players, each read once per operation and language. */
export function createPlayerLoader({ rest, call, takeCalls, onBatch }: LoaderDependencies) {
  const readAll = async (keys: readonly { playerUniqueId: string; lang: string | undefined }[]) => {
    onBatch('players', keys.length);
    takeCalls(keys.length);
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
export function createCouponLoader({ rest, call, takeCalls, onBatch, consumeCouponReads }: LoaderDependencies) {
  return new DataLoader(async (keys: readonly string[]) => {
    onBatch('coupons', keys.length);
    takeCalls(keys.length);
    await consumeCouponReads(keys.length);
    return await Promise.all(keys.map((id) => rest.listCoupons(id, call).catch(asError)));
  });
}

/** For DataLoader, an Error in the place of a result is the failure of that key. All errors of the REST client are Errors. */
export const asError = (error: Error) => error;
