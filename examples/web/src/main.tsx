import { ApolloProvider } from '@apollo/client/react';
import { createRoot } from 'react-dom/client';
import { createClient } from './client/apollo/client';
import { trusted } from './client/apollo/persisted';
import manifest from './generated/persisted-query-manifest.json';
import { Screen } from './Screen';
import { signIn } from './session';
import './style.css';

const root = createRoot(document.getElementById('root') as HTMLElement);

try {
  const { graphql, token } = await signIn();
  let first: string | undefined = token;
  const fetchToken = async () => {
    const known = first ?? (await signIn()).token;
    first = undefined;
    return known;
  };
  root.render(
    <ApolloProvider client={createClient(graphql, fetchToken, trusted(manifest))}>
      <Screen />
    </ApolloProvider>,
  );
} catch {
  root.render(<p role="alert">You could not be signed in. Check the connection and load the page again.</p>);
}
