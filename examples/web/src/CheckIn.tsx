import { CombinedGraphQLErrors } from '@apollo/client';
import { useMutation } from '@apollo/client/react';
import { useState } from 'react';
import { reactionTo } from './client/errors';
import { CheckInMutation } from './operations';

/** The key of a report without a response, so that another attempt counts nothing twice, even after a restart. */
const PENDING = 'check-in-key';

/** Reports an event. The name is one that earns nothing by itself: what earns a reward is sent by a server. */
export function CheckIn({ playerUniqueId }: { playerUniqueId: string }) {
  const [report, { loading }] = useMutation(CheckInMutation);
  const [text, setText] = useState(() => (localStorage.getItem(PENDING) ? 'Your last check-in was not sent yet.' : ''));
  const checkIn = async () => {
    const idempotencyKey = localStorage.getItem(PENDING) ?? crypto.randomUUID();
    localStorage.setItem(PENDING, idempotencyKey);
    const input = { playerUniqueId, idempotencyKey, events: [{ name: 'daily_check_in' }] };
    const { data, error } = await report({ variables: { input } });
    // Every response is final for this key, but for those that say that nothing was sent.
    const isFinal = !error || (CombinedGraphQLErrors.is(error) && !isUnsent(error));
    if (isFinal) localStorage.removeItem(PENDING);
    setText(data?.trackEvents?.eventNames.length ? 'Thank you, see you tomorrow!' : failure(error));
  };
  return (
    <section className="check-in" aria-label="Check-in">
      <button type="button" className="primary" disabled={loading} onClick={checkIn}>
        {loading ? 'Checking in…' : 'Check in today'}
      </button>
      <p role="status">{text}</p>
    </section>
  );
}

const isUnsent = ({ errors }: CombinedGraphQLErrors) =>
  errors.some(({ extensions }) => extensions?.['outcome'] !== 'UNKNOWN' && extensions?.['retryable'] === true);

function failure(error: unknown): string {
  if (!CombinedGraphQLErrors.is(error)) return 'No connection. Try again: it counts once.';
  if (error.errors.some(({ extensions }) => extensions?.['outcome'] === 'UNKNOWN')) {
    return 'We do not know whether this worked.';
  }
  return error.errors.some((one) => reactionTo(one) === 'report')
    ? 'This cannot be done with this account.'
    : 'Not possible now. Try again later.';
}
