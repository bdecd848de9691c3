import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ApolloClient, type ApolloLink, gql, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createClient, gatewayErrors } from '@referral-gateway/client';
import { cacheConfig, createGatewayLink, defaultOptions } from '@referral-gateway/client/apollo';
import { until } from '../../kit/until.ts';
import { recordRequests, runScript, startGateway } from '../kit.ts';

/* Apollo Client with the package's link and cache, against the built gateway. */

type Gateway = Awaited<ReturnType<typeof startGateway>>;
let gateway: Gateway;
let requests: ReturnType<typeof recordRequests>;
let token: string;
let app: typeof import('./operations.ts');

beforeAll(async () => {
  await runScript('apollo', 'codegen');
  app = await import('./operations.ts');
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

type Options = Parameters<typeof createGatewayLink>[0];
const clientOf = (link: ApolloLink) =>
  new ApolloClient({ cache: new InMemoryCache(cacheConfig), link, defaultOptions });
const connect = (options: Partial<Options> = {}) =>
  clientOf(createGatewayLink({ url: gateway.uri, token: () => token, ...options }));
const ME = { playerUniqueId: 'p1' };
const openApp = (more: object = {}) => ({ input: { ...ME, events: [{ name: 'open_app' }], ...more } });

test('the snippets have correct types', () => runScript('apollo', 'types'), 60_000);

test('a query has typed data', async () => {
  const { data, error } = await connect().query({ query: app.Screen, variables: ME });
  expect(error).toBeUndefined();
  expect(data?.player?.attributes?.joinDate).toBe('2024-02-03T04:05:06.007Z');
  expect(data?.player?.coupons?.map(({ code }) => code)).toContain('P1-1');
});

describe('tokens', () => {
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
});

describe('retries', () => {
  test('a query without data is sent again before anything is delivered', async () => {
    const fails = { status: 500 };
    gateway.upstream.on('GET /player', fails, fails, fails, 'usual');
    const { data, error } = await connect().query({ query: app.Screen, variables: ME });
    expect({ error, id: data?.player?.id }).toEqual({ error: undefined, id: 'p1' });
  });

  test('a query that is read once gets what there is at once', async () => {
    gateway.upstream.on('GET /coupon', { status: 500 });
    const { data, error } = await connect().query({ query: app.Screen, variables: ME });
    expect(data?.player).toMatchObject({ id: 'p1', coupons: null });
    expect(error).toMatchObject({ errors: [{ path: ['player', 'coupons'], extensions: { retryable: true } }] });
    expect(requests.sent).toHaveLength(1);
  });

  test('an event gets a key, is sent again when its response is lost, and is counted once', async () => {
    requests.lose(3);
    const { data, error } = await connect().mutate({ mutation: app.Track, variables: openApp() });
    expect(error).toBeUndefined();
    expect(data?.trackEvents).toMatchObject({ eventNames: ['open_app'], userErrors: [] });
    expect(requests.sent).toHaveLength(4);
    expect(gateway.events()).toBe(1);
  });

  test('a mutation without a key is sent once when the connection is lost', async () => {
    requests.lose(1);
    const { error } = await connect().mutate({ mutation: app.Rename, variables: { input: ME } });
    expect(error).toMatchObject({ code: 'NO_RESPONSE', outcome: 'UNKNOWN' });
    expect(requests.sent).toHaveLength(1);
  });
});

describe('while the coupons hang', () => {
  /** A screen that watches the query, and what it shows. */
  function open() {
    const client = connect();
    const screen = client.watchQuery({ query: app.Screen, variables: ME });
    const shown: ReturnType<typeof screen.getCurrentResult>[] = [];
    const waiting = new Set<() => void>();
    const subscription = screen.subscribe((result) => {
      shown.push(result);
      for (const check of waiting) check();
    });
    const shows = (fits: (result: (typeof shown)[number]) => boolean) =>
      new Promise<void>((resolve) => {
        const check = () => shown.some(fits) && resolve();
        waiting.add(check);
        check();
      });
    return { client, screen, shown, shows, close: () => subscription.unsubscribe() };
  }
  type Shown = ReturnType<typeof open>['shown'][number];
  const isPartial = ({ data, error }: Shown) =>
    data?.player?.id === 'p1' && !data.player.coupons && error !== undefined;
  const isWhole = ({ data, error }: Shown) => data?.player?.coupons?.length === 5 && error === undefined;

  test('the rest is shown before they are asked for again, and they appear by themselves', async () => {
    gateway.upstream.on('GET /coupon', { fault: 'hang' });
    const { shown, shows, close } = open();
    await shows(isPartial);
    // The data is there after one request for each part, of which one was never answered.
    expect(gateway.upstream.calls()).toHaveLength(2);
    const held = gateway.upstream.hold('GET /coupon');
    await held.arrived;
    expect(shown.some(isWhole)).toBe(false);
    gateway.upstream.on('GET /coupon', 'usual');
    held.release();
    await shows(isWhole);
    expect(requests.sent).toHaveLength(2);
    // No spinner came back in between.
    expect(shown.slice(shown.findIndex(isPartial)).filter(({ loading }) => loading)).toEqual([]);
    close();
  });

  test('two screens with the same query are asked for as one, also after "Try again"', async () => {
    gateway.upstream.on('GET /coupon', { fault: 'hang' });
    const { client, shows, screen, close } = open();
    await shows(isPartial);
    const other = client.watchQuery({ query: app.Screen, variables: ME }).subscribe(() => {});
    await screen.refetch();
    const before = requests.sent.length;
    const held = gateway.upstream.hold('GET /coupon');
    await held.arrived;
    gateway.upstream.on('GET /coupon', 'usual');
    held.release();
    await shows(isWhole);
    expect(requests.sent.length - before).toBe(1);
    other.unsubscribe();
    close();
  });

  test('the error of a part that is still missing stays when another one appears', async () => {
    gateway.upstream.on('GET /coupon', { status: 500 });
    gateway.upstream.on('GET /player', { status: 500 });
    const query = gql`query Two { me { coupons { code } referralLink(lang: "en") } }`;
    const screen = connect().watchQuery<{ me: { coupons: unknown; referralLink: unknown } | null }>({ query });
    const shown: ReturnType<typeof screen.getCurrentResult>[] = [];
    const subscription = screen.subscribe((result) => shown.push(result as (typeof shown)[number]));
    const shownAs = async (results: number) => {
      await until(() => shown.length === results);
      return shown.at(-1);
    };
    const errorsOf = (error: unknown) => gatewayErrors(error).map(({ path }) => path?.join('.'));
    const first = await shownAs(2);
    expect(errorsOf(first?.error)).toEqual(['me.coupons', 'me.referralLink']);
    gateway.upstream.on('GET /player', 'usual');
    const second = await shownAs(3);
    expect([second?.data?.me?.coupons, errorsOf(second?.error)]).toEqual([null, ['me.coupons']]);
    gateway.upstream.on('GET /coupon', 'usual');
    const third = await shownAs(4);
    expect([errorsOf(third?.error), shown.map(({ loading }) => loading)]).toEqual([[], [true, false, false, false]]);
    subscription.unsubscribe();
  });

  test('a screen that was closed is not asked for', async () => {
    gateway.upstream.on('GET /coupon', { fault: 'hang' });
    const closed = open();
    await closed.shows(isPartial);
    closed.close();
    const client = connect();
    const another = client.watchQuery({ query: app.Coupons, variables: ME });
    const subscription = another.subscribe(() => {});
    // When the open screen is asked for the second time, the time of the closed one is over.
    await gateway.upstream.received(2 + 3);
    expect(requests.sent.filter(({ query }) => query?.includes('query Screen'))).toHaveLength(1);
    subscription.unsubscribe();
  });
});

describe('a list that has grown', () => {
  /** A screen with coupons and friends of which two pages were read, and what waits for its state. */
  async function open() {
    const client = connect();
    const screen = client.watchQuery({ query: app.ScreenWithFriends, variables: ME });
    const checks = new Set<() => void>();
    const subscription = screen.subscribe(() => {
      for (const check of checks) check();
    });
    const player = () => screen.getCurrentResult().data?.player;
    const names = () => player()?.referredFriendsConnection?.nodes?.map((friend) => friend?.displayName);
    const shows = (fits: () => boolean) =>
      new Promise<void>((resolve) => {
        const check = () => fits() && resolve();
        checks.add(check);
        check();
      });
    await shows(() => names()?.length === 20);
    const fetchMore = () =>
      screen.fetchMore({
        query: app.FriendsScrolling,
        variables: { ...ME, after: player()?.referredFriendsConnection?.pageInfo?.endCursor ?? null },
      });
    await fetchMore();
    await shows(() => names()?.length === 40);
    return { client, screen, player, names, shows, fetchMore, close: () => subscription.unsubscribe() };
  }
  const friends = (count: number) => Array.from({ length: count }, (_, index) => `Friend ${index + 1}`);
  afterEach(() => void gateway.upstream.on('GET /referrals', 'usual'));

  test('has 40 friends after the coupons appeared by themselves, and goes on from there', async () => {
    gateway.upstream.on('GET /coupon', { status: 500 });
    const { player, names, shows, fetchMore, close } = await open();
    expect([player()?.coupons, names()]).toEqual([null, friends(40)]);
    gateway.upstream.on('GET /coupon', 'usual');
    await shows(() => player()?.coupons?.length === 10);
    expect(names()).toEqual(friends(40));
    await fetchMore();
    await shows(() => names()?.length === 60);
    expect(names()).toEqual(friends(60));
    expect(player()?.referredFriendsConnection?.pageInfo?.hasNextPage).toBe(false);
    close();
  });

  test('has 40 friends after the screen was read again', async () => {
    const { screen, names, close } = await open();
    await screen.refetch();
    expect(names()).toEqual(friends(40));
    close();
  });

  test('begins anew when its first page is another one', async () => {
    const { client, screen, names, shows, close } = await open();
    const { data } = await connect().query({ query: app.ScreenWithFriends, variables: ME });
    const list = data?.player?.referredFriendsConnection;
    if (!data?.player || !list?.nodes) throw new Error('There are no friends');
    const changed = { ...list, nodes: list.nodes.toReversed() };
    const player = { ...data.player, referredFriendsConnection: changed };
    client.writeQuery({ query: app.ScreenWithFriends, variables: ME, data: { ...data, player } });
    await shows(() => names()?.[0] === 'Friend 20');
    expect(names()).toEqual(friends(20).toReversed());
    await screen.refetch();
    await shows(() => names()?.[0] === 'Friend 1');
    expect(names()).toEqual(friends(20));
    close();
  });

  test('keeps its pages when the next one fails, with the error for the caller', async () => {
    const { names, fetchMore, close } = await open();
    gateway.upstream.on('GET /referrals', { status: 500 });
    await expect(fetchMore()).rejects.toMatchObject({ errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }] });
    expect(names()).toEqual(friends(40));
    close();
  });

  test('is null, not empty, when its first page fails', async () => {
    gateway.upstream.on('GET /referrals', { status: 500 });
    const { data } = await connect().query({ query: app.ScreenWithFriends, variables: ME });
    expect(data?.player?.referredFriendsConnection).toBeNull();
    const client = connect();
    await client.query({ query: app.ScreenWithFriends, variables: ME });
    expect(client.readQuery({ query: app.ScreenWithFriends, variables: ME })?.player).toMatchObject({
      referredFriendsConnection: null,
    });
  });

  test('a part that another query has brought is not asked for again', async () => {
    gateway.upstream.on('GET /coupon', { status: 500 });
    const { client, player, names, shows, close } = await open();
    gateway.upstream.on('GET /coupon', 'usual');
    await client.query({ query: app.Coupons, variables: ME, fetchPolicy: 'network-only' });
    await shows(() => player()?.coupons?.length === 10);
    const before = requests.sent.length;
    // Another screen is asked for the second time: the time of this one is over.
    gateway.upstream.on('GET /coupon', { status: 500 });
    const other = connect().watchQuery({ query: app.Screen, variables: ME });
    const subscription = other.subscribe(() => {});
    while (requests.sent.length < before + 3) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(requests.sent.filter(({ query }) => query?.includes('query ScreenWithFriends'))).toHaveLength(1);
    expect(names()).toEqual(friends(40));
    subscription.unsubscribe();
    close();
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
    expect(requests.sent).toHaveLength(3);
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
    const link = () =>
      new PersistedQueryLink({ sha256: (text) => createHash('sha256').update(text).digest('hex') }).concat(
        createGatewayLink({ url: gateway.uri, token: () => token }),
      );
    const [first, second] = [clientOf(link()), clientOf(link())];
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
    const options = { url: strict.uri, token: strictToken };

    const persisted = JSON.parse(readFileSync(ofApollo ?? '', 'utf8'));
    const trusting = connect({ ...options, persisted });
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
