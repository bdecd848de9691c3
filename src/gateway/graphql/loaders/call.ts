import DataLoader from 'dataloader';
import { attempt } from '../../../rest/maybe.ts';
import type { Reading } from './loaders.ts';

/**
 * A loader that takes one REST call for each key: a tick's keys become as many calls, all at once, and the REST client
 * bounds how many are under way. Keys with the same `cacheKeyFn` are the same; without it, those that are identical.
 */
export function createCallLoader<Key, Result, Same = Key>(
  name: string,
  { budget, onBatch }: Reading,
  read: (key: Key) => Promise<Result>,
  cacheKeyFn?: (key: Key) => Same,
): DataLoader<Key, Result, Same> {
  const readAll = (keys: readonly Key[]) =>
    attempt(() => {
      onBatch(name, keys.length);
      budget.take(keys.length);
      return Promise.all(keys.map((key) => read(key).catch(asError)));
    });
  return new DataLoader(readAll, cacheKeyFn && { cacheKeyFn });
}

/** DataLoader takes a failure of one key as an Error in its place. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('A read failed without an error.', { cause: error });
}
