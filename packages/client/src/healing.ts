import type { GatewayResponse, Path, ResponseError } from './errors.ts';
import { errorAt, errorsOf, GatewayError, isRetryable, valueAt } from './errors.ts';
import { hasData, inBackground, isPartial, isWorthless, pauseBeforeHealing, wait } from './retry.ts';

/** A query whose response had data, and errors that may be retried. */
export interface Partial {
  readonly response: GatewayResponse;
  /** How long the request took, in milliseconds. */
  readonly tookMs: number;
  /** Sends the query again. */
  readonly again: (signal: AbortSignal) => Promise<GatewayResponse>;
  /** Whether a screen still shows it, and lacks what the last response lacks. Asked before each request. */
  readonly isShown: (last: GatewayResponse) => boolean;
  /** Called with each response that has a part which was missing, and all parts of the response before it. */
  readonly improved: (response: GatewayResponse) => void;
  readonly signal: AbortSignal;
}

/**
 * Asks for the missing parts of a query that was already delivered, until they are there, nothing shows them any more, or
 * the signal aborts. The whole query is sent: a gateway that runs persisted documents alone knows no smaller one. So the
 * pauses grow. Rejects when asking again cannot help: with the first error of a response that has no data and must not be
 * repeated, with `NO_TOKEN`, or with the `NO_RESPONSE` of a wrong URL.
 */
export async function heal({ response, tookMs, again, isShown, improved, signal }: Partial): Promise<void> {
  let last = response;
  let took = tookMs;
  // Of the latest response, which may ask for a longer pause.
  let errors = response.errors ?? [];
  for (let attempt = 1; isPartial(last); attempt += 1) {
    const pause = pauseBeforeHealing(attempt, errors, took);
    await wait(pause, signal, inBackground).catch(() => undefined);
    if (signal.aborted || !isShown(last)) return;
    const started = Date.now();
    const better = await improve(last, async () => {
      const next = await again(signal);
      errors = next.errors ?? [];
      return next;
    });
    took = Date.now() - started;
    if (signal.aborted) return;
    if (!better) continue;
    improved(better);
    last = better;
  }
}

/** Heals what screens show: the last response of each key that has data. A newer one ends what an older one began. */
export function createHealer(): (key: string, query: Omit<Partial, 'signal'>) => void {
  const running = new Map<string, AbortController>();
  return (key, query) => {
    // Without data, what was shown before can still be there, and lacks the same.
    if (!hasData(query.response)) return;
    const abort = new AbortController();
    running.get(key)?.abort();
    running.set(key, abort);
    // An error that ends this does not change what the screen shows.
    heal({ ...query, signal: abort.signal })
      .catch(() => undefined)
      .finally(() => running.get(key) === abort && running.delete(key));
  };
}

/**
 * Asks once. Resolves to the parts of both responses if the new one has a part that was missing, else to undefined. Rejects
 * as `heal` does.
 */
export async function improve(
  last: GatewayResponse,
  again: () => Promise<GatewayResponse>,
): Promise<GatewayResponse | undefined> {
  // Without a response, the part is still missing.
  const next = await again().catch((error: unknown) => {
    if (error instanceof GatewayError && !error.retryable) throw error;
  });
  if (!next || isWorthless(next)) return undefined;
  const [error] = errorsOf(next);
  if (error && !hasData(next)) throw error;
  const better = keepParts(last, next);
  const missing = missingIn(better);
  // Inside of a list nothing is kept: what was shown there must not go away.
  const isGone = ({ path }: ResponseError) => path && valueAt(last.data, toNull(better.data, path)) != null;
  const isThere = ({ path = [] }: ResponseError) => !errorAt(missing, path.join('.'));
  return missing.some(isGone) || !missingIn(last).some(isThere) ? undefined : better;
}

const missingIn = ({ errors = [] }: GatewayResponse) => errors.filter(isRetryable);

/** The next response, to which the parts are added that only the last one has, with the errors that they had. */
function keepParts(last: GatewayResponse, { errors = [], ...next }: GatewayResponse): GatewayResponse {
  const data = missingIn({ errors }).reduce<unknown>((found, { path = [] }) => keep(last.data, found, path), next.data);
  const left = errors.filter((error) => !isRetryable(error) || !error.path || valueAt(data, error.path) == null);
  // Of a part that was null in between, and now has a null further down.
  const isRestored = ({ path = [] }: ResponseError) =>
    toNull(next.data, path).length < toNull(data, path).length && !errorAt(left, path.join('.'));
  const all = [...left, ...(last.errors ?? []).filter(isRestored)];
  // An empty list would be an error of urql.
  return { ...next, ...(all.length > 0 && { errors: all }), data: Object(data) };
}

/** A path up to its first null; empty without a null. */
const toNull = (data: unknown, path: Path) =>
  path.slice(0, 1 + path.findIndex((_, end) => valueAt(data, path.slice(0, end + 1)) == null));

/** Replaces the first null on a path by the known value. Not inside of a list, whose items can have changed. */
function keep(known: unknown, found: unknown, [name, ...rest]: Path): unknown {
  if (found == null) return known ?? found;
  if (typeof name !== 'string') return found;
  return { ...found, [name]: keep(valueAt(known, [name]), valueAt(found, [name]), rest) };
}
