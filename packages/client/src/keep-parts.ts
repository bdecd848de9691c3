import { type GatewayError, gatewayErrors, type Path, type Result } from './errors.ts';

/**
 * The next result of a query, with the parts of the last one that it lacks for a reason that passes: what was shown stays, with an
 * error beside it, so that it is asked for again. A part is kept only in what has the same `id`: never in another player, nor in
 * another item of a list. For stores that replace the whole data, as TanStack Query and SWR do.
 *
 * @param isOneQuery True where nobody else can be meant, as the key names the player: then what has no `id` at all is the same.
 */
export function keepParts<Data>(last: Result<Data> | undefined, next: Result<Data>, isOneQuery = false): Result<Data> {
  return { data: withParts(last, next.data, gatewayErrors(next.errors), isOneQuery), errors: next.errors };
}

/** The data of the next result, with the parts of the last one. */
export function withParts<Data>(
  last: Result<Data> | undefined,
  found: Data,
  errors: readonly GatewayError[],
  isOneQuery: boolean,
): Data {
  let data: unknown = found;
  for (const { path, retryable } of errors)
    if (last && path && retryable) data = withPart(last.data, data, path, isOneQuery);
  // The last data has the types of the document, and so have its parts.
  return data as Data;
}

/**
 * What was found, with the known value where the path ends at a null. All objects on the path must be the same in both, by `id`. An
 * item of a list without an `id` keeps nothing of its own.
 */
function withPart(known: unknown, found: unknown, [name, ...rest]: Path, isNamed: boolean, isInList = false): unknown {
  if (found == null) return isNamed ? (known ?? found) : found;
  const { id } = Object(known);
  // Without a name: another error of the same part has brought it back.
  if (name === undefined || id !== Object(found).id) return found;
  const isItem = typeof name === 'number';
  const isSame = id !== undefined || (isNamed && !isInList);
  const part = withPart(Object(known)[name], Object(found)[name], rest, isSame, isItem);
  return Object.assign(isItem ? [] : {}, found, { [name]: part });
}
