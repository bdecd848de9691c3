// #region client
import { ApolloClient, ApolloLink, HttpLink } from '@apollo/client';
import { authorizedFetch } from '../tokens';
import { createCache } from './cache';
import { automatic } from './persisted';
import { retryLink } from './retry';

/** Data and errors both arrive, because one part of a screen can be missing. Declared, so that results have this type. */
export const defaultOptions = {
  watchQuery: { errorPolicy: 'all' },
  query: { errorPolicy: 'all' },
  mutate: { errorPolicy: 'all' },
} as const;
declare module '@apollo/client' {
  namespace ApolloClient.DeclareDefaultOptions {
    interface WatchQuery {
      errorPolicy: 'all';
    }
    interface Query {
      errorPolicy: 'all';
    }
    interface Mutate {
      errorPolicy: 'all';
    }
  }
}

export function createClient(uri: string, fetchToken: () => Promise<string>, persisted: ApolloLink = automatic) {
  return new ApolloClient({
    cache: createCache(),
    link: ApolloLink.from([retryLink, persisted, new HttpLink({ uri, fetch: authorizedFetch(fetchToken) })]),
    defaultOptions,
  });
}
// #endregion client
