import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { ApolloProvider, useQuery } from '@apollo/client/react';
import { afterEach, expect, jest, test } from '@jest/globals';
import { createClient, createFetch, gatewayErrors, TypedDocumentString } from '@referral-gateway/client';
import { cacheConfig, createGatewayLink, defaultOptions } from '@referral-gateway/client/apollo';
import { useHealing } from '@referral-gateway/client/react';
import { createElement } from 'react';
import { concat, ignoreElements } from 'rxjs';
import { startDemo } from '../../kit/demo.ts';
import { until } from '../../kit/until.ts';
import { afterPage, EXPIRED, friends, ME, runScript, startRecorded, tokenOf } from '../kit.ts';
import { expectNoPlayer, importScreen, render } from '../screen.ts';

/* Apollo Client with the package's link and cache. */

await runScript('apollo', 'codegen');
await runScript('apollo', 'manifest');
const app = await import('./operations.ts');
const [manifest = '', ofCodegen] = ['persisted-query-manifest', 'persisted-documents'].map((name) =>
  fileURLToPath(new URL(`generated/${name}.json`, import.meta.url)),
);
const { url, upstream, sent, lose, events } = await startRecorded({
  PERSISTED_OPERATIONS: 'log',
  PERSISTED_OPERATIONS_FILE: `${manifest},${ofCodegen}`,
});
const token = tokenOf();
const open = new Set<{ unsubscribe(): void }>();
afterEach(() => {
  for (const subscription of open) subscription.unsubscribe();
  open.clear();
});

const clientOf = (link: ApolloLink) =>
  new ApolloClient({ cache: new InMemoryCache(cacheConfig), link, defaultOptions });
const connect = (options: Partial<Parameters<typeof createGatewayLink>[0]> = {}) =>
  clientOf(createGatewayLink({ url, token, ...options }));
const sentAs = (name: string) => sent.filter(({ query }) => query?.includes(`query ${name}(`)).length;
const SCREEN = { query: app.Screen, variables: ME };
const WITH_FRIENDS = { query: app.ScreenWithFriends, variables: ME };
const FAILS = { status: 500 };

/** A screen that watches the query, and what it shows. */
function watch(client = connect()) {
  const screen = client.watchQuery(SCREEN);
  const shown: ReturnType<typeof screen.getCurrentResult>[] = [];
  const subscription = screen.subscribe((result) => shown.push(result));
  open.add(subscription);
  const shows = (fits: (result: (typeof shown)[number]) => boolean) => until(() => shown.some(fits));
  return { client, screen, shown, shows, subscription };
}
type Shown = ReturnType<typeof watch>['shown'][number];
const isPartial = ({ data, error }: Shown) => data?.player?.id === 'p1' && !data.player.coupons && error !== undefined;
const isWhole = ({ data, error }: Shown) => data?.player?.coupons?.length === 5 && error === undefined;

test('the snippets have correct types', () => runScript('apollo', 'types'));

test('a player that cannot be read has a button to try again; one that does not exist says so', async () => {
  const Screen = await importScreen('apollo');
  await expectNoPlayer(upstream, (playerUniqueId, token) => {
    const children = createElement(Screen, { playerUniqueId });
    return createElement(ApolloProvider, { client: connect({ token }), children });
  });
});

test('requests with an expired token are sent again with one new token', async () => {
  const fetched = [EXPIRED, token];
  const client = connect({ token: async () => fetched.shift() });
  const results = await Promise.all([client.query(SCREEN), client.query(WITH_FRIENDS)]);
  expect(results.map(({ error }) => error)).toEqual([undefined, undefined]);
  expect([fetched, sent.map(({ status }) => status)]).toEqual([[], [401, 401, 200, 200]]);
});

