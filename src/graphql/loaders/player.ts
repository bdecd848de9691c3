import DataLoader from 'dataloader';
import { ClientError } from '../../errors.ts';
import type { CallContext } from '../../rest/call-context.ts';
import type { RestClient } from '../../rest/client.ts';
import { UpstreamError } from '../../rest/upstream-error.ts';
import type { Player } from '../../rest/wire.ts';

/** The dependencies of a loader: the REST client, the call context of the operation, and its budget of REST calls. */
export interface LoaderDependencies {
  rest: RestClient;
  call: CallContext;
  takeCalls: ReturnType<typeof createBudget>;
  /** Consumes the coupon reads of one batch; rejects with RATE_LIMITED. */
  consumeCouponReads: (reads: number) => Promise<void>;
  /** Called with the number of keys that a loader put into one batch. */
  onBatch: (loader: string, keys: number) => void;
  /** The codes of the operation's user errors, for the log. */
  userErrorCodes: Set<string>;
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

interface PlayerKey {
  playerUniqueId: string;
  lang: string | undefined;
}

/**
 * Players, each read once per operation and language. A player is read in the requested language, else in its primary language
 * (`en` of `en-US`), else in the default one. Only the service knows which languages the account has; it rejects others.
 */
export function createPlayerLoader({ rest, call, takeCalls, onBatch }: LoaderDependencies) {
  const readAll = async (keys: readonly PlayerKey[]) => {
    onBatch('players', keys.length);
    takeCalls(keys.length);
    return await Promise.all(keys.map(({ playerUniqueId: id, lang }) => rest.getPlayer(id, lang, call).catch(asError)));
  };
  // An id has no line break, so the key is unambiguous.
  const loader = new DataLoader<PlayerKey, Player | null, string>(refusedOnce(readAll), {
    cacheKeyFn: ({ playerUniqueId, lang }) => `${lang ?? ''}\n${playerUniqueId}`,
  });
  function load({ playerUniqueId, lang }: PlayerKey): Promise<Player | null> {
    const player = loader.load({ playerUniqueId, lang });
    if (lang === undefined) return player;
    return player.catch((error: unknown) => {
      // A busy player is a 422 too, but not a refusal.
      const isRefused = error instanceof UpstreamError && error.code === 'UPSTREAM_REJECTED';
      if (!isRefused || (error.status !== 400 && error.status !== 422)) throw error;
      const [primary] = lang.toLowerCase().split('-', 1);
      return load({ playerUniqueId, lang: primary === lang ? undefined : primary });
    });
  }
  return { load, clearAll: () => void loader.clearAll() };
}

/**
 * Players' coupons, each player's read once per operation; null for a player that does not exist. A batch consumes its coupon
 * reads in one step: all its fields are RATE_LIMITED, or none.
 */
export function createCouponLoader({ rest, call, takeCalls, onBatch, consumeCouponReads }: LoaderDependencies) {
  const readAll = async (keys: readonly string[]) => {
    onBatch('coupons', keys.length);
    takeCalls(keys.length);
    await consumeCouponReads(keys.length);
    return await Promise.all(keys.map((id) => rest.listCoupons(id, call).catch(asError)));
  };
  return new DataLoader(refusedOnce(readAll));
}

/** For DataLoader, an Error in the place of a result is the failure of that key. */
export const asError = (error: Error) => error;

/**
 * Makes the refusal of a batch the failure of each of its keys. DataLoader forgets the keys of a batch that rejects: after the
 * look-ahead, the resolver would read and be charged again.
 */
export function refusedOnce<Key, Value>(readAll: (keys: readonly Key[]) => Promise<(Value | Error)[]>) {
  return (keys: readonly Key[]) => readAll(keys).catch((error: Error) => keys.map(() => error));
}
