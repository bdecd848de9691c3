import DataLoader from 'dataloader';
import type { CallContext } from '../../../rest/call-context.ts';
import type { RestClient } from '../../../rest/client.ts';
import { ClientError } from '../errors.ts';

/** What a loader works with: the REST client, the operation it reads for and that operation's budget of calls. */
export interface Reading {
  rest: RestClient;
  call: CallContext;
  budget: CallBudget;
  /** Told how many keys a loader put into one batch. */
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

  /** Takes `calls` from the budget before the first of them is sent; throws OPERATION_TOO_COMPLEX when it holds fewer. */
  take(calls: number): void {
    if (calls > this.#left) {
      throw new ClientError(
        'OPERATION_TOO_COMPLEX',
        `The operation needs more than ${this.#max} calls to the referral and rewards service. Ask for fewer players at once.`,
        { extensions: { limit: 'upstreamCalls', max: this.#max } },
      );
    }
    this.#left -= calls;
  }
}

/**
 * A loader with one REST call for each key. The keys of a tick become as many calls, all at once; the REST client bounds how
 * many are sent at a time. Keys with the same `cacheKeyFn` are the same; without it, identical ones.
 */
export function createCallLoader<Key, Result, Same = Key>(
  name: string,
  { budget, onBatch }: Reading,
  read: (key: Key) => Promise<Result>,
  cacheKeyFn?: (key: Key) => Same,
): DataLoader<Key, Result, Same> {
  const readAll = async (keys: readonly Key[]) => {
    onBatch(name, keys.length);
    budget.take(keys.length);
    return await Promise.all(keys.map((key) => read(key).catch(asError)));
  };
  return new DataLoader(readAll, cacheKeyFn && { cacheKeyFn });
}

/** DataLoader takes the failure of one key as an Error in its place. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('A read failed without an error.', { cause: error });
}