test('a query without data is sent again before anything is delivered; one that is read once gets what there is', async () => {
  upstream.on('GET /player', FAILS, FAILS, FAILS, 'usual');
  const { data, error } = await connect().query(SCREEN);
  expect([error, data?.player?.attributes?.joinDate]).toEqual([undefined, '2024-02-03T04:05:06.007Z']);
  sent.splice(0);
  upstream.on('GET /coupon', FAILS);
  expect(await connect().query(SCREEN)).toMatchObject({
    data: { player: { id: 'p1', coupons: null } },
    error: { errors: [{ path: ['player', 'coupons'], extensions: { retryable: true } }] },
  });
  expect(sent).toHaveLength(1);
});

test('an event gets a key, is sent again when its response is lost, and is counted once; an upsert is not', async () => {
  const client = connect();
  lose(3);
  const input = { ...ME, events: [{ name: 'open_app' }] };
  const { data, error } = await client.mutate({ mutation: app.Track, variables: { input } });
  expect([error, data?.trackEvents?.eventNames, sent.length, events()]).toEqual([undefined, ['open_app'], 4, 1]);
  lose(1);
  const renamed = await client.mutate({ mutation: app.Rename, variables: { input: ME } });
  expect(renamed.error).toMatchObject({ code: 'NO_RESPONSE', outcome: 'UNKNOWN' });
  expect(sent).toHaveLength(5);
});

test('an event that a link in front sends again keeps its key; what it could not read stays on the screen', async () => {
  const twice = new ApolloLink((event, forward) => concat(forward(event).pipe(ignoreElements()), forward(event)));
  const client = clientOf(twice.concat(createGatewayLink({ url, token })));
  const screen = client.watchQuery({ query: app.Coupons, variables: ME });
  open.add(screen.subscribe({}));
  await until(() => screen.getCurrentResult().data?.player?.coupons?.length === 10);
  upstream.on('GET /coupon', FAILS);
  const track = '($input: TrackEventsInput!) { trackEvents(input: $input) { player { id coupons { id code } } } }';
  const input = { ...ME, events: [{ name: 'open_app' }] };
  await client.mutate({ mutation: gql(`mutation ${track}`), variables: { input } });
  expect([events(), screen.getCurrentResult().data?.player?.coupons?.length]).toEqual([1, 10]);
});

test.each([404, 413, 502])(
  'a page with status %d is NO_RESPONSE: a query is repeated unless it is 4xx, an upsert is not',
  async (status) => {
    const message = expect.stringContaining(`${url} responded with the status ${status}, but not as a gateway: `);
    const known = { code: 'NO_RESPONSE', message };
    const [read, renamed] = await Promise.all([
      connect({ fetch: afterPage(status) }).query(SCREEN),
      connect({ fetch: afterPage(status) }).mutate({ mutation: app.Rename, variables: { input: ME } }),
    ]);
    expect(renamed.error).toMatchObject({ ...known, outcome: 'UNKNOWN' });
    expect(read).toMatchObject(status < 500 ? { error: known } : { data: { player: { id: 'p1' } } });
    expect(sent).toHaveLength(status < 500 ? 0 : 1);
  },
);

test('while the coupons hang, the rest is shown; they are asked for again, once for two screens, and appear', async () => {
  upstream.on('GET /coupon', { fault: 'hang' });
  const { client, screen, shown, shows } = watch();
  await shows(isPartial);
  // The data is there after one request for each part, of which one was never answered.
  expect(upstream.calls()).toHaveLength(2);
  watch(client);
  await screen.refetch();
  const [requests, results] = [sent.length, shown.length];
  const held = upstream.hold('GET /coupon');
  await held.arrived;
  expect(shown.some(isWhole)).toBe(false);
  upstream.on('GET /coupon', 'usual');
  held.release();
  await shows(isWhole);
  expect(sent.length - requests).toBe(1);
  // No spinner came back.
  expect(shown.slice(results).filter(({ loading }) => loading)).toEqual([]);
});

function Coupons() {
  const { data, error, refetch } = useQuery(app.Screen, { variables: ME });
  useHealing(error, refetch);
  return createElement('p', null, `coupons ${data?.player?.coupons?.length ?? 'missing'}`);
}

