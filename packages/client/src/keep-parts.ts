import { gatewayErrors, type Path, type Result, valueAt } from './errors.ts';

/**
 * The next result of a query, with the parts of the last one that it lacks for a reason that passes: what was shown stays, with an
 * error beside it, so that it is asked for again. A part is kept only in what has the same `id`: never in another player, nor in
 * another item of a list. For stores that replace the whole data, as TanStack Query and SWR do.
 *
 * @param isOneQuery True where nobody else can be meant, as the key names the player: then what has no `id` at all is the same.
 */
export function keepParts<Data>(last: Result<Data> | undefined, next: Result<Data>, isOneQuery = false): Result<Data> {
  let data: unknown = next.data;
  for (const { path, retryable } of gatewayErrors(next.errors)) {
    if (!last || !path || !retryable || valueAt(last.data, path) == null) continue;
    const missing = path.findIndex((_, end) => valueAt(data, path.slice(0, end + 1)) == null);
    // -1: another error of the same part has brought it back.
    if (missing < 0 || !isSame(last.data, data, path, isOneQuery)) continue;
    data = withValue(data, last.data, path.slice(0, missing + 1));
  }
  // The last data has the types of the document, and so have its parts.
  return { data: data as Data, errors: next.errors };
}

/** Whether a path leads through the same objects in both, as far as the second goes. Items of lists need an `id` for that. */
function isSame(known: unknown, found: unknown, path: Path, isOneQuery: boolean): boolean {
  let isNamed = isOneQuery;
  const hasSameIds = path.every((name, end) => {
    const [one, other] = [known, found].map((data) => valueAt(data, path.slice(0, end + 1)));
    const id = valueAt(one, ['id']);
    isNamed ||= other != null && id !== undefined;
    return other == null || (id === valueAt(other, ['id']) && (typeof name === 'string' || id !== undefined));
  });
  return hasSameIds && isNamed;
}

/** A copy that has the known value at the path. */
function withValue(found: unknown, known: unknown, [name, ...rest]: Path): unknown {
  if (name === undefined) return known;
  const copy: object = Array.isArray(found) ? [...found] : { ...Object(found) };
  Reflect.set(copy, name, withValue(valueAt(found, [name]), valueAt(known, [name]), rest));
  return copy;
}
