import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ApolloClient, type ApolloLink, gql, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createClient, gatewayErrors } from '@referral-gateway/client';
import { cacheConfig, createGatewayLink, defaultOptions } from '@referral-gateway/client/apollo';
import { until } from '../../kit/until.ts';
import { friends, recordRequests, runScript, startGateway } from '../kit.ts';

/* Apollo Client with the package's link and cache, against the built gateway. */

type Gateway = Awaited<ReturnType<typeof startGateway>>;
let gateway: Gateway;
let upstream: Gateway['upstream'];
let requests: ReturnType<typeof recordRequests>;
let token: string;
let app: typeof import('./operations.ts');

beforeAll(async () => {
  await runScript('apollo', 'codegen');
  app = await import('./operations.ts');
  gateway = await startGateway({ REST_TIMEOUT_MS: '500' });
  upstream = gateway.upstream;
  token = await gateway.token();
}, 60_000);
afterAll(() => gateway?.close());
const open = new Set<{ unsubscribe(): void }>();
beforeEach(() => {
  requests = recordRequests();
});
afterEach(() => {
  for (const subscription of open) subscription.unsubscribe();
  open.clear();
  requests.restore();
  upstream.reset();
});

const clientOf = (link: ApolloLink) =>
  new ApolloClient({ cache: new InMemoryCache(cacheConfig), link, defaultOptions });
const connect = (options: Partial<Parameters<typeof createGatewayLink>[0]> = {}) =>
  clientOf(createGatewayLink({ url: gateway.uri, token: () => token, ...options }));
const ME = { playerUniqueId: 'p1' };
const sentAs = (name: string) => requests.sent.filter(({ query }) => query?.includes(`query ${name}(`));

test('the snippets have correct types', () => runScript('apollo', 'types'), 60_000);

test('requests with an expired token are sent again with one new token', async () => {
  const fetched = [gateway.expired(), token];
  const client = connect({ token: async () => fetched.shift() });
  const queries = [1, 2, 3].map((page) => ({ query: app.FriendsPage, variables: { ...ME, page } }));
  const results = await Promise.all(queries.map((query) => client.query(query)));
  expect(results.map(({ data, error }) => [data?.player?.referredFriends?.nodes.length, error])).toEqual(
    Array(3).fill([20, undefined]),
  );
  expect(fetched).toEqual([]);
  expect(requests.sent.filter(({ status }) => status === 401)).toHaveLength(3);
});

describe('retries', () => {
  test('a query without data is sent again before anything is delivered', async () => {
    const fails = { status: 500 };
    upstream.on('GET /player', fails, fails, fails, 'usual');
    const { data, error } = await connect().query({ query: app.Screen, variables: ME });
    expect([error, data?.player?.attributes?.joinDate]).toEqual([undefined, '2024-02-03T04:05:06.007Z']);
  });

  test('a query that is read once gets what there is at once', async () => {
    upstream.on('GET /coupon', { status: 500 });
    const { data, error } = await connect().query({ query: app.Screen, variables: ME });
    expect(data?.player).toMatchObject({ id: 'p1', coupons: null });
    expect(error).toMatchObject({ errors: [{ path: ['player', 'coupons'], extensions: { retryable: true } }] });
    expect(requests.sent).toHaveLength(1);
  });

  test('an event gets a key, is sent again when its response is lost, and is counted once; an upsert is not', async () => {
    const client = connect();
    requests.lose(3);
    const input = { ...ME, events: [{ name: 'open_app' }] };
    const { data, error } = await client.mutate({ mutation: app.Track, variables: { input } });
    expect([error, data?.trackEvents?.eventNames]).toEqual([undefined, ['open_app']]);
    expect([requests.sent.length, gateway.events()]).toEqual([4, 1]);
    requests.lose(1);
    const renamed = await client.mutate({ mutation: app.Rename, variables: { input: ME } });
    expect(renamed.error).toMatchObject({ code: 'NO_RESPONSE', outcome: 'UNKNOWN' });
    expect(requests.sent).toHaveLength(5);
  });
});

