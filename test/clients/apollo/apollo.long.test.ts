import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ApolloClient, ApolloLink, type DocumentNode, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { ApolloProvider, useQuery } from '@apollo/client/react';
import { afterEach, expect, jest, test } from '@jest/globals';
import {
  createClient,
  createFetch,
  createIdempotencyKey,
  gatewayErrors,
  heal,
  TypedDocumentString,
} from '@referral-gateway/client';
import { cacheConfig, createGatewayLink, defaultOptions, type TypedDocument } from '@referral-gateway/client/apollo';
import { useHealing } from '@referral-gateway/client/react';
import { createElement, useRef, useState } from 'react';
import { concat, ignoreElements } from 'rxjs';
import { startDemo } from '../../kit/demo.ts';
import { until } from '../../kit/until.ts';
import { afterPage, EXPIRED, friends, ME, runScript, startRecorded, tokenOf } from '../kit.ts';
import { expectNoPlayer, importScreen, render } from '../screen.ts';

/* Apollo Client with its own `HttpLink`, whose `fetch` and cache are the package's. */

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
  const closed = new AbortController();
  open.add({ unsubscribe: () => closed.abort() });
  const healing = () =>
    heal({ errors: screen.getCurrentResult().error, again: () => screen.refetch(), signal: closed.signal });
  return { client, screen, shown, shows, subscription, healing };
}
type Shown = ReturnType<typeof watch>['shown'][number];
const isPartial = ({ data, error }: Shown) => data?.player?.id === 'p1' && !data.player.coupons && error !== undefined;
const isWhole = ({ data, error }: Shown) => data?.player?.coupons?.length === 5 && error === undefined;

test('the snippets have correct types', () => runScript('apollo', 'types'));

// The test above compiles it.
test.each([undefined, { query: { errorPolicy: 'none' } }, { watchQuery: { errorPolicy: 'ignore' } }] as const)(
  'another client of the application has options of its own: %j',
  async (defaultOptions) => {
    const options = { cache: new InMemoryCache(), link: ApolloLink.empty(), ...(defaultOptions && { defaultOptions }) };
    expect(new ApolloClient(options).defaultOptions).toEqual(defaultOptions ?? {});
  },
);

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

test('an event with a key that a link in front sends again is counted once; what it could not read stays on the screen', async () => {
  const twice = new ApolloLink((event, forward) => concat(forward(event).pipe(ignoreElements()), forward(event)));
  const client = clientOf(twice.concat(createGatewayLink({ url, token })));
  const screen = client.watchQuery({ query: app.Coupons, variables: ME });
  open.add(screen.subscribe({}));
  await until(() => screen.getCurrentResult().data?.player?.coupons?.length === 10);
  upstream.on('GET /coupon', FAILS);
  const track = '($input: TrackEventsInput!) { trackEvents(input: $input) { player { id coupons { id code } } } }';
  const input = { ...ME, idempotencyKey: createIdempotencyKey(), events: [{ name: 'open_app' }] };
  await client.mutate({ mutation: gql(`mutation ${track}`), variables: { input } });
  expect([events(), screen.getCurrentResult().data?.player?.coupons?.length]).toEqual([1, 10]);
});