const ofClient = (client: ApolloClient, children: ReturnType<typeof createElement>) =>
  createElement(ApolloProvider, { client, children });

test('Apollo’s own HttpLink with `createFetch` and `useHealing`: a missing part appears by itself', async () => {
  upstream.on('GET /coupon', FAILS);
  const client = clientOf(new HttpLink({ uri: url, fetch: createFetch({ token }) }));
  const screen = await render(ofClient(client, createElement(Coupons)));
  await screen.see('coupons missing');
  await screen.shows(() => sentAs('Screen') >= 2, 'asks again');
  upstream.on('GET /coupon', 'usual');
  await screen.see('coupons 5');
});

test('a screen that was closed, and one whose part another query has brought, are not asked for again', async () => {
  upstream.on('GET /coupon', FAILS);
  const { shows, subscription } = watch();
  await shows(isPartial);
  subscription.unsubscribe();
  const { client, player } = await watchFriends();
  upstream.on('GET /coupon', 'usual');
  await client.query({ query: app.Coupons, variables: ME, fetchPolicy: 'network-only' });
  await until(() => player()?.coupons?.length === 10);
  // When another screen is asked for the second time, the time of these is over.
  upstream.on('GET /coupon', FAILS);
  open.add(connect().watchQuery({ query: app.Coupons, variables: ME }).subscribe({}));
  await until(() => sentAs('Coupons') === 1 + 3);
  expect([sentAs('Screen'), sentAs('ScreenWithFriends')]).toEqual([1, 1]);
});

test('a part that was missing when its screen was closed is asked for when the screen is opened again', async () => {
  upstream.on('GET /coupon', FAILS);
  const { client, shows, subscription } = watch();
  await shows(isPartial);
  subscription.unsubscribe();
  // When another screen is asked for the second time, the time of this one is over.
  open.add(connect().watchQuery({ query: app.Coupons, variables: ME }).subscribe({}));
  await until(() => sentAs('Coupons') === 3);
  upstream.on('GET /coupon', 'usual');
  const again = watch(client);
  await again.shows(isWhole);
});

test('the error of a part that the cache still has goes away when the part can be read again', async () => {
  const { screen, shows, shown } = watch();
  await shows(isWhole);
  upstream.on('GET /coupon', FAILS);
  await screen.refetch();
  await shows(({ data, error }) => data?.player?.coupons?.length === 5 && error !== undefined);
  upstream.on('GET /coupon', 'usual');
  await until(() => shown.at(-1)?.error === undefined);
  expect(shown.at(-1)?.data?.player?.coupons).toHaveLength(5);
});

test('a missing part is still asked for after a read that brought nothing', async () => {
  upstream.on('GET /coupon', FAILS);
  const { screen, shows } = watch();
  await shows(isPartial);
  upstream.on('GET /player', FAILS);
  await screen.refetch();
  upstream.on('GET /player', 'usual');
  upstream.on('GET /coupon', 'usual');
  await shows(isWhole);
});

test('the error of a part that is still missing stays when another one appears', async () => {
  upstream.on('GET /coupon', FAILS);
  upstream.on('GET /player', FAILS);
  const query = gql`query Two { me { coupons { code } referralLink(lang: "en") } }`;
  const shown: unknown[] = [];
  const showing = connect().watchQuery<{ me: { coupons: unknown } }>({ query });
  open.add(
    showing.subscribe(({ data, error }) => {
      shown.push([Boolean(data?.me?.coupons), ...gatewayErrors(error).map(({ path }) => path?.join('.'))]);
    }),
  );
  await until(() => shown.length === 2);
  upstream.on('GET /player', 'usual');
  await until(() => shown.length === 3);
  upstream.on('GET /coupon', 'usual');
  await until(() => shown.length === 4);
  expect(shown).toEqual([[false], [false, 'me.coupons', 'me.referralLink'], [false, 'me.coupons'], [true]]);
});

