import { ApolloClient, InMemoryCache } from '@apollo/client';
import { ApolloProvider } from '@apollo/client/react';
import { cacheConfig, createGatewayLink, defaultOptions } from '@referral-gateway/client/apollo';
import { createRoot } from 'react-dom/client';
import persisted from './generated/persisted-query-manifest.json';
import { Screen } from './Screen';
import { signIn } from './session';

const root = createRoot(document.getElementById('root') as HTMLElement);

try {
  const { graphql, token: first } = await signIn();
  let known: string | undefined = first;
  const token = async () => {
    const next = known ?? (await signIn()).token;
    known = undefined;
    return next;
  };
  const client = new ApolloClient({
    cache: new InMemoryCache(cacheConfig),
    link: createGatewayLink({ url: graphql, token, persisted }),
    defaultOptions,
  });
  root.render(
    <ApolloProvider client={client}>
      <Screen />
    </ApolloProvider>,
  );
} catch {
  root.render(
    <main>
      <p role="alert" className="failure">
        You could not be signed in. Check the connection and load the page again.
      </p>
    </main>,
  );
}
