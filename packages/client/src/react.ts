import { useEffect, useRef } from 'react';
import { gatewayErrors } from './errors.ts';
import { heal } from './heal.ts';

/** How long a read may take whose end is not told, as urql's, in milliseconds. */
const READ_MS = 10_000;
/** How long after the end of a read its error is shown at the latest, in milliseconds. */
const SHOWN_MS = 1_000;

/**
 * Asks again for the missing parts of what a screen shows, as `heal` does, until they are there, the error is final, or the
 * screen is closed: `useHealing(error, refetch)` with what `useQuery` of Apollo Client returns, or
 * `useHealing(result.error, () => execute({ requestPolicy: 'network-only' }))` for urql.
 */
export function useHealing(error: unknown, refetch: () => unknown): void {
  const { current: latest } = useRef({ error, refetch, attempt: 0, readingUntil: 0 });
  Object.assign(latest, { error, refetch });
  const isBroken = gatewayErrors(error).some(({ retryable }) => retryable);
  useEffect(() => {
    // Libraries have no error while they read again. What changes at another time, as for another player, begins the pauses anew.
    if (Date.now() > latest.readingUntil) latest.attempt = 0;
    if (!isBroken) return undefined;
    // The read is over when there is an error again.
    latest.readingUntil = 0;
    const abort = new AbortController();
    // What the library knows after a read, whatever its refetch resolves to.
    const again = async () => {
      latest.attempt += 1;
      const reading = latest.refetch();
      latest.readingUntil = reading === undefined ? Date.now() + READ_MS : Number.POSITIVE_INFINITY;
      try {
        await reading;
      } finally {
        if (reading !== undefined) latest.readingUntil = Date.now() + SHOWN_MS;
      }
      return latest;
    };
    void heal({ errors: latest.error, again, signal: abort.signal }, latest.attempt + 1);
    return () => abort.abort();
  }, [isBroken, latest]);
}
