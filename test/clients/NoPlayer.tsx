import { gatewayErrors } from '@referral-gateway/client';

const TEXTS: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'You have been signed out.',
  NO_TOKEN: 'You could not be signed in.',
  RATE_LIMITED: 'A moment, please.',
  NO_RESPONSE: 'No connection.',
};

/** What a screen shows in the place of the player. Without an error there is no such player, and asking again does not help. */
export function NoPlayer({ error, retry }: { error: unknown; retry: () => void }) {
  const [first] = gatewayErrors(error);
  if (!first) return <p>There is no such player.</p>;
  return (
    <p role="alert">
      {TEXTS[first.code] ?? 'Your rewards cannot be loaded now.'}{' '}
      <button type="button" onClick={retry}>
        Try again
      </button>
    </p>
  );
}
