import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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

describe.each([
  ['apollo', askApollo],
  ['urql', askUrql],
])('%s reads the code of the error, in the media type it prefers,', (name, ask) => {
  const tokenOf = (sub: string) => gateway.token('--sub', `${name}-${sub}`, '--recipe', 'phone-app');
  const asks = async (query: string, token: string | undefined) => {
    const seen: unknown[] = [];
    const recorded: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const accept = new Headers(init?.headers).get('accept');
      seen.push(accept?.split(/[,;]/)[0], response.status, response.headers.get('content-type')?.split(';')[0]);
      return response;
    };
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const result = await ask(query, { headers, fetch: recorded });
    return [...seen, result];
  };

  test('of 200, 400 and 401', async () => {
    const token = await tokenOf('usual');
    expect(await asks('{ __typename }', token)).toEqual([TYPE, 200, TYPE, { __typename: 'Query' }]);
    expect(await asks('{ unknown }', token)).toEqual([TYPE, 400, TYPE, 'GRAPHQL_VALIDATION_FAILED']);
    expect(await asks(ME, undefined)).toEqual([TYPE, 401, TYPE, 'UNAUTHENTICATED']);
  });

  test('of 429', async () => {
    const token = await tokenOf('often');
    const authorization = `Bearer ${token}`;
    for (let sent = 0; sent < BURST; sent += 1) await post(gateway.url, { query: ME }, { authorization });
    expect(await asks(ME, token)).toEqual([TYPE, 429, TYPE, 'RATE_LIMITED']);
  });

  test('of 503', async () => {
    const token = await tokenOf('busy');
    const held = gateway.upstream.hold('GET /coupon');
    const first = post(gateway.url, { query: '{ me { coupons { code } } }' }, { authorization: `Bearer ${token}` });
    await held.arrived;
    expect(await asks(ME, token)).toEqual([TYPE, 503, TYPE, 'OVERLOADED']);
    held.release();
    await first;
  });
});
