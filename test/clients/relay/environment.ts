// #region environment
import { Environment, type FetchFunction, type GraphQLResponse, Network, RecordSource, Store } from 'relay-runtime';
import { delayBefore, isRetryable } from '../errors';
import { authorizedFetch } from '../tokens';

const ATTEMPTS = 5;
const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export function createEnvironment(url: string, fetchToken: () => Promise<string>): Environment {
  const send = authorizedFetch(fetchToken);
  const read: FetchFunction = async ({ id, text, operationKind }, variables) => {
    const isSafe = operationKind === 'query' || variables['input']?.idempotencyKey != null;
    const body = JSON.stringify({ ...(id ? { doc_id: id } : { query: text }), variables });
    for (let attempt = 1; ; attempt += 1) {
      let errors: Parameters<typeof isRetryable>[0] = [];
      try {
        const response = await send(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
        const result = await response.json();
        errors = result.errors ?? [];
        if (!isRetryable(errors) || attempt === ATTEMPTS) return result as GraphQLResponse;
      } catch (error) {
        if (!isSafe || attempt === ATTEMPTS) throw error;
      }
      await wait(delayBefore(attempt, errors));
    }
  };
  return new Environment({ network: Network.create(read), store: new Store(new RecordSource()) });
}
// #endregion environment
