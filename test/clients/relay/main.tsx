import { createGatewayFetch } from '@referral-gateway/client/relay';
import { Suspense } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { Environment, Network, RecordSource, Store } from 'relay-runtime';
import { Screen } from './Screen';

/** Asks the login service of an application for a token of the player. */
async function fetchToken(): Promise<string> {
  const response = await fetch('/session', { method: 'POST' });
  if (!response.ok) throw new Error(`The login service responded with ${response.status}`);
  return await response.text();
}

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
