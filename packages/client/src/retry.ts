import { errorsOf, type GatewayResponse, isObject } from './errors.ts';

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
const FIRST_PAUSE_MS = 125;

/** Whether a response has data: a field of the operation is not null, `__typename` aside, or there is no error. */
export function hasData({ data, errors }: GatewayResponse): boolean {
  return isObject(data) && (!errors?.length || Object.values({ ...data, __typename: null }).some((one) => one != null));
}

/** Whether to send an operation again before anything is delivered: it has no data, and every error may be retried. */
export function isWorthless(response: GatewayResponse): boolean {
  return !hasData(response) && errorsOf(response).every(({ retryable }) => retryable);
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

/**
 * Resolves after a time in milliseconds, when the signal aborts, or with `over`; also when one of the events comes. While it is
 * `asleep`, only the signal or an event can end it.
 */
export function wait(
  milliseconds: number,
  signal: AbortSignal | null | undefined,
  over?: Promise<void>,
  events: readonly (readonly [Partial<EventTarget> | null | undefined, string])[] = [],
  isAsleep?: () => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const all = [...events, [signal, 'abort'] as const];
    const end = () => {
      if (!signal?.aborted && isAsleep?.()) return;
      clearTimeout(timer);
      for (const [target, name] of all) target?.removeEventListener?.(name, end);
      resolve();
    };
    // A timer of 2^31 ms or more would end at once.
    const timer = setTimeout(end, Math.min(milliseconds, 2e9));
    for (const [target, name] of all) target?.addEventListener?.(name, end);
    over?.then(end);
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
  const result = run(testMode.on ? null : abort.signal);
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  await wait(milliseconds, given, result.then(over, over));
  if (isOver) return result;
  const reason = given?.aborted ? reasonOf(given) : new Error(`no response within ${milliseconds} ms`);
  abort.abort(reason);
  throw reason;
}

/** The reason of a signal that aborted. Signals of React Native and of older browsers have none. */
export function reasonOf(signal: AbortSignal): unknown {
  return signal.reason ?? Object.assign(new Error('aborted'), { name: 'AbortError' });
}