test.each([404, 413, 502])(
  'a page with status %d is NO_RESPONSE: a query is repeated unless it is 4xx, an upsert is not',
  async (status) => {
    const message = expect.stringContaining(`${url} responded with ${status}, but not as a gateway: `);
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

test('while the coupons hang, the rest is shown; with `heal` they are asked for again, and appear without a spinner', async () => {
  upstream.on('GET /coupon', { fault: 'hang' });
  const { shown, shows, healing } = watch();
  await shows(isPartial);
  // The data is there after one request for each part, of which one was never answered.
  expect(upstream.calls()).toHaveLength(2);
  const results = shown.length;
  const held = upstream.hold('GET /coupon');
  const healed = healing();
  await held.arrived;
  expect(shown.some(isWhole)).toBe(false);
  upstream.on('GET /coupon', 'usual');
  held.release();
  expect(await healed).toEqual([]);
  expect(shown.some(isWhole)).toBe(true);
  expect(sentAs('Screen')).toBe(2);
  expect(shown.slice(results).filter(({ data }) => !data?.player)).toEqual([]);
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

/** A gateway on a fake clock, until `useRealTimers`: it responds after half a second, without coupons. */
function startSlow() {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
  const extensions = { code: 'UPSTREAM_TIMEOUT', retryable: true };
  const errors = [{ message: 'Not now.', path: ['player', 'coupons'], extensions }];
  const players: string[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const { playerUniqueId: id } = JSON.parse(String(init?.body)).variables;
    players.push(id);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const data = { player: { __typename: 'Player', id, referralLink: null, attributes: null, coupons: null } };
    return Response.json({ data, errors });
  };
  const pass = async (screen: Awaited<ReturnType<typeof render>>, seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      jest.advanceTimersByTime(1_000);
      let turns = 0;
      await screen.shows(() => ++turns > 3);
    }
  };
  return { client: clientOf(createGatewayLink({ url, fetch })), players, pass };
}

test('Apollo’s own HttpLink with `cache-and-network`: a screen that was left without a part asks for it when it is opened again', async () => {
  upstream.on('GET /coupon', FAILS);
  const client = clientOf(new HttpLink({ uri: url, fetch: createFetch({ token }) }));
  const screen = client.watchQuery({ ...SCREEN, fetchPolicy: 'cache-and-network' });
  const first = screen.subscribe({});
  await until(() => screen.getCurrentResult().error !== undefined);
  first.unsubscribe();
  upstream.on('GET /coupon', 'usual');
  open.add(screen.subscribe({}));
  await until(() => screen.getCurrentResult().data?.player?.coupons?.length === 5);
});

test('the pauses of `useHealing` grow, though Apollo has no error while it reads again', async () => {
  const { client, players, pass } = startSlow();
  const screen = await render(ofClient(client, createElement(Coupons)));
  await screen.see('coupons missing');
  await pass(screen, 120);
  jest.useRealTimers();
  // After 2, 4, 8, 16 and 32 s, each with up to a half more.
  expect(players).toHaveLength(6);
});

function Failing({ notifyOnNetworkStatusChange }: { notifyOnNetworkStatusChange: boolean }) {
  const options = { variables: ME, notifyOnNetworkStatusChange };
  const { data, error, loading, refetch } = useQuery(app.Screen, options);
  useHealing(error, refetch);
  const shown = useRef<string[]>([]);
  shown.current.push(data?.player ? 'player' : loading ? 'loading' : 'error');
  return createElement('p', null, shown.current.filter((one, n, all) => one !== all[n - 1]).join());
}

test.each([
  [true, 'loading,error,loading,error,loading,player'],
  [false, 'loading,error,player'],
])(
  'without data, with notifyOnNetworkStatusChange: %p, healing shows %s',
  async (notifyOnNetworkStatusChange, shown) => {
    upstream.on('GET /player', FAILS);
    const client = clientOf(createGatewayLink({ url, token, attempts: 1 }));
    const screen = await render(ofClient(client, createElement(Failing, { notifyOnNetworkStatusChange })));
    await screen.shows(() => sentAs('Screen') >= 2, 'asks again');
    upstream.on('GET /player', 'usual');
    await screen.see(shown);
  },
);

function OneOfTwo() {
  const [playerUniqueId, setPlayer] = useState('p1');
  const { data, error, refetch } = useQuery(app.Screen, { variables: { playerUniqueId } });
  useHealing(error, refetch);
  const onClick = () => setPlayer('p2');
  return createElement('button', { type: 'button', onClick }, `${data?.player?.id} of ${playerUniqueId}`);
}

test('the pauses of `useHealing` begin anew for another player', async () => {
  const { client, players, pass } = startSlow();
  const screen = await render(ofClient(client, createElement(OneOfTwo)));
  // The next pause would be of 16 s.
  for (let second = 0; second < 60 && players.length < 4; second += 1) await pass(screen, 1);
  await pass(screen, 2);
  await screen.press();
  await pass(screen, 8);
  jest.useRealTimers();
  expect(players.slice(0, 6)).toEqual([...Array(4).fill('p1'), 'p2', 'p2']);
});

test('a part that was missing is asked for when the screen is opened again, also with a cache that was saved and restored', async () => {
  upstream.on('GET /coupon', FAILS);
  const { client, shows, subscription } = watch();
  await shows(isPartial);
  const saved = JSON.parse(JSON.stringify(client.cache.extract()));
  subscription.unsubscribe();
  upstream.on('GET /coupon', 'usual');
  const restored = connect();
  restored.cache.restore(saved);
  await watch(restored).shows(isWhole);
  await watch(client).shows(isWhole);
  expect(sentAs('Screen')).toBe(3);
});

const USABLE = 'coupons(filter: { usableNow: true }) { id code }';
const couponsIn = ({ data }: { data?: unknown }) => Reflect.get(Object(data), 'player')?.coupons;

test('a forbidden part is requested again by a screen that selects its field, not by one whose field names contain its name', async () => {
  const error = { message: 'No', path: ['me'], extensions: { code: 'FORBIDDEN', retryable: false } };
  const asked: string[] = [];
  const client = connect({
    token: undefined,
    fetch: async (_, init) => {
      const { operationName } = JSON.parse(String(init?.body));
      asked.push(operationName);
      const player = { __typename: 'Player', id: 'p2', referralLink: null };
      return Response.json(operationName === 'Me' ? { data: { me: null }, errors: [error] } : { data: { player } });
    },
  });
  const me = client.watchQuery<unknown>({ query: gql`query Me { me { id } }` });
  open.add(me.subscribe({}));
  await until(() => me.getCurrentResult().error !== undefined);
  const other = client.watchQuery<unknown>({
    query: gql`query Other { player(playerUniqueId: "p2") { id referralLink } }`,
  });
  open.add(other.subscribe({}));
  await until(() => other.getCurrentResult().data !== undefined);
  expect(Reflect.get(Object(client.cache.extract()), 'ROOT_QUERY').me).toBeNull();
  expect(asked).toEqual(['Me', 'Other']);
});

test.each([
  ['the same query', SCREEN],
  ['another query', { query: gql`query Other { player(playerUniqueId: "p1") { id ${USABLE} } }` }],
])(
  'a screen with %s that begins before the one with a missing part is closed asks for the part',
  async (_, options) => {
    upstream.on('GET /coupon', FAILS);
    const { client, shows, subscription } = watch();
    await shows(isPartial);
    upstream.on('GET /coupon', 'usual');
    const next = client.watchQuery<unknown>({ ...options, query: options.query as DocumentNode });
    open.add(next.subscribe({}));
    subscription.unsubscribe();
    await until(() => couponsIn(next.getCurrentResult())?.length === 5);
  },
);

test('when the variables of a screen are those of before again, it asks for the part that was missing', async () => {
  upstream.on('GET /coupon', FAILS);
  const { screen, shows } = watch();
  await shows(isPartial);
  upstream.on('GET /coupon', 'usual');
  for (const playerUniqueId of ['p8', 'p1']) await screen.setVariables({ playerUniqueId });
  const player = screen.getCurrentResult().data?.player;
  expect([player?.id, player?.coupons?.length]).toEqual(['p1', 5]);
});

test.each([
  ['a part', ['player', 'coupons'], { __typename: 'Player', id: 'p1', coupons: null }],
  ['a player', ['player'], null],
])('each screen gets the error of %s that may never be read', async (_, path, player) => {
  const errors = [{ message: 'No.', path, extensions: { code: 'FORBIDDEN', retryable: false } }];
  const client = connect({ fetch: async () => Response.json({ data: { player }, errors }), token: undefined });
  for (let time = 0; time < 2; time += 1) {
    const screen = client.watchQuery({ query: app.Coupons, variables: ME });
    const subscription = screen.subscribe({});
    await until(() => !screen.getCurrentResult().loading);
    expect(gatewayErrors(screen.getCurrentResult().error)).toMatchObject([{ code: 'FORBIDDEN' }]);
    subscription.unsubscribe();
  }
});

test('a part that could not be read after an event is asked for by the next query', async () => {
  const client = connect();
  upstream.on('GET /coupon', FAILS);
  const mutation = gql`mutation Track($input: TrackEventsInput!) { trackEvents(input: $input) { player { id ${USABLE} } } }`;
  const input = { ...ME, events: [{ name: 'open_app' }] };
  const { error } = await client.mutate({ mutation, variables: { input } });
  expect(gatewayErrors(error)).toMatchObject([{ outcome: 'DONE' }]);
  upstream.on('GET /coupon', 'usual');
  const query = gql`query { player(playerUniqueId: "p1") { id ${USABLE} } }`;
  expect(couponsIn(await client.query({ query }))).toHaveLength(5);
});

test('a part that is missing leaves the other nulls of its object in the cache, also when it has an alias', async () => {
  const player = { __typename: 'Player', id: 'p1', referralLink: null, all: null };
  const errors = [{ message: 'Not now.', path: ['player', 'all'], extensions: { retryable: true } }];
  const client = connect({ fetch: async () => Response.json({ data: { player }, errors }), token: undefined });
  const queryOf = (fields: string) => ({ query: gql`query { player(playerUniqueId: "p1") { id ${fields} } }` });
  await client.query(queryOf('referralLink all: coupons { id }'));
  await until(() => client.readQuery(queryOf('coupons { id }')) === null);
  expect(client.readQuery(queryOf('referralLink'))).toMatchObject({ player: { referralLink: null } });
});

test('`errors: null`, as some servers and mocks write it, is no error', async () => {
  const data = { me: { __typename: 'Player', id: 'p1' } };
  const client = connect({ fetch: async () => Response.json({ data, errors: null }), token: undefined });
  expect(await client.query({ query: gql`query { me { id } }` })).toEqual({ data });
});

test('a cache that was saved with a null, as by Apollo’s link alone, is asked again for what is missing', async () => {
  const server = clientOf(new HttpLink({ uri: url, fetch: createFetch({ token }) }));
  upstream.on('GET /coupon', FAILS);
  expect((await server.query(SCREEN)).data?.player?.coupons).toBeNull();
  upstream.on('GET /coupon', 'usual');
  const client = connect();
  client.cache.restore(JSON.parse(JSON.stringify(server.cache.extract())));
  await watch(client).shows(isWhole);
});

test('after the store was cleared, no request of the package writes into it', async () => {
  upstream.on('GET /coupon', FAILS);
  const { client, shows, subscription, healing } = watch();
  await shows(isPartial);
  const held = upstream.hold('GET /coupon');
  const healed = healing();
  await held.arrived;
  for (const one of open) one.unsubscribe();
  subscription.unsubscribe();
  await client.clearStore();
  upstream.on('GET /coupon', 'usual');
  held.release();
  await healed;
  expect(client.cache.extract()).toEqual({});
});

test('the error of a part that the cache still has is shown beside it, and goes away with `heal`', async () => {
  const { screen, shows, shown, healing } = watch();
  await shows(isWhole);
  upstream.on('GET /coupon', FAILS);
  await screen.refetch();
  await shows(({ data, error }) => data?.player?.coupons?.length === 5 && error !== undefined);
  upstream.on('GET /coupon', 'usual');
  expect(await healing()).toEqual([]);
  expect([shown.at(-1)?.error, shown.at(-1)?.data?.player?.coupons?.length]).toEqual([undefined, 5]);
});

test('what is shown stays when the whole player cannot be read; a player that was deleted elsewhere disappears', async () => {
  const client = connect();
  const variables = { playerUniqueId: 'p8' };
  const screen = client.watchQuery({ ...SCREEN, variables });
  open.add(screen.subscribe({}));
  await until(() => screen.getCurrentResult().data?.player?.coupons?.length === 5);
  upstream.on('GET /player', FAILS);
  upstream.on('GET /coupon', FAILS);
  const { data, error } = await screen.refetch();
  expect([data?.player?.coupons?.length, gatewayErrors(error)[0]?.retryable]).toEqual([5, true]);
  // Nothing was shown in another client: then there is nothing that Apollo would warn of.
  const warnings = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  const first = await connect({ token, attempts: 1 }).query({ ...SCREEN, variables });
  expect([first.data, gatewayErrors(first.error)[0]?.retryable]).toEqual([null, true]);
  expect(warnings.mock.calls).toEqual([]);
  warnings.mockRestore();
  upstream.on('GET /player', 'usual');
  upstream.on('GET /coupon', 'usual');
  const remove = 'mutation { deletePlayer(input: { playerUniqueId: "p8" }) { deletedPlayerUniqueId } }';
  await createClient({ url, token }).request(remove);
  await screen.refetch();
  expect(screen.getCurrentResult().data).toEqual({ player: null });
  expect((await client.query({ ...SCREEN, variables })).data).toEqual({ player: null });
});

test('of two players, the one that cannot be read is null, as in the types, and stays when the cache has it', async () => {
  const pair = {
    query: gql`query Pair { one: player(playerUniqueId: "p1") { id } other: player(playerUniqueId: "p2") { id } }`,
  };
  const error = { message: 'Busy', path: ['other'], extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true } };
  const data = { one: { __typename: 'Player', id: 'p1' }, other: null };
  const fetch = async () => Response.json({ data, errors: [error] });
  expect((await connect({ fetch }).query(pair)).data).toEqual(data);
  const client = connect({ fetch });
  const other = { __typename: 'Player', id: 'p2' };
  client.writeQuery({ query: gql`{ player(playerUniqueId: "p2") { id } }`, data: { player: other } });
  const screen = client.watchQuery(pair);
  open.add(screen.subscribe({}));
  await until(() => !screen.getCurrentResult().loading);
  expect(screen.getCurrentResult().data).toEqual({ ...data, other });
  expect(gatewayErrors(screen.getCurrentResult().error)).toHaveLength(1);
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

test('players that are read by their ids keep their places when one of them is deleted', async () => {
  const client = connect();
  const query = gql`query Team($ids: [ID!]!) { players(playerUniqueIds: $ids) { id } }`;
  const variables = { ids: ['p21', 'p22', 'p23'] };
  const team = client.watchQuery<{ players: ({ id: string } | null)[] }>({ query, variables });
  open.add(team.subscribe({}));
  const ids = () => team.getCurrentResult().data?.players?.map((one) => one?.id);
  await until(() => ids()?.length === 3);
  const remove = gql`mutation { deletePlayer(input: { playerUniqueId: "p22" }) { deletedPlayerUniqueId } }`;
  await client.mutate({ mutation: remove });
  expect(ids()).toEqual(['p21', undefined, 'p23']);
});

test.each([
  ['upsert', 'p31', app.Rename, { attributes: { firstName: 'Grace' } }],
  ['event', 'p32', app.Track, { events: [{ name: 'open_app' }] }],
])('a screen that shows no player shows the one that an %s creates', async (_, id, mutation, more) => {
  upstream.on('GET /player', { status: 404, json: { code: 101, message: 'Not found' } });
  const client = connect();
  const screen = client.watchQuery({ ...SCREEN, variables: { playerUniqueId: id } });
  open.add(screen.subscribe({}));
  await until(() => screen.getCurrentResult().data?.player === null);
  upstream.on('GET /player', 'usual');
  const variables = { input: { playerUniqueId: id, ...more } };
  await client.mutate<unknown, Record<string, unknown>>({ mutation, variables });
  await until(() => screen.getCurrentResult().data?.player?.id === id);
});

test('a write that is refused, or of another player, asks for no player again', async () => {
  upstream.on('GET /player', { status: 404, json: { code: 101, message: 'Not found' } });
  const client = connect({ token: tokenOf({ scope: 'players:read events:write:open_app any-player' }) });
  const query = gql`query Known { player(playerUniqueId: "p61") { id attributes { firstName } } }`;
  const screen = client.watchQuery<unknown>({ query });
  open.add(screen.subscribe({}));
  await until(() => screen.getCurrentResult().data !== undefined);
  sent.splice(0);
  const mutation = gql`mutation Track($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames } }`;
  const write = (playerUniqueId: string, name: string) =>
    client.mutate({ mutation, variables: { input: { playerUniqueId, events: [{ name }] } } });
  expect((await write('p62', 'open_app')).error).toBeUndefined();
  expect(gatewayErrors((await write('p61', 'buy')).error)).toMatchObject([{ code: 'FORBIDDEN' }]);
  expect(screen.getCurrentResult()).toMatchObject({ loading: false, data: { player: null } });
  expect(sent).toHaveLength(2);
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

test('a list that has grown stays when the coupons appear and the screen is read again, and goes on', async () => {
  upstream.on('GET /coupon', FAILS);
  const { screen, player, list, names, fetchMore } = await watchFriends();
  expect([player()?.coupons, names()]).toEqual([null, friends(40)]);
  upstream.on('GET /coupon', 'usual');
  await screen.refetch();
  expect(player()?.coupons).toHaveLength(10);
  expect(names()).toEqual(friends(40));
  await screen.refetch();
  expect(names()).toEqual(friends(40));
  await fetchMore();
  await until(() => names()?.length === 60);
  expect([names(), list()?.pageInfo?.hasNextPage]).toEqual([friends(60), false]);
});

/** The friends of a player, read by a document that selects what it is given. */
const friendsOf = (selection: string, first = '') =>
  gql`query { player(playerUniqueId: "p1") { id referredFriendsConnection${first} { ${selection} } } }`;
const NODES = 'nodes { id displayName }';
const lengthOf = ({ data }: { data?: unknown }) =>
  Reflect.get(Object(data), 'player').referredFriendsConnection.nodes.length;

test('totals alone make no empty list, and a short list is not the whole one', async () => {
  const client = connect();
  await client.query({ query: friendsOf('totalCount') });
  expect(lengthOf(await client.query({ query: friendsOf(NODES, '(first: 3)') }))).toBe(3);
  // In the cache, beside a list that is too short.
  await client.query({ query: friendsOf('totalCount') });
  expect(lengthOf(await client.query({ query: friendsOf(NODES, '(first: 50)') }))).toBe(50);
  expect(sent).toHaveLength(3);
  // These are in the cache now.
  for (const first of ['', '(first: 20)', '(first: 50)']) await client.query({ query: friendsOf(NODES, first) });
  expect(sent).toHaveLength(3);
});

type List = { edges: { cursor: string; node: { id: string } }[]; pageInfo: { hasNextPage: boolean } };
const PAGE: TypedDocument<{ player: { referredFriendsConnection: List } }, { after: string | null }> = gql`
  query More($after: String) {
    player(playerUniqueId: "p1") {
      id
      referredFriendsConnection(first: 20, after: $after) { edges { cursor node { id } } pageInfo { hasNextPage } }
    }
  }
`;

test('a list goes on in a query whose variable `after` changes', async () => {
  const client = connect();
  const screen = client.watchQuery({ query: PAGE, variables: { after: null } });
  open.add(screen.subscribe({}));
  const list = () => screen.getCurrentResult().data?.player?.referredFriendsConnection;
  const ids = () => list()?.edges?.map((edge) => edge?.node?.id) ?? [];
  await until(() => ids().length === 20);
  for (const length of [40, 60]) {
    await screen.setVariables({ after: list()?.edges?.at(-1)?.cursor ?? null });
    expect([ids().length, new Set(ids()).size]).toEqual([length, length]);
  }
  expect([list()?.pageInfo?.hasNextPage, sent.length]).toEqual([false, 3]);
});

test('a list that was begun at a cursor is read from its beginning when another screen shows it', async () => {
  const read = async (client: ReturnType<typeof connect>, after: string | null) =>
    (await client.query({ query: PAGE, variables: { after } })).data?.player.referredFriendsConnection.edges ?? [];
  const [first] = await read(connect(), null);
  const client = connect();
  const page = await read(client, first?.cursor ?? '');
  expect((await read(client, null))[0]).toEqual(first);
  const other = connect();
  // Of 60 friends, behind the 21st of them are two pages: the second of these is the last one.
  for (const after of [page.at(-1), (await read(connect(), page.at(-1)?.cursor ?? '')).at(-1)])
    await read(other, after?.cursor ?? '');
  expect((await read(other, null))[0]).toEqual(first);
});

test('a list that was read to its end has one more when somebody joins; the gateway that begins it again shows nobody twice', async () => {
  const names = Array.from({ length: 25 }, (_, index) => `f${index + 1}`);
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const { after, first } = JSON.parse(String(init?.body)).variables;
    // An unknown cursor begins the list again.
    const start = names.indexOf(after) + 1;
    const ids = names.slice(start, start + first);
    const pageInfo = {
      __typename: 'PageInfo',
      hasNextPage: start + first < names.length,
      endCursor: ids.at(-1) ?? null,
    };
    const nodes = ids.map((id) => ({ __typename: 'ReferredFriend', id, displayName: id }));
    const list = { __typename: 'ReferredFriendConnection', nodes, pageInfo };
    const player = { __typename: 'Player', id: 'p1', referredFriendsConnection: list };
    return Response.json({ data: { player } });
  };
  const query = gql`query Q($first: Int, $after: String) {
    player(playerUniqueId: "p1") {
      id
      referredFriendsConnection(first: $first, after: $after) { nodes { id displayName } pageInfo { hasNextPage endCursor } }
    }
  }`;
  const client = connect({ fetch, token: undefined });
  const screen = client.watchQuery({ query, variables: { first: 10 } });
  open.add(screen.subscribe({}));
  const list = () => Reflect.get(Object(screen.getCurrentResult().data), 'player')?.referredFriendsConnection;
  const shown = () => list()?.nodes.map(({ id }: { id: string }) => id);
  const more = () => screen.fetchMore({ variables: { after: list().pageInfo.endCursor } });
  await until(() => shown()?.length === 10);
  for (const length of [20, 25]) {
    await more();
    await until(() => shown().length === length);
    expect(shown()).toEqual(names.slice(0, length));
  }
  expect(list().pageInfo.hasNextPage).toBe(false);
  names.push('f26');
  await screen.refetch();
  await until(() => list().pageInfo.hasNextPage);
  await more();
  await until(() => shown().length === 26);
  expect([shown(), list().pageInfo.hasNextPage]).toEqual([names, false]);
  // The friend of the last cursor goes, and another one joins.
  names.splice(25, 1, 'f27');
  for (let pages = 0; pages < 4 && !shown().includes('f27'); pages += 1) {
    await more();
    // What a page changed is shown in a task of its own.
    await new Promise((resolve) => setTimeout(resolve));
  }
  expect(new Set(shown()).size).toBe(shown().length);
  expect(shown()).toContain('f27');
});

test('a list that is read without ids keeps two friends who look the same', async () => {
  const client = connect({
    token: undefined,
    fetch: async (_, init) => {
      const isFirst = JSON.parse(String(init?.body)).variables.after == null;
      const nodes = ['Ann', isFirst ? 'Bo' : 'Cy'].map((name) => ({ __typename: 'ReferredFriend', displayName: name }));
      const pageInfo = { __typename: 'PageInfo', hasNextPage: isFirst, endCursor: isFirst ? 'b' : 'd' };
      const list = { __typename: 'ReferredFriendConnection', nodes, pageInfo };
      return Response.json({ data: { player: { __typename: 'Player', id: 'p1', referredFriendsConnection: list } } });
    },
  });
  const list = 'nodes { displayName } pageInfo { hasNextPage endCursor }';
  const query = gql`query Names($after: String) {
    player(playerUniqueId: "p1") { id referredFriendsConnection(first: 2, after: $after) { ${list} } }
  }`;
  const screen = client.watchQuery({ query });
  open.add(screen.subscribe({}));
  const names = () =>
    Reflect.get(Object(screen.getCurrentResult().data), 'player')?.referredFriendsConnection.nodes.map(
      ({ displayName }: { displayName: string }) => displayName,
    );
  await until(() => names()?.length === 2);
  await screen.fetchMore({ variables: { after: 'b' } });
  await until(() => names().length > 2);
  expect(names()).toEqual(['Ann', 'Bo', 'Ann', 'Cy']);
});

test('screens that select different members of what has no id complete each other', async () => {
  const client = connect();
  const queries = [
    gql`query A { player(playerUniqueId: "p1") { id coupons { id options { capping combinesWith { orderDiscounts } } collections { collectionId } } referredFriends(limit: 2) { total } } }`,
    gql`query B { player(playerUniqueId: "p1") { id coupons { id options { usageLimit combinesWith { productDiscounts } } collections { collectionName } } referredFriends(limit: 2) { count } } }`,
  ];
  for (let time = 0; time < 3; time += 1) for (const query of queries) await client.query({ query });
  expect(sent).toHaveLength(2);
});

test('a coupon can have no collections, and a collection in the place of another one does not get its name', async () => {
  const queryOf = (fields: string) =>
    gql`query { player(playerUniqueId: "p1") { id coupons { id collections { ${fields} } } } }`;
  const [whole, ids] = [queryOf('collectionId collectionName'), queryOf('collectionId')];
  const __typename = 'Collection';
  const lists = [
    null,
    null,
    [{ __typename, collectionId: 'a', collectionName: 'A' }],
    [{ __typename, collectionId: 'b' }],
  ];
  const left = [...lists];
  const fetch = async () => {
    const coupons = [{ __typename: 'Coupon', id: '1', collections: left.shift() }];
    return Response.json({ data: { player: { __typename: 'Player', id: 'p1', coupons } } });
  };
  const client = connect({ fetch, token: undefined });
  const read: unknown[] = [];
  for (const query of [whole, whole, whole, ids]) {
    const { data } = await client.query({ query, fetchPolicy: 'network-only' });
    read.push(Reflect.get(Object(data), 'player').coupons[0].collections);
  }
  expect(read).toEqual(lists);
  expect(client.readQuery({ query: whole })).toBeNull();
});

test('a list that is read without `pageInfo` gets shorter when its last friends are deleted', async () => {
  const query = gql`query { player(playerUniqueId: "p1") { id referredFriendsConnection { nodes { id } } } }`;
  const listOf = (...ids: string[]) => {
    const nodes = ids.map((id) => ({ __typename: 'ReferredFriend', id }));
    const referredFriendsConnection = { __typename: 'ReferredFriendConnection', nodes };
    return { player: { __typename: 'Player', id: 'p1', referredFriendsConnection } };
  };
  const lists = [listOf('a', 'b', 'c'), listOf('a', 'b'), listOf()];
  const left = [...lists];
  const client = connect({ fetch: async () => Response.json({ data: left.shift() }), token: undefined });
  for (const list of lists) {
    const { data } = await client.query({ query, fetchPolicy: 'network-only' });
    expect(data).toEqual(list);
  }
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
  const { data } = await connect().query(WITH_FRIENDS);
  expect(data?.player).toMatchObject({ referredFriendsConnection: null });
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

test('what is no response of a gateway reaches Apollo as it is, also for a GET', async () => {
  const fetch = async () => new Response('<h1>Not the gateway</h1>', { status: 502 });
  const byGet = new ApolloLink((operation, forward) => {
    operation.setContext({ fetchOptions: { method: 'GET' } });
    return forward(operation);
  });
  const client = clientOf(byGet.concat(createGatewayLink({ url, token, fetch })));
  expect((await client.query(SCREEN)).error).toMatchObject({ statusCode: 502, bodyText: '<h1>Not the gateway</h1>' });
});

test('of two queries without names, each is asked again when its screen is opened anew', async () => {
  upstream.on('GET /coupon', FAILS);
  upstream.on('GET /referrals', FAILS);
  const client = connect();
  const queries = [gql`{ me { id coupons { id } } }`, gql`{ me { id referredFriends { total } } }`];
  for (const query of queries) await client.query({ query });
  upstream.on('GET /coupon', 'usual');
  upstream.on('GET /referrals', 'usual');
  for (const query of queries) {
    await until(() => client.readQuery({ query }) === null);
    expect((await client.query({ query })).error).toBeUndefined();
  }
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
  // The gateway decides about what the manifest does not list.
  expect((await trusting.query({ query: gql`query Other { me { id } }` })).data).toMatchObject({ me: { id: 'p1' } });
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
