import { useQuery } from '@apollo/client/react';
import { useHealing } from '@referral-gateway/client/react';
import { NoPlayer } from '../NoPlayer';
import { Screen as ScreenQuery } from './operations';

export function Screen({ playerUniqueId }: { playerUniqueId: string }) {
  const { data, error, loading, refetch } = useQuery(ScreenQuery, { variables: { playerUniqueId } });
  // What is missing appears by itself.
  useHealing(error, refetch);
  const player = data?.player;
  if (!player) return loading ? <p>Loading…</p> : <NoPlayer error={error} retry={() => refetch()} />;
  return (
    <main>
      <h1 dir="auto">{player.attributes?.displayName?.trim() || 'My rewards'}</h1>
      {!player.coupons && <p role="alert">Your coupons cannot be loaded now.</p>}
      <ul>
        {player.coupons?.map(({ id, code }, index) => (
          <li key={id ?? index}>{code}</li>
        ))}
      </ul>
    </main>
  );
}
