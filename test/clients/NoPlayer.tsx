import { gatewayErrors } from '@referral-gateway/client';
import { messageOf } from './texts';

/** Mistakes of the application: asking again does not help. */
const MISTAKES: readonly string[] = ['FORBIDDEN', 'BAD_USER_INPUT'];

/** What a screen shows in the place of the player. Without an error there is no such player. */
export function NoPlayer({ error, retry }: { error: unknown; retry: () => void }) {
  const [first] = gatewayErrors(error);
  if (!first) return <p>There is no such player.</p>;
  return (
    <p role="alert">
      {messageOf(error)}{' '}
      {!MISTAKES.includes(first.code) && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </p>
  );
}
