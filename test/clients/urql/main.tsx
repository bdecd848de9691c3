import { gatewayExchanges } from '@referral-gateway/client/urql';
import { Client, Provider } from 'urql';
import { Screen } from './Screen';
import { fetchToken } from './session';

const client = new Client({
  url: 'https://gateway.example/graphql',
  exchanges: gatewayExchanges({ token: fetchToken }),
});

export const App = () => (
  <Provider value={client}>
    <Screen playerUniqueId="demo-player" />
  </Provider>
);