test('a response for screens that did not take it is not given to a later read', async () => {
  const pending: ((response: Response) => void)[] = [];
  const fetch = () => new Promise<Response>((resolve) => pending.push(resolve));
  const answer = (referralLink: string | null, ...missing: string[]) => {
    const errors = missing.map((name) => ({ message: '', path: ['me', name], extensions: { retryable: true } }));
    const me = { __typename: 'Player', id: 'p1', coupons: null, referralLink };
    pending.shift()?.(Response.json({ data: { me }, errors }));
  };
  const screen = connect({ fetch }).watchQuery({ query: gql`{ me { id coupons { code } referralLink } }` });
  open.add(screen.subscribe({}));
  answer(null, 'coupons', 'referralLink');
  await until(() => pending.length === 1);
  // It waits for this one when the other one comes.
  const read = screen.refetch();
  answer('first', 'coupons');
  await new Promise((resolve) => setTimeout(resolve, 100));
  answer('second');
  await read;
  screen.refetch();
  await until(() => pending.length === 1);
});

test('a player that was deleted is gone from open screens, and one that does not exist is null without a warning', async () => {
  const warnings = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  const client = connect();
  const screen = client.watchQuery({ query: app.Coupons, variables: { playerUniqueId: 'p9' } });
  open.add(screen.subscribe({}));
  await until(() => screen.getCurrentResult().data?.player?.coupons?.length === 10);
  const remove = gql`mutation Remove($input: DeletePlayerInput!) { deletePlayer(input: $input) { deletedPlayerUniqueId } }`;
  await client.mutate({ mutation: remove, variables: { input: { playerUniqueId: 'p9' } } });
  await screen.refetch();
  expect(screen.getCurrentResult()).toMatchObject({ data: { player: null }, loading: false });
  expect(warnings.mock.calls).toEqual([]);
  warnings.mockRestore();
});

/** A screen with coupons and friends, of which two pages were read. */
async function watchFriends() {
  const client = connect();
  const screen = client.watchQuery(WITH_FRIENDS);
  open.add(screen.subscribe({}));
  const player = () => screen.getCurrentResult().data?.player;
  const list = () => player()?.referredFriendsConnection;
  const names = () => list()?.nodes?.map((friend) => friend?.displayName);
  const fetchMore = () =>
    screen.fetchMore({ query: app.FriendsScrolling, variables: { ...ME, after: list()?.pageInfo?.endCursor ?? null } });
  await until(() => names()?.length === 20);
  await fetchMore();
  await until(() => names()?.length === 40);
  return { client, screen, player, list, names, fetchMore };
}

test('a list that has grown stays when the coupons appear by themselves and the screen is read again, and goes on', async () => {
  upstream.on('GET /coupon', FAILS);
  const { screen, player, list, names, fetchMore } = await watchFriends();
  expect([player()?.coupons, names()]).toEqual([null, friends(40)]);
  upstream.on('GET /coupon', 'usual');
  await until(() => player()?.coupons?.length === 10);
  expect(names()).toEqual(friends(40));
  await screen.refetch();
  expect(names()).toEqual(friends(40));
  await fetchMore();
  await until(() => names()?.length === 60);
  expect([names(), list()?.pageInfo?.hasNextPage]).toEqual([friends(60), false]);
});

test('a list begins anew when its first page is another one', async () => {
  const { client, screen, names } = await watchFriends();
  const data = structuredClone(client.readQuery(WITH_FRIENDS));
  data?.player?.referredFriendsConnection?.nodes?.reverse();
  client.writeQuery({ ...WITH_FRIENDS, data });
  await until(() => names()?.[0] === 'Friend 40');
  await screen.refetch();
  await until(() => names()?.[0] === 'Friend 1');
  expect(names()).toEqual(friends(20));
});

