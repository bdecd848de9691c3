import { useQuery } from '@apollo/client/react';
import { CheckIn } from './CheckIn';
import { Coupons } from './Coupons';
import { Friends } from './Friends';
import { ScreenQuery } from './operations';
import { Share } from './Share';

/** The screen of the player: what is missing says so in its place, and the rest is shown. */
export function Screen() {
  const { data, error, loading, refetch } = useQuery(ScreenQuery, { notifyOnNetworkStatusChange: true });
  const player = data?.me;
  if (!player) {
    return (
      <main aria-busy={loading}>
        <h1>My rewards</h1>
        {loading ? <Placeholder /> : <Failure hasError={error !== undefined} retry={refetch} />}
      </main>
    );
  }
  const name = player.attributes?.displayName ?? 'My rewards';
  const since = player.attributes?.joinDate;
  return (
    <main>
      <header className="profile">
        <span className="avatar" aria-hidden="true">
          {name.slice(0, 1)}
        </span>
        <div>
          <h1>{name}</h1>
          {since && <p>Member since {new Date(since).getUTCFullYear()}</p>}
        </div>
      </header>
      <CheckIn playerUniqueId={player.id} />
      <Share link={player.referralLink} />
      <Coupons coupons={player.coupons} isLoading={loading} retry={refetch} />
      <Friends />
    </main>
  );
}

function Placeholder() {
  return (
    <div role="status">
      <span className="hidden">Your rewards are loading.</span>
      {['profile', 'card', 'card', 'card'].map((shape, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the shapes never change.
        <div key={index} className={`placeholder ${shape}`} />
      ))}
    </div>
  );
}

function Failure({ hasError, retry }: { hasError: boolean; retry: () => void }) {
  if (!hasError) return <p role="alert">There is no player for this account yet.</p>;
  return (
    <div role="alert" className="failure">
      <p>Your rewards cannot be loaded now.</p>
      <button type="button" onClick={() => retry()}>
        Try again
      </button>
    </div>
  );
}