describe('while the coupons hang', () => {
  /** A screen that watches the query, and what it shows. */
  function watch(client = connect()) {
    const screen = client.watchQuery({ query: app.Screen, variables: ME });
    const shown: ReturnType<typeof screen.getCurrentResult>[] = [];
    const subscription = screen.subscribe((result) => shown.push(result));
    open.add(subscription);
    const shows = (fits: (result: (typeof shown)[number]) => boolean) => until(() => shown.some(fits));
    return { client, screen, shown, shows, subscription };
  }
  type Shown = ReturnType<typeof watch>['shown'][number];
  const isPartial = ({ data, error }: Shown) =>
    data?.player?.id === 'p1' && !data.player.coupons && error !== undefined;
  const isWhole = ({ data, error }: Shown) => data?.player?.coupons?.length === 5 && error === undefined;
  beforeEach(() => upstream.on('GET /coupon', { fault: 'hang' }));

  /** The next request for coupons is answered; `before` is called while it waits. */
  async function answerNext(before = () => {}) {
    const held = upstream.hold('GET /coupon');
    await held.arrived;
    before();
    upstream.on('GET /coupon', 'usual');
    held.release();
  }

  test('the rest is shown before they are asked for again, and they appear by themselves', async () => {
    const { shown, shows } = watch();
    await shows(isPartial);
    // The data is there after one request for each part, of which one was never answered.
    expect(upstream.calls()).toHaveLength(2);
    await answerNext(() => expect(shown.some(isWhole)).toBe(false));
    await shows(isWhole);
    expect(requests.sent).toHaveLength(2);
    // No spinner came back in between.
    expect(shown.slice(shown.findIndex(isPartial)).filter(({ loading }) => loading)).toEqual([]);
  });

  test('two screens with the same query are asked for as one, also after "Try again"', async () => {
    const { client, shows, screen } = watch();
    await shows(isPartial);
    watch(client);
    await screen.refetch();
    const before = requests.sent.length;
    await answerNext();
    await shows(isWhole);
    expect(requests.sent.length - before).toBe(1);
  });

  test('a screen that was closed is not asked for', async () => {
    const closed = watch();
    await closed.shows(isPartial);
    closed.subscription.unsubscribe();
    open.add(connect().watchQuery({ query: app.Coupons, variables: ME }).subscribe({}));
    // When the open screen is asked for the second time, the time of the closed one is over.
    await upstream.received(2 + 3);
    expect(sentAs('Screen')).toHaveLength(1);
  });

  test('the error of a part that is still missing stays when another one appears', async () => {
    upstream.on('GET /coupon', { status: 500 });
    upstream.on('GET /player', { status: 500 });
    const query = gql`query Two { me { coupons { code } referralLink(lang: "en") } }`;
    const screen = connect().watchQuery<{ me: { coupons: unknown } }>({ query });
    const shown: [loading: boolean, coupons: boolean, missing: unknown[]][] = [];
    const subscription = screen.subscribe(({ loading, data, error }) => {
      const missing = gatewayErrors(error).map(({ path }) => path?.join('.'));
      shown.push([loading, Boolean(data?.me?.coupons), missing]);
    });
    open.add(subscription);
    await until(() => shown.length === 2);
    upstream.on('GET /player', 'usual');
    await until(() => shown.length === 3);
    upstream.on('GET /coupon', 'usual');
    await until(() => shown.length === 4);
    expect(shown).toEqual([
      [true, false, []],
      [false, false, ['me.coupons', 'me.referralLink']],
      [false, false, ['me.coupons']],
      [false, true, []],
    ]);
  });
});

describe('a list that has grown', () => {
  /** A screen with coupons and friends of which two pages were read. */
  async function watch() {
    const client = connect();
    const screen = client.watchQuery({ query: app.ScreenWithFriends, variables: ME });
    open.add(screen.subscribe({}));
    const player = () => screen.getCurrentResult().data?.player;
    const list = () => player()?.referredFriendsConnection;
    const names = () => list()?.nodes?.map((friend) => friend?.displayName);
    const fetchMore = () =>
      screen.fetchMore({
        query: app.FriendsScrolling,
        variables: { ...ME, after: list()?.pageInfo?.endCursor ?? null },
      });
    await until(() => names()?.length === 20);
    await fetchMore();
    await until(() => names()?.length === 40);
    return { client, screen, player, list, names, fetchMore };
  }

  test('has 40 friends after the coupons appeared by themselves and the screen was read again, and goes on', async () => {
    upstream.on('GET /coupon', { status: 500 });
    const { screen, player, list, names, fetchMore } = await watch();
    expect([player()?.coupons, names()]).toEqual([null, friends(40)]);
    upstream.on('GET /coupon', 'usual');
    await until(() => player()?.coupons?.length === 10);
    expect(names()).toEqual(friends(40));
    await screen.refetch();
    expect(names()).toEqual(friends(40));
    await fetchMore();
    await until(() => names()?.length === 60);
    expect(names()).toEqual(friends(60));
    expect(list()?.pageInfo?.hasNextPage).toBe(false);
  });

  test('begins anew when its first page is another one', async () => {
    const { client, screen, names } = await watch();
    const { data } = await connect().query({ query: app.ScreenWithFriends, variables: ME });
    const list = data?.player?.referredFriendsConnection;
    if (!data?.player || !list?.nodes) throw new Error('There are no friends');
    const changed = { ...list, nodes: list.nodes.toReversed() };
    const player = { ...data.player, referredFriendsConnection: changed };
    client.writeQuery({ query: app.ScreenWithFriends, variables: ME, data: { ...data, player } });
    await until(() => names()?.[0] === 'Friend 20');
    expect(names()).toEqual(friends(20).toReversed());
    await screen.refetch();
    await until(() => names()?.[0] === 'Friend 1');
    expect(names()).toEqual(friends(20));
  });

  test('keeps its pages when the next one fails, with the error for the caller; is null when the first fails', async () => {
    const { names, fetchMore } = await watch();
    upstream.on('GET /referrals', { status: 500 });
    await expect(fetchMore()).rejects.toMatchObject({ errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }] });
    expect(names()).toEqual(friends(40));
    const client = connect();
    const screen = { query: app.ScreenWithFriends, variables: ME };
    expect((await client.query(screen)).data?.player?.referredFriendsConnection).toBeNull();
    expect(client.readQuery(screen)?.player).toMatchObject({ referredFriendsConnection: null });
  });

  test('a part that another query has brought is not asked for again', async () => {
    upstream.on('GET /coupon', { status: 500 });
    const { client, player, names } = await watch();
    upstream.on('GET /coupon', 'usual');
    await client.query({ query: app.Coupons, variables: ME, fetchPolicy: 'network-only' });
    await until(() => player()?.coupons?.length === 10);
    const before = requests.sent.length;
    // Another screen is asked for the second time: the time of this one is over.
    upstream.on('GET /coupon', { status: 500 });
    open.add(connect().watchQuery({ query: app.Screen, variables: ME }).subscribe({}));
    await until(() => requests.sent.length >= before + 3);
    expect(sentAs('ScreenWithFriends')).toHaveLength(1);
    expect(names()).toEqual(friends(40));
  });
});

