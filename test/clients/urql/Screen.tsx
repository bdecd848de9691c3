import { gatewayExchanges } from '@referral-gateway/client/urql';
import { Client, Provider, useQuery } from 'urql';
import { Coupons } from './operations';

const fetchToken = async () => (await fetch('/session', { method: 'POST' })).text();
const client = new Client({
  url: 'https://gateway.example/graphql',
  exchanges: gatewayExchanges({ token: fetchToken }),
});

// #region screen
function Screen({ playerUniqueId }: { playerUniqueId: string }) {
  const [{ data, fetching }] = useQuery({ query: Coupons, variables: { playerUniqueId } });
  const player = data?.player;
  if (!player) return <p>{fetching ? 'Loading…' : 'Your rewards cannot be loaded now.'}</p>;
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
// #endregion screen

export const App = () => (
  <Provider value={client}>
    <Screen playerUniqueId="demo-player" />
  </Provider>
);
