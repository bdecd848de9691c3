import { type GatewayResponse, isObject, isRetryable } from './errors.ts';

/* When to send an operation again: the rules of docs/retries.md, for every library. */

/** How an operation is sent. */
export interface Sending {
  /** Attempts of an operation that has nothing to show, the first one included. Default 5. */
  readonly attempts?: number | undefined;
  /** How long an attempt may take, in milliseconds. With 0 each ends before it can have a response. Default 30,000. */
  readonly timeoutMs?: number | undefined;
}

export const TIMEOUT_MS = 30_000;
/** A pause that nobody waits for, in milliseconds: the error is delivered at once. */
export const TOO_LONG_MS = 60_000;
const REPEATED_WITHIN_MS = 60_000;
const FIRST_PAUSE_MS = 125;

/** Whether a response has data: a field of the operation is not null, `__typename` aside, or there is no error. */
export function hasData({ data, errors }: GatewayResponse): boolean {
  return isObject(data) && (!errors?.length || Object.values({ ...data, __typename: null }).some((one) => one != null));
}

/** Whether to send an operation again before anything is delivered: it has no data, and every error may be retried. */
export function isWorthless(response: GatewayResponse): boolean {
  return !!response.errors?.every(isRetryable) && !hasData(response);
}

/** What all copies of this package in one program know. */
const NAME = Symbol.for('@referral-gateway/client');

/**
 * While `on`, as for tests of screens, nothing pauses, and persisted documents are sent with their text too. One for both builds
 * of this package, and for each copy that a test runner makes.
 */
export const testMode: { on?: boolean } = Reflect.get(globalThis, NAME) ?? {};
// Says nothing where the global object is frozen, as with SES.
Reflect.set(globalThis, NAME, testMode);

/**
 * How long to wait after the attempt 1, 2, … that had nothing to show, in milliseconds: 125, 250, and so on up to 60 s. At least as
 * long as the gateway asks. With a random share of up to a half on top: clients that failed together must not come back together.
 */
export function pauseAfter(attempt: number, askedMs: number, inTests = 0): number {
  const least = Math.max(askedMs, Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), TOO_LONG_MS));
  return least * (testMode.on ? inTests : 1 + Math.random() / 2);
}

/** Calls a function after a time in milliseconds; unlike with setTimeout, it may be 2^31 or more. Returns what cancels it. */
export function after(milliseconds: number, call: () => void): () => void {
  const timer = setTimeout(call, Math.min(milliseconds, 2 ** 31 - 1));
  return () => clearTimeout(timer);
}

/**
 * Resolves after a time in milliseconds, or when the signal aborts; also when one of the events comes. While it is `asleep`, only
 * the signal or an event can end it.
 */
export function wait(
  milliseconds: number,
  signal: AbortSignal | null | undefined,
  events: readonly (readonly [Partial<EventTarget> | null | undefined, string])[] = [],
  isAsleep?: () => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const all = [...events, [signal, 'abort'] as const];
    const end = () => {
      if (!signal?.aborted && isAsleep?.()) return;
      forget();
      for (const [target, name] of all) target?.removeEventListener?.(name, end);
      resolve();
    };
    const forget = after(milliseconds, end);
    for (const [target, name] of all) target?.addEventListener?.(name, end);
    // Without a pause there is no timer: the fake clock of a test would hold it.
    if (signal?.aborted || milliseconds === 0) end();
  });
}

/**
 * What `run` resolves to; rejects after a time in milliseconds, or with the reason of the given signal, and then aborts the signal
 * that `run` gets. It gets none in tests: Node's `fetch` refuses a signal of jsdom. Not `AbortSignal.any`: older browsers have
 * none.
 */
export async function within<T>(
  milliseconds: number,
  given: AbortSignal | null | undefined,
  run: (signal: AbortSignal | null) => Promise<T>,
): Promise<T> {
  // Not `throwIfAborted`: React Native has none.
  if (given?.aborted) throw reasonOf(given);
  const abort = new AbortController();
  const forget = after(milliseconds, () => abort.abort(new Error(`no response within ${milliseconds} ms`)));
  try {
    return await unlessAborted(unlessAborted(run(testMode.on ? null : abort.signal), abort.signal), given);
  } catch (error) {
    abort.abort(error);
    throw error;
  } finally {
    forget();
  }
}

/** The reason of a signal that aborted. Signals of React Native and of older browsers have none. */
export function reasonOf(signal: AbortSignal): unknown {
  return signal.reason ?? Object.assign(new Error('The operation was aborted.'), { name: 'AbortError' });
}

/** Settles as a promise does; rejects with the signal's reason when that comes first. */
export function unlessAborted<T>(promise: Promise<T>, signal?: AbortSignal | null): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => signal && reject(reasonOf(signal));
    promise.then(resolve, reject).finally(() => signal?.removeEventListener('abort', abort));
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/**
 * What is known of requests that failed in the last minute, by what was to be sent. Who sends the same again repeats it: TanStack
 * Query, Apollo's `RetryLink`, or a person who presses a button a second time. Of equal requests each is repeated once.
 */
export class Repeats<Known> {
  private known: { readonly content: string; readonly value: Known; readonly at: number }[] = [];

  add(content: string, value: Known): void {
    this.known.push({ content, value, at: Date.now() });
  }

  /** Returns what is known, the oldest first, and forgets it. */
  take(content: string): Known | undefined {
    // Also when the clock was set back.
    this.known = this.known.filter(({ at }) => Math.abs(Date.now() - at) <= REPEATED_WITHIN_MS);
    const index = this.known.findIndex((one) => one.content === content);
    return index < 0 ? undefined : this.known.splice(index, 1)[0]?.value;
  }
}
