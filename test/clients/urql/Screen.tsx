import { useHealing } from '@referral-gateway/client/react';
import { useQuery } from 'urql';
import { NoPlayer } from '../NoPlayer';
import { graphql } from './operations';

const ScreenQuery = graphql(`
  query Screen($playerUniqueId: ID!) {
    player(playerUniqueId: $playerUniqueId) {
      id
      attributes { displayName }
      coupons(filter: { usableNow: true }) { id code }
    }
  }
`);

export function Screen({ playerUniqueId }: { playerUniqueId: string }) {
  const [{ data, error, fetching, stale }, read] = useQuery({ query: ScreenQuery, variables: { playerUniqueId } });
  const player = data?.player;
  const retry = () => read({ requestPolicy: 'network-only' });
  // What is missing appears by itself.
  useHealing(error, retry);
  if (!player) return fetching || stale ? <p>Loading…</p> : <NoPlayer error={error} retry={retry} />;
  return (
    <main>
      <h1 dir="auto">{player.attributes?.displayName?.trim() || 'My rewards'}</h1>
      {player.coupons ? <p>{player.coupons.length} coupons</p> : <p role="alert">Your coupons cannot be loaded now.</p>}
    </main>
  );
}
