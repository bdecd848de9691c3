import { type Extended, isRetryable, retryAfterMs } from './errors.ts';

/* When to send an operation again: the rules of docs/retries.md, for every library. */

/** Attempts of an operation that has nothing to show, the first one included. */
export const ATTEMPTS = 5;
/** A pause that nobody waits for, in milliseconds: the error is delivered at once. */
export const TOO_LONG_MS = 60_000;
const FIRST_PAUSE_MS = 300;
const FIRST_HEALING_PAUSE_MS = 1_000;
const LONGEST_HEALING_PAUSE_MS = 60_000;

interface Response {
  readonly data?: unknown;
  readonly errors?: readonly Extended[];
}

/** Whether a response has data: a field of the operation is not null, or there is no error. */
export function hasData({ data, errors = [] }: Response): boolean {
  if (typeof data !== 'object' || data === null) return false;
  return errors.length === 0 || Object.values(data).some((value) => value != null);
}

/** Whether to send an operation again before anything is delivered: it has no data, and every error may be retried. */
export function isWorthless(response: Response): boolean {
  const { errors = [] } = response;
  return !hasData(response) && errors.length > 0 && errors.every(isRetryable);
}

/** While `on`, as for tests of screens, nothing pauses, and persisted documents are sent with their text too. */
export const testMode: { on: boolean } = { on: false };

/**
 * How long to wait after the attempt 1, 2, … that had nothing to show, in milliseconds. Never without a random share: clients
 * that failed together must not come back together.
 */
export function pauseAfter(attempt: number, errors: readonly Extended[] = []): number {
  return testMode.on ? 0 : askedFor(errors) + Math.random() * FIRST_PAUSE_MS * 2 ** attempt;
}

/**
 * How long to wait before a missing part is asked for the first, second, … time, in milliseconds: 2 s, 4 s, and so on up to
 * 60 s, and a random share on top. Never shorter than the gateway asks, or than the last request took: a service that hangs is
 * asked less often.
 */
export function pauseBeforeHealing(attempt: number, errors: readonly Extended[], tookMs: number): number {
  if (testMode.on) return 0;
  const growing = Math.min(FIRST_HEALING_PAUSE_MS * 2 ** attempt, LONGEST_HEALING_PAUSE_MS);
  const least = Math.max(askedFor(errors), Math.min(tookMs, LONGEST_HEALING_PAUSE_MS), growing * 0.75);
  return least + (Math.random() * growing) / 2;
}

type Timer = ReturnType<typeof setTimeout>;

/** Lets a program of Node end while only this timer is left: nobody waits for what it does. */
export function inBackground<T>(timer: T): T {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref();
  return timer;
}

/** Resolves after a time in milliseconds; rejects with the signal's reason when that comes first. */
export function wait(
  milliseconds: number,
  signal?: AbortSignal | null,
  keep: (timer: Timer) => Timer = (timer) => timer,
): Promise<void> {
  let timer: Timer | undefined;
  const over = new Promise<void>((resolve) => {
    timer = keep(setTimeout(resolve, milliseconds));
  });
  return unlessAborted(over, signal).finally(() => clearTimeout(timer));
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

/** How long the errors ask to wait, in milliseconds. */
export const askedFor = (errors: readonly Extended[]): number =>
  Math.max(0, ...errors.map((error) => retryAfterMs(error) ?? 0));
