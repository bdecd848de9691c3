import { ApolloClient, InMemoryCache } from '@apollo/client';
import { ApolloProvider } from '@apollo/client/react';
import { cacheConfig, createGatewayLink, defaultOptions } from '@referral-gateway/client/apollo';
import { createRoot } from 'react-dom/client';
import persisted from './generated/persisted-query-manifest.json';
import { Screen } from './Screen';
import { signIn } from './session';

const root = createRoot(document.getElementById('root') as HTMLElement);

/** One client for each player who signs in: its cache and its token end with it. */
async function start(): Promise<void> {
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
  const signOut = () => {
    client.stop();
    root.render(<Message text="You have signed out." action="Sign in" onClick={open} />);
  };
  root.render(
    <ApolloProvider client={client}>
      <Screen signOut={signOut} />
    </ApolloProvider>,
  );
}

function Message({ text, action, onClick }: { text: string; action: string; onClick: () => void }) {
  return (
    <main>
      <h1>My rewards</h1>
      <div role="alert" className="failure">
        <p>{text}</p>
        {/* The button that was pressed is gone: without this the focus would be lost. */}
        <button type="button" className="primary" onClick={onClick} ref={focus}>
          {action}
        </button>
      </div>
    </main>
  );
}

const focus = (button: HTMLButtonElement | null) => button?.focus();

const open = () =>
  start().catch(() =>
    root.render(<Message text="You could not be signed in. Check the connection." action="Try again" onClick={open} />),
  );

await open();
