import { useHealing } from '@referral-gateway/client/react';
import { Component, type ReactNode, Suspense, useState } from 'react';
import { fetchQuery, graphql, useFragment, useLazyLoadQuery, useRelayEnvironment } from 'react-relay';
import { NoPlayer } from '../NoPlayer';
import type { Screen_player$key } from './generated/Screen_player.graphql';
import type { ScreenQuery } from './generated/ScreenQuery.graphql';

export function Screen({ playerUniqueId }: { playerUniqueId: string }) {
  const [attempt, setAttempt] = useState(0);
  const retry = () => setAttempt(attempt + 1);
  return (
    <Boundary key={attempt} retry={retry}>
      <Suspense fallback={<p>Loading…</p>}>
        <Player playerUniqueId={playerUniqueId} attempt={attempt} retry={retry} />
      </Suspense>
    </Boundary>
  );
}

/** Relay throws an error without data, such as `NO_RESPONSE` or `UNAUTHENTICATED`. */
class Boundary extends Component<{ retry: () => void; children: ReactNode }> {
  override state: { error?: unknown } = {};
  static getDerivedStateFromError = (error: unknown) => ({ error });
  override render() {
    const { error } = this.state;
    return error === undefined ? this.props.children : <NoPlayer error={error} retry={this.props.retry} />;
  }
}

const Query = graphql`
  query ScreenQuery($playerUniqueId: ID!) {
    player(playerUniqueId: $playerUniqueId) @catch(to: RESULT) {
      ...Screen_player
    }
  }
`;

function Player({ playerUniqueId, attempt, retry }: { playerUniqueId: string; attempt: number; retry: () => void }) {
  const environment = useRelayEnvironment();
  // The store has the null of the last attempt.
  const options = { fetchKey: attempt, fetchPolicy: attempt > 0 ? 'network-only' : 'store-or-network' } as const;
  const { player } = useLazyLoadQuery<ScreenQuery>(Query, { playerUniqueId }, options);
  if (!player.ok) return <NoPlayer error={player.errors} retry={retry} />;
  if (!player.value) return <NoPlayer error={undefined} retry={retry} />;
  const read = () => fetchQuery(environment, Query, { playerUniqueId }, { networkCacheConfig: { force: true } });
  return <Rewards player={player.value} refetch={() => read().toPromise()} />;
}

/** The part that can be missing has its own @catch: around the player, it would take the player away. */
function Rewards({ player, refetch }: { player: Screen_player$key; refetch: () => Promise<unknown> }) {
  const { attributes, coupons } = useFragment(
    graphql`
      fragment Screen_player on Player {
        attributes {
          displayName
        }
        coupons(filter: { usableNow: true }) @catch(to: RESULT) {
          id
          code
        }
      }
    `,
    player,
  );
  useHealing(coupons.ok ? undefined : coupons.errors, refetch);
  return (
    <main>
      <h1 dir="auto">{attributes?.displayName?.trim() || 'My rewards'}</h1>
      {!coupons.ok && <p role="alert">Your coupons cannot be loaded now.</p>}
      <ul>{coupons.ok && coupons.value?.map(({ id, code }, index) => <li key={id ?? index}>{code}</li>)}</ul>
    </main>
  );
}
