import { type GatewayError, gatewayErrors, longestPauseMs } from './errors.ts';
import { pauseAfter, wait } from './retry.ts';

export interface HealOptions {
  /** What the last read reported: the error of any library, or a list of errors. */
  readonly errors: unknown;
  /**
   * The library's own refetch, or the application's. Its result may have `error` or `errors`; it may reject with an error, or
   * return nothing. One that rejects because it was cancelled, took too long, or did not reach the application's own server, as
   * `fetch` says it, is repeated.
   */
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
  const read = async () => errorsIn(await again());
  const missing = gatewayErrors(errors);
  const fail = (thrown: unknown) => {
    const { name, message } = Object(thrown);
    // It says nothing of the parts, so the same ones are missing as before.
    return UNTOLD.test(`${name}: ${message}`) ? missing : gatewayErrors(thrown);
  };
  return healErrors(missing, () => read().catch(fail), signal, attempt);
}

/** The name and message of a refetch that was cancelled, took too long, or did not reach the application's own server. */
const UNTOLD =
  /^((Error: )?(Abort|Timeout|Cancell?ed)Error|TypeError: (failed to fetch|(load|fetch) failed|(a |the )?(network|internet)))/i;

/** `heal` of errors that are the package's own. `again` resolves to the errors of the next read. */
export async function healErrors(
  left: readonly GatewayError[],
  again: () => Promise<readonly GatewayError[]>,
  signal: AbortSignal | undefined,
  attempt = 1,
): Promise<readonly GatewayError[]> {
  for (; left.some(({ retryable }) => retryable); attempt += 1) {
    // When the gateway has just responded, `navigator.onLine` is wrong.
    const isWrong = isOffline() && left.some(({ code }) => !/NO_RESPONSE|TOKEN/.test(code));
    // Where there is no page, as on phones, nothing is hidden.
    const isAsleep = () => isHidden() || (isOffline() && !isWrong);
    // With jsdom-global, `addEventListener` is a function of jsdom's window, which refuses other objects.
    const page = globalThis.window ?? globalThis;
    const events = [[globalThis.document, 'visibilitychange'] as const, [page, 'online'] as const];
    // From 2 s on. In tests a hundredth: without a pause, a part that stays missing would be asked for in a loop.
    await wait(pauseAfter(attempt + 4, longestPauseMs(left), 0.01), signal, undefined, events, isAsleep);
    if (signal?.aborted) break;
    left = await again();
  }
  return left;
}

/** What a library's refetch resolves to. TanStack Query has the result of `request` in `data`. */
function errorsIn(result: unknown): readonly GatewayError[] {
  const { error, errors, data }: { error?: unknown; errors?: unknown; data?: { errors?: unknown } } = Object(result);
  return gatewayErrors(error ?? errors ?? data?.errors);
}

/** Not by `hidden`, which is true in jsdom: its page has the state `prerender`. */
const isHidden = () => globalThis.document?.visibilityState === 'hidden';

const isOffline = () => globalThis.navigator?.onLine === false;
