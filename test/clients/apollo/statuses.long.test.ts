import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { defaultOptions } from '@referral-gateway/client/apollo';
import { Client, fetchExchange } from '@urql/core';
import { post } from '../../kit/gateway.ts';
import { startGateway } from '../kit.ts';

/* Apollo Client and urql with their own links: what each status looks like to them. */

const TYPE = 'application/graphql-response+json';
const BURST = 10;
const ME = '{ me { id } }';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  // An eighth of the slots, which is one, is for each caller; a window of the rate limit lasts ten seconds.
  const limits = { MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: String(BURST) };
  gateway = await startGateway({ ...limits, MAX_CONCURRENT_OPERATIONS: '8' });
});
afterAll(() => gateway?.close());

/** Sends an operation with a client; resolves to its data or the code of its first error. */
type Ask = (query: string, options: { headers: Record<string, string>; fetch: typeof fetch }) => Promise<unknown>;

const askApollo: Ask = async (query, options) => {
  const link = new HttpLink({ uri: gateway.uri, ...options });
  const client = new ApolloClient({ cache: new InMemoryCache(), link, defaultOptions });
  const { data, error } = await client.query({ query: gql(query), fetchPolicy: 'no-cache' });
  return CombinedGraphQLErrors.is(error) ? error.errors[0]?.extensions?.['code'] : (data ?? error);
};

const askUrql: Ask = async (query, { headers, fetch }) => {
  const settings = { url: gateway.uri, preferGetMethod: false, fetchOptions: { headers }, fetch } as const;
  const client = new Client({ ...settings, exchanges: [fetchExchange] });
  const { data, error } = await client.query(query, {}).toPromise();
  return error ? error.graphQLErrors[0]?.extensions['code'] : data;
};

test.each([
  ['apollo', askApollo],
  ['urql', askUrql],
])('%s reads the code of the error at each status, in the media type it prefers', async (name, ask) => {
  const callerOf = async (sub: string) => ({
    authorization: `Bearer ${await gateway.token('--sub', `${name}-${sub}`, '--recipe', 'phone-app')}`,
  });
  /** The type that is asked for, the status, the type that comes, and what the client makes of it. */
  const asks = async (query: string, headers: Record<string, string>) => {
    const seen: unknown[] = [];
    const recorded: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const accept = new Headers(init?.headers).get('accept');
      seen.push(accept?.split(/[,;]/)[0], response.status, response.headers.get('content-type')?.split(';')[0]);
      return response;
    };
    const result = await ask(query, { headers, fetch: recorded });
    return [...seen, result];
  };
  const [usual, often, busy] = [await callerOf('usual'), await callerOf('often'), await callerOf('busy')];
  expect(await asks('{ __typename }', usual)).toEqual([TYPE, 200, TYPE, { __typename: 'Query' }]);
  expect(await asks('{ unknown }', usual)).toEqual([TYPE, 400, TYPE, 'GRAPHQL_VALIDATION_FAILED']);
  expect(await asks(ME, {})).toEqual([TYPE, 401, TYPE, 'UNAUTHENTICATED']);

  for (let sent = 0; sent < BURST; sent += 1) await post(gateway.url, { query: ME }, often);
  expect(await asks(ME, often)).toEqual([TYPE, 429, TYPE, 'RATE_LIMITED']);

  const held = gateway.upstream.hold('GET /coupon');
  const first = post(gateway.url, { query: '{ me { coupons { code } } }' }, busy);
  await held.arrived;
  expect(await asks(ME, busy)).toEqual([TYPE, 503, TYPE, 'OVERLOADED']);
  held.release();
  await first;
});
