import { type Path, type Result, valueAt } from './errors.ts';

/**
 * The next result of a query, with the parts of the last one that it lacks for a reason that passes: what was shown stays. In a
 * list, a part is kept where the item with the same `id` is at the same place. For stores that replace the whole data, as TanStack
 * Query and SWR do. Errors of kept parts are left out.
 */
export function keepParts<Data>(last: Result<Data> | undefined, next: Result<Data>): Result<Data> {
  let data: unknown = next.data;
  const errors = next.errors.flatMap((error) => {
    const { path, retryable } = error;
    if (!last || !path || !retryable || valueAt(last.data, path) == null || !isSame(last.data, data, path))
      return [error];
    const place = path.slice(0, 1 + path.findIndex((_, end) => valueAt(data, path.slice(0, end + 1)) == null));
    data = withValue(data, last.data, place);
    // What the kept part lacked is still missing.
    return last.errors.filter((one) => one.path && place.every((name, end) => one.path?.[end] === name));
  });
  // The last data has the types of the document, and so have its parts.
  return { data: data as Data, errors };
}

/** Whether a path leads through the same items of lists in both, as far as the second goes. */
function isSame(known: unknown, found: unknown, path: Path): boolean {
  return path.every((name, end) => {
    const [one, other] = [known, found].map((data) => valueAt(data, path.slice(0, end + 1)));
    if (typeof name !== 'number' || other == null) return true;
    const id = valueAt(one, ['id']);
    return id !== undefined && id === valueAt(other, ['id']);
  });
}

/** A copy that has the known value at the path. */
function withValue(found: unknown, known: unknown, [name, ...rest]: Path): unknown {
  if (name === undefined) return known;
  const copy: object = Array.isArray(found) ? [...found] : { ...Object(found) };
  Reflect.set(copy, name, withValue(valueAt(found, [name]), valueAt(known, [name]), rest));
  return copy;
}
