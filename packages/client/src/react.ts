import { useEffect, useRef } from 'react';
import { gatewayErrors } from './errors.ts';
import { heal } from './heal.ts';

/** An error in this time after a read is of that read, in milliseconds. */
const SOON_MS = 60_000;

/**
 * Asks again for the missing parts of what a screen shows, as `heal` does, until they are there, the error is final, or the
 * screen is closed: `useHealing(error, refetch)` with what `useQuery` of Apollo Client returns, or
 * `useHealing(result.error, () => execute({ requestPolicy: 'network-only' }))` for urql.
 */
export function useHealing(error: unknown, refetch: () => unknown): void {
  const { current: latest } = useRef({ error, refetch, attempt: 0, askedAt: 0, isAsking: false });
  Object.assign(latest, { error, refetch });
  const isBroken = gatewayErrors(error).some(({ retryable }) => retryable);
  useEffect(() => {
    if (!isBroken) {
      // Not by a read of its own: another player, for example, whose pauses begin anew.
      if (!latest.isAsking) latest.attempt = 0;
      return undefined;
    }
    // The read is over when there is an error again.
    latest.isAsking = false;
    const abort = new AbortController();
    // Apollo Client has no error while it reads again: that does not begin the pauses anew.
    if (Math.abs(Date.now() - latest.askedAt) > SOON_MS) latest.attempt = 0;
    // What the library knows after a read, whatever its refetch resolves to.
    const again = async () => {
      latest.attempt += 1;
      latest.askedAt = Date.now();
      latest.isAsking = true;
      const reading = latest.refetch();
      await reading;
      // That of urql returns nothing, long before the read is over.
      latest.isAsking = reading === undefined;
      return latest;
    };
    void heal({ errors: latest.error, again, signal: abort.signal }, latest.attempt + 1);
    return () => abort.abort();
  }, [isBroken, latest]);
}
