import { useEffect, useRef } from 'react';
import { gatewayErrors } from './errors.ts';
import { heal } from './heal.ts';

/**
 * Asks again for the missing parts of what a screen shows, as `heal` does, until they are there, the error is final, or the
 * screen is closed: `useHealing(error, refetch)` with what `useQuery` of Apollo Client returns, or
 * `useHealing(result.error, () => execute({ requestPolicy: 'network-only' }))` for urql.
 */
export function useHealing(error: unknown, refetch: () => unknown): void {
  const latest = useRef({ error, refetch });
  latest.current = { error, refetch };
  const isBroken = gatewayErrors(error).some(({ retryable }) => retryable);
  useEffect(() => {
    if (!isBroken) return undefined;
    const abort = new AbortController();
    // What the library knows after a read, whatever its refetch resolves to.
    const again = async () => {
      await latest.current.refetch();
      return latest.current;
    };
    void heal({ errors: latest.current.error, again, signal: abort.signal });
    return () => abort.abort();
  }, [isBroken]);
}
