import { gatewayErrors } from '@referral-gateway/client';

const TEXTS: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'You have been signed out.',
  NO_TOKEN: 'You could not be signed in.',
  TOKEN_UNAVAILABLE: 'No connection.',
  RATE_LIMITED: 'A moment, please.',
  NO_RESPONSE: 'No connection.',
};
/** Mistakes of the application: asking again does not help. */
const MISTAKES: readonly string[] = ['FORBIDDEN', 'BAD_USER_INPUT'];

/** What a screen shows in the place of the player. Without an error there is no such player. */
export function NoPlayer({ error, retry }: { error: unknown; retry: () => void }) {
  const [first] = gatewayErrors(error);
  if (!first) return <p>There is no such player.</p>;
  return (
    <p role="alert">
      {TEXTS[first.code] ?? 'Your rewards cannot be loaded now.'}{' '}
      {!MISTAKES.includes(first.code) && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </p>
  );
}
