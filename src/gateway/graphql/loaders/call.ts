import DataLoader from 'dataloader';
import type { Reading } from './reading.ts';

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
