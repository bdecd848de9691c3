import { graphql, useLazyLoadQuery } from 'react-relay';
import type { ScreenQuery } from './generated/ScreenQuery.graphql';

export function Screen({ playerUniqueId }: { playerUniqueId: string }) {
  const { player } = useLazyLoadQuery<ScreenQuery>(
    graphql`
      query ScreenQuery($playerUniqueId: ID!) {
        player(playerUniqueId: $playerUniqueId) {
          attributes {
            displayName
          }
          coupons(filter: { usableNow: true }) {
            id
            code
          }
        }
      }
    `,
    { playerUniqueId },
  );
  if (!player) return <p>There is no such player.</p>;
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
