import { type GatewayError, gatewayErrors } from './errors.ts';
import { after, pauseBeforeHealing } from './retry.ts';

export interface HealOptions {
  /** What the last read reported: the error of any library, or a list of errors. */
  readonly errors: unknown;
  /** The library's own refetch. Its result may have `error` or `errors`; it may reject with an error, or return nothing. */
  readonly again: () => unknown;
  /** Aborts when nothing shows the query any more. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks again for what is missing, while an error says that this can help: at pauses that grow from 2 s to 60 s, at least as
 * long as the gateway asks, each with a random share; not in a hidden tab or offline. At once when the tab is visible again or
 * the network is back. Resolves to the errors that are left: none when everything is there, those that are final, or those of
 * the moment in which the signal aborts.
 *
 * @param attempt Which pause comes first: 1 is that of 2 s.
 */
export async function heal({ errors, again, signal }: HealOptions, attempt = 1): Promise<readonly GatewayError[]> {
  let left = gatewayErrors(errors);
  for (; left.some(({ retryable }) => retryable); attempt += 1) {
    const askedMs = Math.max(...left.map(({ retryAfterMs = 0 }) => retryAfterMs));
    const answered = left.some(({ code }) => code !== 'NO_RESPONSE');
    await pause(pauseBeforeHealing(attempt, askedMs), answered, signal);
    if (signal?.aborted) break;
    left = await (async () => again())().then(errorsIn, gatewayErrors);
  }
  return left;
}

/** What a library's refetch resolves to. TanStack Query has the result of `request` in `data`. */
function errorsIn(result: unknown): readonly GatewayError[] {
  const { error, errors, data }: { error?: unknown; errors?: unknown; data?: { errors?: unknown } } = Object(result);
  return gatewayErrors(error ?? errors ?? data?.errors);
}

const isOffline = () => globalThis.navigator?.onLine === false;

/**
 * Resolves after a time, in a hidden page when that is visible again, offline when the network is back; when the signal aborts.
 *
 * @param answered Whether the gateway has just responded: then `navigator.onLine` is wrong if it is false now.
 */
function pause(milliseconds: number, answered: boolean, signal: AbortSignal | undefined): Promise<void> {
  const isWrong = answered && isOffline();
  return new Promise((resolve) => {
    const events: [Partial<EventTarget> | undefined, string][] = [
      [globalThis.document, 'visibilitychange'],
      [globalThis, 'online'],
    ];
    const end = () => {
      forget();
      for (const [target, name] of events) target?.removeEventListener?.(name, wake);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    // Where there is no page, as on phones, nothing is hidden.
    const wake = () => globalThis.document?.hidden || (isOffline() && !isWrong) || end();
    const forget = after(milliseconds, wake);
    for (const [target, name] of events) target?.addEventListener?.(name, wake);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });
}
