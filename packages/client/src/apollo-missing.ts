import type { ApolloLink } from '@apollo/client';
import { print } from 'graphql';
import { isRetryable, type ResponseError, valueAt } from './errors.ts';

/*
 * Apollo's cache has no errors. It stores the null of a part that could not be read as if there were no such part. Three things
 * keep such a null from being taken for data:
 * - `withoutMissing`: where nothing of a player could be read, the response has no null in its place, so the cached player stays.
 * - `setLive` and `isLive`: a null that comes from a saved cache is missing, so Apollo asks for the field.
 * - `forgetWhenClosed`: a null is removed when no screen shows the error that came with it.
 */

/** A result without each field of the operation that is null because of an error that may be retried. */
export function withoutMissing(operation: ApolloLink.Operation, result: ApolloLink.Result): ApolloLink.Result {
  const { data, errors = [] } = result;
  const lost = errors.flatMap((error) => (isRetryable(error) && error.path?.length === 1 ? error.path : []));
  if (!data || lost.length === 0) return result;
  const left = Object.entries(data).filter(([name, value]) => value !== null || !lost.includes(name));
  const { client, query, variables } = operation;
  // With an empty object Apollo shows what the cache has, and warns if that is not all of the query.
  const isShown =
    left.length > 0 || client.cache.diff({ query, variables, optimistic: false, returnPartialData: true }).complete;
  return { ...result, data: isShown ? Object.fromEntries(left) : null };
}

/** Apollo's `storage` of a field lives as long as the cache, and is not saved with it: it tells the nulls of this process. */
export function setLive(storage: Record<string, unknown>, incoming: unknown): void {
  if (incoming === null) storage['isLive'] = true;
}

/** False for a null that was saved by another process, or rendered by a server. */
export function isLive(storage: Record<string, unknown>, known: unknown): boolean {
  return known !== null || storage['isLive'] === true;
}

/** How often to look whether a query is still shown, in milliseconds. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Takes the responses to queries. When no screen watches a query any more, the nulls that its last response had because of errors
 * that may be retried are removed from the cache, so that the next screen asks for them.
 */
export function forgetWhenClosed(): (operation: ApolloLink.Operation, result: ApolloLink.Result) => void {
  /** The cache's ids of the objects that lack a part, by query. */
  const incomplete = new Map<string, readonly (string | undefined)[]>();
  return ({ client, query, operationName, variables }, { data, errors = [] }) => {
    const key = JSON.stringify([operationName ?? print(query), variables]);
    const ids = missingIn(errors).map((path) => client.cache.identify(Object(valueAt(data, path.slice(0, -1)))));
    const isWatched = incomplete.has(key);
    if (ids.length === 0 && !isWatched) return;
    incomplete.set(key, ids);
    if (isWatched) return;
    const isShown = () =>
      [...client.getObservableQueries('active')].some(
        (one) => one.hasObservers() && JSON.stringify([one.queryName ?? print(one.query), one.variables]) === key,
      );
    const timer = setInterval(() => {
      if (isShown()) return;
      clearInterval(timer);
      for (const id of incomplete.get(key) ?? []) {
        if (id) client.cache.modify({ id, fields: (value, { DELETE }) => value ?? DELETE, broadcast: false });
      }
      incomplete.delete(key);
    }, LOOK_AGAIN_MS);
    // Lets a program of Node end.
    Object(timer).unref?.();
  };
}

const missingIn = (errors: readonly ResponseError[]) =>
  errors.flatMap((error) => (isRetryable(error) && error.path && error.path.length > 1 ? [error.path] : []));
