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
    data = withPart(last.data, data, path, isOneQuery);
  }
  // The last data has the types of the document, and so have its parts.
  return { data: data as Data, errors: next.errors };
}

/** What was found, with the known value where the path ends at a null. It leads through the same objects: items of lists need an `id`. */
function withPart(known: unknown, found: unknown, [name, ...rest]: Path, isNamed: boolean, isItem = false): unknown {
  if (found == null) return isNamed ? known : found;
  const [id, other] = [known, found].map((value) => valueAt(value, ['id']));
  // Without a name: another error of the same part has brought it back.
  if (name === undefined || id !== other || (isItem && id === undefined)) return found;
  const [one, next] = [known, found].map((value) => valueAt(value, [name]));
  const part = withPart(one, next, rest, isNamed || id !== undefined, typeof name === 'number');
  const copy: object = Array.isArray(found) ? [...found] : { ...Object(found) };
  Reflect.set(copy, name, part);
  return copy;
}
