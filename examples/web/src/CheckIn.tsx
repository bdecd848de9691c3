import { CombinedGraphQLErrors } from '@apollo/client';
import { useMutation } from '@apollo/client/react';
import { createIdempotencyKey, gatewayErrors } from '@referral-gateway/client';
import { useState } from 'react';
import { CheckInMutation } from './operations';

const THANKS = 'Thank you, see you tomorrow!';
const today = () => new Date().toDateString();

interface Props {
  playerUniqueId: string;
  /** Called when the check-in was counted. */
  done: () => void;
}

/** Reports an event. The name is one that earns nothing by itself: what earns a reward is sent by a server. */
export function CheckIn({ playerUniqueId, done }: Props) {
  // The key and the day of a report without a response, so that another attempt counts nothing twice, even after a restart.
  const pending = `check-in-key:${playerUniqueId}`;
  const counted = `check-in-day:${playerUniqueId}`;
  const [report, { loading }] = useMutation(CheckInMutation);
  const [isDone, setDone] = useState(() => localStorage.getItem(counted) === today());
  const [text, setText] = useState(() => (localStorage.getItem(pending) ? 'Your last check-in was not sent yet.' : ''));
  const checkIn = async () => {
    if (loading || isDone) return;
    const stored = localStorage.getItem(pending) ?? `${createIdempotencyKey()} ${today()}`;
    localStorage.setItem(pending, stored);
    const [idempotencyKey, day] = [stored.slice(0, 36), stored.slice(37)];
    const input = { playerUniqueId, idempotencyKey, events: [{ name: 'daily_check_in' }] };
    const { data, error } = await report({ variables: { input } });
    // Every response is final for this key, but for those that allow another attempt with it.
    if (!error || (CombinedGraphQLErrors.is(error) && !mayRepeat(error))) localStorage.removeItem(pending);
    const { eventNames = [], userErrors = [] } = data?.trackEvents ?? {};
    if (eventNames.length > 0) {
      localStorage.setItem(counted, day);
      setDone(day === today());
      done();
    }
    const thanks = day === today() ? THANKS : `Your check-in of ${day} is counted.`;
    setText(eventNames.length > 0 ? thanks : userErrors[0] ? refusal(userErrors[0]) : failure(error));
  };
  return (
    <section className="check-in" aria-label="Check-in">
      <button
        type="button"
        className={`primary ${isDone ? 'done' : ''}`}
        aria-disabled={loading || isDone}
        onClick={checkIn}
      >
        {isDone ? '✓ Checked in today' : loading ? 'Checking in…' : 'Check in today'}
      </button>
      <p role="status">{isDone ? THANKS : text}</p>
    </section>
  );
}

const mayRepeat = ({ errors }: CombinedGraphQLErrors) =>
  errors.some(({ extensions }) => extensions?.['retryable'] === true);

/** What the gateway found in the input. Another attempt would get the same; the message is for developers. */
function refusal({ code, message }: { code: string; message: string }): string {
  console.warn(`The check-in was refused: ${code}: ${message}`);
  return code === 'NOT_FOUND'
    ? 'This account is not there any more.'
    : 'The check-in was not accepted, and nothing was counted. Trying again does not help; please tell us.';
}

function failure(error: unknown): string {
  const [{ code = '' } = {}] = gatewayErrors(error);
  if (['UNAUTHENTICATED', 'NO_TOKEN', 'TOKEN_UNAVAILABLE'].includes(code))
    return 'You have been signed out. Load the page again, then check in.';
  if (!CombinedGraphQLErrors.is(error)) return 'No connection. Try again: it counts once.';
  if (mayRepeat(error)) return 'Not possible now. Try again later.';
  return error.errors[0]?.extensions?.['outcome'] === 'UNKNOWN'
    ? 'We do not know whether this was counted. Look at your coupons later.'
    : 'This cannot be done with this account.';
}
