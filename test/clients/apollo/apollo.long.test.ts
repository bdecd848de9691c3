import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gql } from '@apollo/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { reactionTo } from '../errors.ts';
import { recordRequests, runScript, startGateway } from '../kit.ts';
import { createExecute } from './execute.ts';

/* Apollo Client with nothing but what docs/clients.md says, against the built gateway. */

type Gateway = Awaited<ReturnType<typeof startGateway>>;
let gateway: Gateway;
let requests: ReturnType<typeof recordRequests>;
let token: string;
let app: typeof import('./client.ts') & typeof import('./operations.ts') & typeof import('./persisted.ts');

beforeAll(async () => {
  await runScript('apollo', 'codegen');
  app = { ...(await import('./client.ts')), ...(await import('./operations.ts')), ...(await import('./persisted.ts')) };
  gateway = await startGateway({ REST_TIMEOUT_MS: '500' });
  token = await gateway.token('--sub', 'p1', '--recipe', 'phone-app', '--events', 'open_app');
}, 60_000);
afterAll(() => gateway?.close());
beforeEach(() => {
  requests = recordRequests();
});
afterEach(() => {
  requests.restore();
  gateway.upstream.forget();
  for (const endpoint of ['GET /player', 'GET /coupon', 'POST /event'] as const) gateway.upstream.on(endpoint, 'usual');
});

const connect = () => app.createClient(gateway.uri, async () => token);
const ME = { playerUniqueId: 'p1' };
const openApp = (more: object = {}) => ({ input: { ...ME, events: [{ name: 'open_app' }], ...more } });

test('the snippets have correct types', () => runScript('apollo', 'types'), 60_000);

test('a query has typed data', async () => {
  const { data, error } = await connect().query({ query: app.Screen, variables: ME });
  expect(error).toBeUndefined();
  expect(data?.player?.attributes?.joinDate).toBe('2024-02-03T04:05:06.007Z');
  expect(data?.player?.coupons?.map(({ code }) => code)).toContain('P1-1');
});

test.each([
  ['show', { code: 'UPSTREAM_TIMEOUT', retryable: true }],
  ['show', { code: 'UPSTREAM_TIMEOUT', outcome: 'UNKNOWN', retryable: false }],
  ['ignore', { code: 'UPSTREAM_TIMEOUT', outcome: 'DONE', retryable: false }],
  ['report', { code: 'FORBIDDEN' }],
])('the reaction "%s" to %j', (reaction, extensions) => {
  expect(reactionTo({ extensions })).toBe(reaction);
});

describe('tokens', () => {
  test('requests with an expired token are sent again with one new token', async () => {
    const fetched = [gateway.expired(), token];
    const client = app.createClient(gateway.uri, async () => fetched.shift() ?? 'none is left');
    const queries = [1, 2, 3].map((page) => ({ query: app.FriendsPage, variables: { ...ME, page } }));
    const results = await Promise.all(queries.map((query) => client.query(query)));
    expect(results.map(({ data, error }) => [data?.player?.referredFriends?.nodes.length, error])).toEqual(
      Array(3).fill([20, undefined]),
    );
    expect(fetched).toEqual([]);
    expect(requests.sent.filter(({ status }) => status === 401)).toHaveLength(3);
  });

  test('a token that is refused twice is an error, not a loop', async () => {
    const client = app.createClient(gateway.uri, async () => gateway.expired());
    const { error } = await client.query({ query: app.Screen, variables: ME });
    expect(error).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    expect(requests.sent).toHaveLength(2);
  });
});

