import { Component, type ReactNode, Suspense, useState } from 'react';
import { graphql, useFragment, useLazyLoadQuery } from 'react-relay';
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

function Player({ playerUniqueId, attempt, retry }: { playerUniqueId: string; attempt: number; retry: () => void }) {
  const { player } = useLazyLoadQuery<ScreenQuery>(
    graphql`
      query ScreenQuery($playerUniqueId: ID!) {
        player(playerUniqueId: $playerUniqueId) @catch(to: RESULT) {
          ...Screen_player
        }
      }
    `,
    { playerUniqueId },
    // The store has the null of the last attempt.
    { fetchKey: attempt, fetchPolicy: attempt > 0 ? 'network-only' : 'store-or-network' },
  );
  if (!player.ok) return <NoPlayer error={player.errors} retry={retry} />;
  return player.value ? <Rewards player={player.value} /> : <NoPlayer error={undefined} retry={retry} />;
}

/** A fragment of its own: with @catch around them, coupons that are missing would take the player away. */
function Rewards({ player }: { player: Screen_player$key }) {
  const { attributes, coupons } = useFragment(
    graphql`
      fragment Screen_player on Player {
        attributes {
          displayName
        }
        coupons(filter: { usableNow: true }) {
          id
          code
        }
      }
    `,
    player,
  );
  return (
    <main>
      <h1 dir="auto">{attributes?.displayName?.trim() || 'My rewards'}</h1>
      {!coupons && <p role="alert">Your coupons cannot be loaded now.</p>}
      <ul>
        {coupons?.map(({ id, code }, index) => (
          <li key={id ?? index}>{code}</li>
        ))}
      </ul>
    </main>
  );
}
