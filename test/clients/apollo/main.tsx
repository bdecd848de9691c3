import { ApolloClient, InMemoryCache } from '@apollo/client';
import { ApolloProvider } from '@apollo/client/react';
import { cacheConfig, createGatewayLink, defaultOptions } from '@referral-gateway/client/apollo';
import { Screen } from './Screen';
import { fetchToken } from './session';

const client = new ApolloClient({
  cache: new InMemoryCache(cacheConfig),
  link: createGatewayLink({ url: 'https://gateway.example/graphql', token: fetchToken }),
  defaultOptions,
});

export const App = () => (
  <ApolloProvider client={client}>
    <Screen playerUniqueId="demo-player" />
  </ApolloProvider>
);
