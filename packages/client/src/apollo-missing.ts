import type { ApolloCache, ApolloLink } from '@apollo/client';
import { type DocumentNode, print, visit } from 'graphql';
import { GatewayError, type Path } from './errors.ts';

/*
 * Apollo's cache has no errors. It stores the null of a part that could not be read as if there were no such part. Three things
 * keep such a null from being taken for data:
 * - `withoutMissing`: where nothing of a cached player could be read, the response has no null in its place, so the player stays.
 * - `setLive` and `isLive`: a null that comes from a saved cache is missing, so Apollo asks for the field.
 * - `forgetMissing`: a null is removed before another screen reads it, because that screen has not got the error.
 */

/** The result of a query without the nulls whose errors may be retried, where the cache has a player in their place. */
export function withoutMissing(operation: ApolloLink.Operation, result: ApolloLink.Result): ApolloLink.Result {
  const { data, errors } = result;
  const lost = (errors ?? []).flatMap((error) =>
    new GatewayError(error).retryable && error.path?.length === 1 ? error.path : [],
  );
  if (!data || lost.length === 0 || operation.operationType !== 'query') return result;
  const { client, query, variables } = operation;
  const known = client.cache.diff({ query, variables, optimistic: false, returnPartialData: true });
  // Where no player is known, a null stays, as the types of the query say.
  const isKnown = (name: string) => Object(known.result)[name] != null;
  const left = Object.entries(data).filter(([name, value]) => value !== null || !lost.includes(name) || !isKnown(name));
  // With an empty object Apollo shows what the cache has, and warns if that is not all of the query.
  const isShown = known.complete || left.some(([, value]) => value !== null);
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

/** A field that is null because of an error: the cache's id of its object, and its name. */
type Missing = readonly [id: string, name: string];

/**
 * Takes responses that Apollo has stored. A null that came with an error belongs to the screen that shows the error. When the next
 * screen with this field begins, the null is removed, so that Apollo asks for the field; at once when no screen waits for the
 * response, as for `client.query` and mutations.
 */
export function forgetMissing(operation: ApolloLink.Operation, { data, errors }: ApolloLink.Result): void {
  if (!errors?.length) return;
  const { client, query, operationName, operationType, variables } = operation;
  const { cache } = client;
  const list = listOf(cache);
  const key = JSON.stringify([operationName ?? print(query), variables]);
  const isShown =
    operationType === 'query' &&
    [...client.getObservableQueries('active')].some(
      (one) => one.hasObservers() && JSON.stringify([one.queryName ?? print(one.query), one.variables]) === key,
    );
  for (const missing of errors.flatMap(({ path }) => (path ? missingAt(cache, query, data, path) : []))) {
    if (isShown) list.set(missing.join(), missing);
    else remove(cache, missing);
  }
}

const lists = new WeakMap<ApolloCache, Map<string, Missing>>();

function listOf(cache: ApolloCache): Map<string, Missing> {
  const list = lists.get(cache) ?? new Map<string, Missing>();
  if (lists.has(cache)) return list;
  lists.set(cache, list);
  const { watch } = cache;
  // Apollo calls it when a component shows a query, also with other variables, and before it decides whether to send the query.
  cache.watch = (options) => {
    const text = options.watcher && list.size > 0 ? print(options.query) : '';
    const isIn = (name: string) => new RegExp(`\\b${name}\\b`).test(text);
    for (const [key, missing] of list) if (isIn(missing[1]) && list.delete(key)) remove(cache, missing);
    return Reflect.apply(watch, cache, [options]);
  };
  return list;
}

/** The fields that are null because of an error with this path: more than one if the document has several with that alias. */
function missingAt(cache: ApolloCache, document: DocumentNode, data: unknown, path: Path): Missing[] {
  const end = path.findIndex((_, index) => valueAt(data, path.slice(0, index + 1)) == null);
  const at = path.slice(0, end + 1);
  // Of an item of a list, the list.
  while (typeof at[at.length - 1] === 'number') at.pop();
  const key = at.pop();
  const id = at.length === 0 ? 'ROOT_QUERY' : cache.identify(Object(valueAt(data, at)));
  const names = new Set<string>();
  visit(document, {
    Field({ alias, name }) {
      if ((alias ?? name).value === key) names.add(name.value);
    },
  });
  return id === undefined ? [] : [...names].map((name) => [id, name]);
}

/** The value at a path of data; undefined where the path leads nowhere. */
const valueAt = (data: unknown, path: Path) => path.reduce((value: unknown, name) => Object(value)[name], data);

/** Whether a value, or an item of a list, is null. */
export const isMissing = (value: unknown): boolean => value === null || (Array.isArray(value) && value.includes(null));

function remove(cache: ApolloCache, [id, name]: Missing): void {
  cache.modify({ id, fields: { [name]: (value, { DELETE }) => (isMissing(value) ? DELETE : value) } });
}
