import { useMutation } from '@apollo/client/react';
import { gatewayErrors } from '@referral-gateway/client';
import { useEffect, useState } from 'react';
import { CheckInMutation } from './operations';
import { messageOf } from './texts';

/** The day of UTC, which is as long as the gateway remembers a key: 24 hours. */
const today = () => new Date().toISOString().slice(0, 10);

interface Props {
  playerUniqueId: string;
  /** Called when the check-in was counted. */
  done: () => void;
}

/**
 * Reports an event, once a day. The day is the key: two tabs, a second press and a restart of the page send the same one, and the
 * gateway counts it once. The name is one that earns nothing by itself: what earns a reward is sent by a server.
 */
export function CheckIn({ playerUniqueId, done }: Props) {
  const [report, { loading }] = useMutation(CheckInMutation);
  const [counted, setCounted] = useState('');
  const [text, setText] = useState('');
  const day = useToday();
  const isDone = counted === day;
  const checkIn = async () => {
    if (loading || isDone) return;
    const input = { playerUniqueId, idempotencyKey: `check-in-${day}`, events: [{ name: 'daily_check_in' }] };
    const { data, error } = await report({ variables: { input } });
    const { eventNames = [], userErrors = [] } = data?.trackEvents ?? {};
    if (eventNames.length > 0) {
      setCounted(day);
      done();
    }
    setText(
      eventNames.length > 0 ? 'Thank you, see you tomorrow!' : userErrors[0] ? refusal(userErrors[0]) : failure(error),
    );
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
      <p role="status">{text}</p>
    </section>
  );
}

/** Also in a page that stays open over midnight. */
function useToday(): string {
  const [day, setDay] = useState(today);
  useEffect(() => {
    const timer = setInterval(() => setDay(today()), 60_000);
    return () => clearInterval(timer);
  }, []);
  return day;
}

/** What the gateway found in the input. Another attempt would get the same; the message is for developers. */
function refusal({ code, message }: { code: string; message: string }): string {
  console.warn(`The check-in was refused: ${code}: ${message}`);
  return code === 'NOT_FOUND'
    ? 'This account is not there any more.'
    : 'The check-in was not accepted, and nothing was counted. Trying again does not help; please tell us.';
}

function failure(error: unknown): string {
  const [first] = gatewayErrors(error);
  if (first?.outcome === 'UNKNOWN' && !first.retryable) {
    return 'We do not know whether this was counted. Look at your coupons later.';
  }
  return first?.code === 'FORBIDDEN'
    ? 'This cannot be done with this account.'
    : `${messageOf(error, 'Not possible now.')} Try again: it counts once.`;
}
