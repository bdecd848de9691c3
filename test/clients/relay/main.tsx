import { createGatewayFetch } from '@referral-gateway/client/relay';
import { Suspense } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { Environment, Network, RecordSource, Store } from 'relay-runtime';
import { Screen } from './Screen';
import { fetchToken } from './session';

const url = 'https://gateway.example/graphql';
const environment = new Environment({
  network: Network.create(createGatewayFetch({ url, token: fetchToken })),
  store: new Store(new RecordSource()),
});

export const App = () => (
  <RelayEnvironmentProvider environment={environment}>
    <Suspense fallback={<p>Loading…</p>}>
      <Screen playerUniqueId="demo-player" />
    </Suspense>
  </RelayEnvironmentProvider>
);
