import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import type { Friends_player$key } from './generated/Friends_player.graphql';
import type { FriendsPageQuery } from './generated/FriendsPageQuery.graphql';
import type { FriendsQuery } from './generated/FriendsQuery.graphql';

export function Friends({ playerUniqueId }: { playerUniqueId: string }) {
  const { player } = useLazyLoadQuery<FriendsQuery>(
    graphql`
      query FriendsQuery($playerUniqueId: ID!) {
        player(playerUniqueId: $playerUniqueId) {
          ...Friends_player
        }
      }
    `,
    { playerUniqueId },
  );
  return player ? <List player={player} /> : <p>There is no such player.</p>;
}

function List({ player }: { player: Friends_player$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<FriendsPageQuery, Friends_player$key>(
    graphql`
      fragment Friends_player on Player
      @refetchable(queryName: "FriendsPageQuery")
      @argumentDefinitions(first: { type: "Int", defaultValue: 20 }, after: { type: "String" }) {
        referredFriendsConnection(first: $first, after: $after) @connection(key: "Friends_referredFriendsConnection") {
          edges {
            node {
              id
              displayName
            }
          }
        }
      }
    `,
    player,
  );
  return (
    <>
      <ul>
        {data.referredFriendsConnection?.edges.map(({ node }) => (
          <li key={node.id}>{node.displayName}</li>
        ))}
      </ul>
      {hasNext && (
        <button type="button" disabled={isLoadingNext} onClick={() => loadNext(20)}>
          More friends
        </button>
      )}
    </>
  );
}
