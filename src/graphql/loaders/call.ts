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
      throw new ClientError('OPERATION_TOO_COMPLEX', message, {
        extensions: { limit: 'upstreamCalls', max: this.#max },
      });
    }
    this.#left -= calls;
  }
}

interface PlayerKey {
  playerUniqueId: string;
  lang: string | undefined;
}

/** Players, each read once per operation and language. */
export function createPlayerLoader(dependencies: LoaderDependencies) {
  const { rest, call } = dependencies;
  const read = ({ playerUniqueId, lang }: PlayerKey) => rest.getPlayer(playerUniqueId, lang, call);
  // An id has no line break, so the key is unambiguous.
  const keyOf = ({ playerUniqueId, lang }: PlayerKey) => `${lang ?? ''}\n${playerUniqueId}`;
  return createCallLoader('players', dependencies, read, keyOf);
}

/**
 * Players' coupons, each player's read once per operation; null for a player that does not exist. A batch consumes its coupon
 * reads at once: one call to Redis, and all or none of its fields are RATE_LIMITED.
 */
export function createCouponLoader(dependencies: LoaderDependencies) {
  const { rest, call, consumeCouponReads } = dependencies;
  const read = (playerUniqueId: string) => rest.listCoupons(playerUniqueId, call);
  return createCallLoader('coupons', dependencies, read, undefined, consumeCouponReads);
}

/**
 * A loader with one REST call for each key. The calls for the keys of a tick all start together; the REST client limits how
 * many are in flight. Keys with equal `cacheKeyFn` results are one key.
 * @param before Called with the number of keys of a batch, before its first call.
 */
function createCallLoader<Key, Result, Same = Key>(
  name: string,
  { budget, onBatch }: LoaderDependencies,
  read: (key: Key) => Promise<Result>,
  cacheKeyFn?: (key: Key) => Same,
  before?: (keys: number) => Promise<void>,
): DataLoader<Key, Result, Same> {
  const readAll = async (keys: readonly Key[]) => {
    onBatch(name, keys.length);
    budget.take(keys.length);
    if (before) await before(keys.length);
    return await Promise.all(keys.map((key) => read(key).catch(asError)));
  };
  return new DataLoader(readAll, cacheKeyFn && { cacheKeyFn });
}

/** For DataLoader, an Error in the place of a result is the failure of that key. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('A read failed without an error.', { cause: error });
}