test('pages with numbers, and the languages of a field, are kept apart', async () => {
  const client = connect();
  const first = async (page: number) => {
    const { data } = await client.query({ query: app.FriendsPage, variables: { ...ME, page } });
    return data?.player?.referredFriends?.nodes[0]?.displayName;
  };
  const link = async (lang: string) =>
    (await client.query({ query: app.Links, variables: { ...ME, lang } })).data?.player?.referralLink;
  expect([await first(1), await first(2), await first(1)]).toEqual(['Friend 1', 'Friend 21', 'Friend 1']);
  expect([await link('fr'), await link('de'), await link('fr')]).toEqual(
    ['fr', 'de', 'fr'].map((lang) => `https://refer.example/r/p1?lang=${lang}`),
  );
  expect(upstream.calls()).toHaveLength(4);
});

describe('persisted queries', () => {
  test('are sent as a hash once the gateway has them', async () => {
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const ask = (lang: string) =>
      clientOf(
        new PersistedQueryLink({ sha256 }).concat(createGatewayLink({ url: gateway.uri, token: () => token })),
      ).query({ query: app.Links, variables: { ...ME, lang } });
    await ask('it');
    requests.forget();
    expect((await ask('es')).data?.player?.id).toBe('p1');
    expect(requests.sent.map(({ query }) => query)).toEqual([undefined]);
  });

  test('trusted documents: a gateway that enforces the manifests runs them and nothing else', async () => {
    await runScript('apollo', 'manifest');
    const [ofApollo = '', ofCodegen] = ['persisted-query-manifest', 'persisted-documents'].map((name) =>
      fileURLToPath(new URL(`generated/${name}.json`, import.meta.url)),
    );
    const files = `${ofApollo},${ofCodegen}`;
    const strict = await startGateway({ PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_FILE: files });
    const options = { url: strict.uri, token: await strict.token() };

    const trusting = connect({ ...options, persisted: JSON.parse(readFileSync(ofApollo, 'utf8')) });
    expect((await trusting.query({ query: app.Screen, variables: ME })).data?.player?.id).toBe('p1');
    const plain = createClient({ ...options, persisted: true });
    const { FriendsText } = await import('./persisted.ts');
    const { data } = await plain.request(FriendsText, { ...ME, page: 2 });
    expect(data.player?.referredFriends?.nodes[0]?.displayName).toBe('Friend 21');
    expect(requests.sent.map(({ query, status }) => [query, status])).toEqual(Array(2).fill([undefined, 200]));

    const unlisted = gql`query Other { me { id } }`;
    expect((await trusting.query({ query: unlisted })).error).toMatchObject({
      message: expect.stringContaining('does not list the operation "Other"'),
    });
    expect((await connect(options).query({ query: unlisted })).error).toMatchObject({
      errors: [{ extensions: { code: 'OPERATION_NOT_ALLOWED' } }],
    });
    await strict.close();
  }, 60_000);
});