describe('retries', () => {
  test('a read that failed is sent again', async () => {
    const fails = { status: 500 };
    gateway.upstream.on('GET /coupon', fails, fails, fails, 'usual');
    const { data, error } = await connect().query({ query: app.Screen, variables: ME });
    expect({ error, coupons: data?.player?.coupons?.length }).toEqual({ error: undefined, coupons: 5 });
  });

  test('when every attempt failed, the data that there is arrives with the error', async () => {
    gateway.upstream.on('GET /coupon', { status: 500 });
    const { data, error } = await connect().query({ query: app.Screen, variables: ME });
    expect(data?.player).toMatchObject({ id: 'p1', coupons: null });
    expect(error).toMatchObject({ errors: [{ path: ['player', 'coupons'], extensions: { retryable: true } }] });
    expect(requests.sent.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(5);
  }, 60_000);

  test('an event without a key is sent once when the connection is lost', async () => {
    const client = connect();
    await client.mutate({ mutation: app.Track, variables: openApp() });
    requests.lose(1);
    const { error } = await client.mutate({ mutation: app.Track, variables: openApp() });
    expect(String(error)).toContain('fetch failed');
    expect(gateway.events()).toBe(2);
  });

  test('an event with a key is sent again, and counted once', async () => {
    requests.lose(3);
    const { data, error } = await connect().mutate({
      mutation: app.Track,
      variables: openApp({ idempotencyKey: 'lost three times' }),
    });
    expect(error).toBeUndefined();
    expect(data?.trackEvents).toMatchObject({ eventNames: ['open_app'], userErrors: [] });
    expect(requests.sent.length).toBeGreaterThanOrEqual(4);
    expect(gateway.events()).toBe(1);
  });

  test('an event whose outcome is unknown is not sent again', async () => {
    gateway.upstream.on('POST /event', { fault: 'reset' });
    const variables = openApp({ idempotencyKey: 'unknown' });
    const { error } = await connect().mutate({ mutation: app.Track, variables });
    expect(error).toMatchObject({ errors: [{ extensions: { outcome: 'UNKNOWN', retryable: false } }] });
    expect(gateway.events()).toBe(1);
  });
});

describe('pagination and languages', () => {
  test('one list grows with each page of the connection', async () => {
    const client = connect();
    await client.query({ query: app.FriendsScrolling, variables: ME });
    const list = client.watchQuery({ query: app.FriendsScrolling, variables: ME });
    const subscription = list.subscribe(() => {});
    const connection = () =>
      client.readQuery({ query: app.FriendsScrolling, variables: ME })?.player?.referredFriendsConnection;
    while (connection()?.pageInfo.hasNextPage) {
      await list.fetchMore({ variables: { after: connection()?.pageInfo.endCursor } });
    }
    subscription.unsubscribe();
    expect(connection()?.edges.map(({ node }) => node.displayName)).toEqual(
      Array.from({ length: 60 }, (_, index) => `Friend ${index + 1}`),
    );
    expect(requests.sent.filter(({ query }) => query !== undefined)).toHaveLength(1);
  });

  test('pages with numbers are kept apart', async () => {
    const client = connect();
    const read = async (page: number) => {
      const { data } = await client.query({ query: app.FriendsPage, variables: { ...ME, page } });
      return data?.player?.referredFriends?.nodes[0]?.displayName;
    };
    expect([await read(1), await read(2), await read(1)]).toEqual(['Friend 1', 'Friend 21', 'Friend 1']);
    expect(gateway.upstream.calls()).toHaveLength(2);
  });

  test('two languages of a field are kept apart', async () => {
    const client = connect();
    const link = async (lang: string) =>
      (await client.query({ query: app.Links, variables: { ...ME, lang } })).data?.player?.referralLink;
    const links = ['fr', 'de', 'fr'].map((lang) => `https://refer.example/r/p1?lang=${lang}`);
    expect([await link('fr'), await link('de'), await link('fr')]).toEqual(links);
    expect(gateway.upstream.calls()).toHaveLength(2);
  });
});

describe('persisted queries', () => {
  test('are sent as a hash once the gateway has them', async () => {
    const [first, second] = [connect(), connect()];
    await first.query({ query: app.Links, variables: { ...ME, lang: 'it' } });
    requests.forget();
    const { data } = await second.query({ query: app.Links, variables: { ...ME, lang: 'es' } });
    expect(data?.player?.id).toBe('p1');
    expect(requests.sent.map(({ query }) => query)).toEqual([undefined]);
  });

  test('trusted documents: a gateway that enforces the manifests runs them and nothing else', async () => {
    await runScript('apollo', 'manifest');
    const [ofApollo, ofCodegen] = ['persisted-query-manifest', 'persisted-documents'].map((name) =>
      fileURLToPath(new URL(`generated/${name}.json`, import.meta.url)),
    );
    const files = `${ofApollo},${ofCodegen}`;
    const strict = await startGateway({ PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_FILE: files });
    const strictToken = await strict.token('--sub', 'p1', '--recipe', 'phone-app', '--events', 'open_app');
    const fetchToken = async () => strictToken;

    const manifest = JSON.parse(readFileSync(ofApollo ?? '', 'utf8'));
    const trusting = app.createClient(strict.uri, fetchToken, app.trusted(manifest));
    expect((await trusting.query({ query: app.Screen, variables: ME })).data?.player?.id).toBe('p1');
    const { data, errors } = await createExecute(strict.uri, fetchToken)(app.FriendsPage, { ...ME, page: 2 });
    expect(errors).toBeUndefined();
    expect(data?.player?.referredFriends?.nodes[0]?.displayName).toBe('Friend 21');
    expect(requests.sent.map(({ query, status }) => [query, status])).toEqual(Array(2).fill([undefined, 200]));

    const other = app.createClient(strict.uri, fetchToken);
    const unlisted = gql`query Other { me { id } }`;
    expect((await other.query({ query: unlisted })).error).toMatchObject({
      errors: [{ extensions: { code: 'OPERATION_NOT_ALLOWED' } }],
    });
    await strict.close();
  }, 60_000);
});
