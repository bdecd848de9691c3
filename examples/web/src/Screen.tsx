import { useQuery } from '@apollo/client/react';
import { errorAt, gatewayErrors } from '@referral-gateway/client';
import { useHealing } from '@referral-gateway/client/react';
import { CheckIn } from './CheckIn';
import { Coupons } from './Coupons';
import { Friends } from './Friends';
import { Missing } from './Missing';
import { initialOf, nameOr } from './names';
import { ScreenQuery } from './operations';
import { Share } from './Share';
import { messageOf } from './texts';

/** The screen of the player: what is missing says so in its place, and the rest is shown. */
export function Screen({ signOut }: { signOut: () => void }) {
  const { data, previousData, error, loading, refetch, fetchMore } = useQuery(ScreenQuery);
  useHealing(error, refetch);
  // A screen stays when it is read again in vain: Apollo Client has no `data` then.
  const player = (data ?? previousData)?.me;
  const again = () => void refetch().catch(() => undefined);
  if (!player) return loading && !error ? <Skeleton /> : <Failure error={error} isLoading={loading} retry={again} />;
  const name = nameOr(player.attributes?.displayName, 'My rewards');
  const since = player.attributes?.joinDate;
  const errors = gatewayErrors(error);
  const reading = { isLoading: loading, retry: again };
  return (
    <main aria-busy={loading}>
      <div className="column">
        <header className="profile">
          <span className="avatar" aria-hidden="true">
            {initialOf(name)}
          </span>
          <div>
            <h1 dir="auto">{name}</h1>
            {since && <p>Member since {new Date(since).getUTCFullYear()}</p>}
          </div>
        </header>
        <CheckIn playerUniqueId={player.id} done={again} />
        <Coupons
          coupons={player.coupons}
          missing={<Missing what="coupons" error={errorAt(errors, 'me.coupons')} {...reading} />}
        />
      </div>
      <div className="column">
        <Share link={player.referralLink} />
        <Friends
          connection={player.referredFriendsConnection}
          missing={<Missing what="friends" error={errorAt(errors, 'me.referredFriendsConnection')} {...reading} />}
          isLoading={loading}
          fetchMore={(options) => fetchMore(options)}
        />
        <p>
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </p>
      </div>
    </main>
  );
}

/** Has the shape of the screen, like the one in index.html, which is there before this program. */
function Skeleton() {
  return (
    <main aria-busy="true">
      <h1 className="hidden">My rewards</h1>
      <p role="status" className="hidden">
        Your rewards are loading.
      </p>
      <div className="column" aria-hidden="true">
        <div className="placeholder profile" />
        <div className="placeholder" />
        <div className="placeholder tall" />
      </div>
      <div className="column" aria-hidden="true">
        <div className="placeholder" />
        <div className="placeholder tall" />
      </div>
    </main>
  );
}

interface FailureProps {
  /** Undefined: the response says that there is no player. */
  error: unknown;
  isLoading: boolean;
  retry: () => void;
}

function Failure({ error, isLoading, retry }: FailureProps) {
  if (!error) {
    return (
      <main>
        <h1>My rewards</h1>
        <p role="alert">There is no player for this account yet.</p>
      </main>
    );
  }
  const isSignedOut = ['UNAUTHENTICATED', 'NO_TOKEN'].includes(gatewayErrors(error)[0]?.code ?? '');
  return (
    <main>
      <h1>My rewards</h1>
      <div role="alert" className="failure">
        <p>{messageOf(error)}</p>
        <button
          type="button"
          className="primary"
          aria-disabled={isLoading}
          onClick={isSignedOut ? () => location.reload() : retry}
        >
          {isSignedOut ? 'Sign in again' : isLoading ? 'Loading…' : 'Try again'}
        </button>
      </div>
    </main>
  );
}
