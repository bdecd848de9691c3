// #region client
import { Client, type CombinedError, fetchExchange, type Operation } from '@urql/core';
import { retryExchange } from '@urql/exchange-retry';
import { isRetryable } from '../errors';
import { authorizedFetch } from '../tokens';
import { cache } from './cache';
import { persisted } from './persisted';

/** Without a response, only queries and events with a key are safe to send again. */
const mayRepeat = ({ networkError, graphQLErrors }: CombinedError, { kind, variables }: Operation) =>
  networkError ? kind === 'query' || variables?.['input']?.idempotencyKey != null : isRetryable(graphQLErrors);

export const createClient = (url: string, fetchToken: () => Promise<string>) =>
  new Client({
    url,
    fetch: authorizedFetch(fetchToken),
    exchanges: [cache, retryExchange({ maxNumberAttempts: 5, retryIf: mayRepeat }), persisted, fetchExchange],
  });
// #endregion client