test('a list keeps its pages when the next one fails, with the error for the caller; it is null when the first fails', async () => {
  const { names, fetchMore } = await watchFriends();
  upstream.on('GET /referrals', FAILS);
  await expect(fetchMore()).rejects.toMatchObject({ errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }] });
  expect(names()).toEqual(friends(40));
  const client = connect();
  await client.query(WITH_FRIENDS);
  expect(client.readQuery(WITH_FRIENDS)?.player).toMatchObject({ referredFriendsConnection: null });
});

test('pages with numbers, and the languages of a field, are kept apart', async () => {
  const client = connect();
  const read = async (lang: string, page: number) => {
    const { data } = await client.query({ query: app.Page, variables: { ...ME, lang, page } });
    return [data?.player?.referralLink?.slice(-2), data?.player?.referredFriends?.nodes[0]?.displayName];
  };
  const [first, second] = [await read('fr', 1), await read('de', 2)];
  expect([first, second, await read('fr', 1)]).toEqual([['fr', 'Friend 1'], ['de', 'Friend 21'], first]);
  expect(sent).toHaveLength(2);
});

test('automatic persisted queries are sent as a hash once the gateway has them', async () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const ask = () =>
    clientOf(new PersistedQueryLink({ sha256 }).concat(createGatewayLink({ url, token }))).query({
      query: gql`query Other { me { id } }`,
    });
  await ask();
  sent.splice(0);
  expect((await ask()).data).toMatchObject({ me: { id: 'p1' } });
  expect(sent.map(({ query }) => query)).toEqual([undefined]);
});

test('trusted documents are sent by their ids alone, with a manifest of Apollo or of the code generator', async () => {
  const trusting = connect({ persisted: JSON.parse(readFileSync(manifest, 'utf8')) });
  expect((await trusting.query(SCREEN)).data?.player?.id).toBe('p1');
  // As `documentMode: 'string'` of the code generator writes it.
  const document = new TypedDocumentString('', { hash: Reflect.get(app.Coupons, '__meta__')?.hash });
  const { data } = await createClient({ url, token, persisted: true }).request(document, ME);
  expect(data).toMatchObject({ player: { id: 'p1' } });
  expect(sent.map(({ query, status }) => [query, status])).toEqual(Array(2).fill([undefined, 200]));
  const message = expect.stringContaining('does not list the operation "Other"');
  expect((await trusting.query({ query: gql`query Other { me { id } }` })).error).toMatchObject({ message });
});

const FOLDER = new URL('../../../schema/operations/', import.meta.url);
const examples = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.graphql'))
  .map((name) => gql(readFileSync(new URL(name, FOLDER), 'utf8')))
  .filter(({ definitions: [first] }) => first?.kind === 'OperationDefinition' && first.operation === 'query');

test.each([true, false])(
  'the example queries in one cache need at most two requests more than there are queries, all at once: %s',
  async (atOnce) => {
    const demo = await startDemo();
    let underWay = 0;
    const counted: typeof fetch = (...request) => {
      underWay += 1;
      return fetch(...request).finally(() => {
        underWay -= 1;
      });
    };
    const client = connect({ url: `${demo.url}/graphql`, fetch: counted });
    const watched = examples.map((query) => client.watchQuery({ query }));
    /** Resolves when no watched query waits for the gateway. */
    const settled = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      await until(
        () => underWay === 0 && !watched.some((query) => query.hasObservers() && query.getCurrentResult().loading),
      );
    };
    for (const query of watched) {
      open.add(query.subscribe({}));
      if (!atOnce) await settled();
    }
    await settled();
    expect(examples.length).toBeGreaterThanOrEqual(8);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.length).toBeLessThanOrEqual(examples.length + 2);
    for (const query of watched)
      expect(query.getCurrentResult()).toMatchObject({ dataState: 'complete', networkStatus: 7 });
    // Everything is in the cache now.
    sent.splice(0);
    for (const query of examples) await client.query({ query });
    expect(sent).toEqual([]);
  },
);
