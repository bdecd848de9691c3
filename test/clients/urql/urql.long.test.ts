import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, jest, test } from '@jest/globals';
import { createFetch, type FetchOptions, heal } from '@referral-gateway/client';
import { useHealing } from '@referral-gateway/client/react';
import { gatewayExchanges, graphcacheConfig } from '@referral-gateway/client/urql';
import { Client, fetchExchange, makeOperation, mapExchange, type OperationResult } from '@urql/core';
import { offlineExchange, type StorageAdapter } from '@urql/exchange-graphcache';
import type { ResultOf } from 'gql.tada';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { createElement, useState } from 'react';
import { Provider, useQuery } from 'urql';
import { until } from '../../kit/until.ts';
import { EXPIRED, friends, ME, runScript, startRecorded, tokenOf } from '../kit.ts';
import { expectNoPlayer, importScreen, render } from '../screen.ts';
import { Coupons, Friends, FriendsPersisted, graphql, Remove, Rename, Track } from './operations.ts';

/* urql with the package's exchanges, graphcache among them, and gql.tada. */

const MANIFEST = fileURLToPath(new URL('generated/documents.json', import.meta.url));
await runScript('urql', 'tada');
await runScript('urql', 'tada:persisted');
const { url, upstream, sent, lose, events } = await startRecorded({
  PERSISTED_OPERATIONS: 'log',
  PERSISTED_OPERATIONS_FILE: MANIFEST,
});
const token = tokenOf();
const connect = (options: Parameters<typeof gatewayExchanges>[0] = { token }) =>
  new Client({ url, exchanges: gatewayExchanges(options) });

test('the snippets have correct types', () => runScript('urql', 'types'));

test('a player that cannot be read has a button to try again; one that does not exist says so', async () => {
  const Screen = await importScreen('urql');
  await expectNoPlayer(upstream, (playerUniqueId, token) => {
    const children = createElement(Screen, { playerUniqueId });
    return createElement(Provider, { value: connect({ token }), children });
  });
});

test('an expired token is replaced by one new token, and nothing of an operation is in a URL', async () => {
  const fetched = [EXPIRED, token];
  const client = connect({ token: async () => fetched.shift() });
  const links = graphql(
    'query L($lang: LanguageCode) { player(playerUniqueId: "p1") { id referralLink(lang: $lang) } }',
  );
  const results = await Promise.all(['de', 'fr'].map((lang) => client.query(links, { lang }).toPromise()));
  expect(results.map(({ data, error }) => [data?.player?.referralLink, error])).toEqual(
    ['de', 'fr'].map((lang) => [`https://refer.example/r/p1?lang=${lang}`, undefined]),
  );
  expect([fetched, sent.map(({ method }) => method)]).toEqual([[], Array(4).fill('POST')]);
});

test('graphcache stores a whole player without a warning, and each type that has an id by it', async () => {
  const warnings = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  const client = connect();
  const everything = graphql(`
    query Everything {
      player(playerUniqueId: "p1") {
        id
        attributes { displayName custom }
        coupons {
          id code product { productId } collections { collectionId } group { handle }
          options { combinesWith { orderDiscounts } }
        }
        referredFriends(limit: 2) { total nodes { id displayName } }
      }
    }
  `);
  const { data, error } = await client.query(everything, {}).toPromise();
  const { coupons, referredFriends } = data?.player ?? {};
  expect([error, coupons?.length, referredFriends?.nodes.length]).toEqual([undefined, 10, 2]);
  await client.query(everything, {}).toPromise();
  expect([sent.length, warnings.mock.calls]).toEqual([1, []]);
  warnings.mockRestore();
});

test('the connection grows page by page, and a deletion empties the cache of its player', async () => {
  const client = connect();
  let list: NonNullable<ResultOf<typeof Friends>['player']>['referredFriendsConnection'] = null;
  const read = (after: string | null) => client.query(Friends, { playerUniqueId: 'p2', after }).toPromise();
  do {
    const { data }: OperationResult<ResultOf<typeof Friends>> = await read(list?.pageInfo.endCursor ?? null);
    list = data?.player?.referredFriendsConnection ?? null;
  } while (list?.pageInfo.hasNextPage);
  expect(list?.edges.map(({ node }) => node.displayName)).toEqual(friends(60));
  await client.mutation(Remove, { input: { playerUniqueId: 'p2' } }).toPromise();
  expect((await read(null)).data?.player).toBeNull();
});

const SCHEMA = readFileSync(fileURLToPath(new URL('../../../src/generated/schema.graphql', import.meta.url)), 'utf8');
const schema = introspectionFromSchema(buildSchema(SCHEMA));

test.each([
  ['without a schema', {}],
  ['with a schema', { schema }],
])(
  '%s, a list without arguments is read and grows; fields of it that were not read are asked for',
  async (_, cache) => {
    const warnings = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const client = connect({ token, cache });
    const read = async (selection: string) => {
      const query = `query { player(playerUniqueId: "p4") { id referredFriendsConnection${selection} } }`;
      return (await client.query(query, {}).toPromise()).data?.player?.referredFriendsConnection;
    };
    const page = '{ edges { cursor node { id } } pageInfo { hasNextPage endCursor } }';
    expect(await read('{ totalCount }')).toEqual({ totalCount: 60 });
    expect((await read('{ edges { node { id } } }')).edges).toHaveLength(50);
    expect((await read('{ nodes { id } }')).nodes).toHaveLength(50);
    const { pageInfo } = await read(page);
    expect(pageInfo).toMatchObject({ hasNextPage: true, endCursor: expect.any(String) });
    for (const after of [`(after: "${pageInfo.endCursor}")`, '']) {
      const list = await read(`${after} ${page}`);
      expect([list.edges.length, list.pageInfo.hasNextPage]).toEqual([60, false]);
    }
    expect([sent.length, warnings.mock.calls]).toEqual([5, []]);
    warnings.mockRestore();
  },
);

test('a player of a list that cannot be read leaves the others, and is asked for when the list is read again', async () => {
  const extensions = { code: 'UPSTREAM_TIMEOUT', retryable: true };
  const [one, two] = ['p1', 'p2'].map((id) => ({ __typename: 'Player', id }));
  const responses = [
    { data: { players: [one, null] }, errors: [{ message: 'Late.', path: ['players', 1], extensions }] },
    { data: { players: [one, two] } },
  ];
  const client = connect({ fetch: async () => Response.json(responses.shift()) });
  const read = () => client.query('{ players(playerUniqueIds: ["p1", "p2"]) { id } }', {}).toPromise();
  const { data, error } = await read();
  expect([data.players, error?.graphQLErrors.length]).toEqual([[{ id: 'p1' }, null], 1]);
  expect((await read()).data.players).toEqual([{ id: 'p1' }, { id: 'p2' }]);
  // There is no third response.
  expect((await read()).error).toBeUndefined();
});

test.each([
  ['upsert', 'p31', Rename, { attributes: { firstName: 'Grace' } }],
  ['event', 'p32', Track, { events: [{ name: 'open_app' }] }],
])('a screen that shows no player shows the one that an %s creates', async (_, playerUniqueId, mutation, more) => {
  upstream.on('GET /player', { status: 404, json: { code: 101, message: 'Not found' } });
  const client = connect();
  const shown: unknown[] = [];
  const screen = client.query(Coupons, { playerUniqueId }).subscribe(({ data }) => shown.push(data?.player?.id));
  await until(() => shown.length > 0);
  expect(shown).toEqual([undefined]);
  upstream.on('GET /player', 'usual');
  await client.mutation<unknown, Record<string, unknown>>(mutation, { input: { playerUniqueId, ...more } }).toPromise();
  await until(() => shown.includes(playerUniqueId));
  screen.unsubscribe();
});

test('a deletion that was refused leaves the player in the cache', async () => {
  const client = connect({ token: tokenOf({ scope: 'players:read referrals:read any-player' }) });
  const read = () => client.query(Friends, { playerUniqueId: 'p3', after: null }).toPromise();
  await read();
  const { error } = await client.mutation(Remove, { input: { playerUniqueId: 'p3' } }).toPromise();
  expect(error?.graphQLErrors.map(({ extensions }) => extensions['code'])).toEqual(['FORBIDDEN']);
  const { length } = sent;
  expect((await read()).data?.player?.id).toBe('p3');
  expect(sent).toHaveLength(length);
});

test('a query without data is sent again before anything is delivered', async () => {
  const fails = { status: 500 };
  upstream.on('GET /player', fails, fails, fails, 'usual');
  const profile = graphql('query Profile { player(playerUniqueId: "p1") { id attributes { displayName } } }');
  const { data, error } = await connect().query(profile, {}).toPromise();
  expect([error, data?.player?.attributes?.displayName]).toEqual([undefined, 'Player p1']);
});

test('events get a key, are sent again when their response is lost, and are counted once; an upsert is not', async () => {
  const client = connect();
  lose(2);
  const input = { ...ME, events: [{ name: 'open_app' }] };
  const { data } = await client.mutation(Track, { input }).toPromise();
  expect([data?.trackEvents?.eventNames, sent.length, events()]).toEqual([['open_app'], 3, 1]);
  lose(1);
  const { error } = await client.mutation(Rename, { input: ME }).toPromise();
  expect(error?.networkError).toMatchObject({ code: 'NO_RESPONSE', outcome: 'UNKNOWN' });
  expect(sent).toHaveLength(4);
});

test('an operation that `retryExchange` sends again, which it takes from the result, is one event', async () => {
  const results: OperationResult[] = [];
  const retry = mapExchange({ onResult: (result) => void results.push(result) });
  const [cache, ...sending] = gatewayExchanges({ token, attempts: 2 });
  const client = new Client({ url, exchanges: [cache, retry, ...sending] });
  lose(2);
  await client.mutation(Track, { input: { ...ME, events: [{ name: 'open_app' }] } }).toPromise();
  for (const { operation } of results) client.reexecuteOperation(operation);
  await until(() => sent.length > 2);
  const keys = new Set(sent.map(({ variables }) => variables['input']?.idempotencyKey));
  expect([keys.size, sent.length, events()]).toEqual([1, 3, 1]);
});

test('`offlineExchange` keeps an optimistic mutation that could not be sent, and one without a token, for later', async () => {
  const away = async () => {
    throw new TypeError('Load failed');
  };
  const page = async () => new Response('<h1>Forbidden</h1>', { status: 403 });
  const Keep = graphql(
    'mutation Keep($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { player { id referralLink } } }',
  );
  const waiting = async (options: FetchOptions) => {
    let waits = 0;
    const storage: StorageAdapter = {
      ...{ readData: async () => ({}), writeData: async () => undefined, onOnline: () => undefined },
      readMetadata: async () => null,
      writeMetadata: (queue) => {
        waits = queue.length;
      },
    };
    const player = { __typename: 'Player', id: 'p1', referralLink: null };
    const optimistic = { upsertPlayer: () => ({ __typename: 'UpsertPlayerPayload', player }) };
    const exchanges = [offlineExchange({ ...graphcacheConfig, storage, optimistic }), fetchExchange];
    const client = new Client({
      url,
      exchanges,
      fetch: createFetch({ attempts: 1, ...options }),
      preferGetMethod: false,
    });
    // The queue is there as soon as the stored data was read.
    await new Promise((resolve) => setImmediate(resolve));
    const failed = client.mutation(Keep, { input: { ...ME, attributes: { displayName: 'Off' } } }).toPromise();
    await Promise.race([failed, until(() => waits > 0)]);
    return waits;
  };
  expect(await waiting({ token, fetch: away })).toBe(1);
  expect(await waiting({ token: away })).toBe(1);
  expect(await waiting({ token, fetch: page })).toBe(0);
});

test('headers of the application are sent beside the token, by the `fetch` of the client', async () => {
  const fetch = jest.fn<typeof globalThis.fetch>(async () => Response.json({ data: { player: null } }));
  const [cache, ...sending] = gatewayExchanges({ token: 'a', fetch: undefined });
  const own = mapExchange({
    onOperation: (operation) =>
      makeOperation(operation.kind, operation, { ...operation.context, fetchOptions: { headers: { 'x-app': '7' } } }),
  });
  const client = new Client({ url, exchanges: [cache, own, ...sending], fetch });
  await client.query(Friends, ME).toPromise();
  const [headers] = fetch.mock.calls.map(([, init]) => new Headers(init?.headers));
  expect([headers?.get('x-app'), headers?.get('authorization')]).toEqual(['7', 'Bearer a']);
  // One query has a `fetch` of its own.
  const other = jest.fn(fetch);
  const requestPolicy = 'network-only';
  for (const context of [{ requestPolicy, fetch: other }, { requestPolicy }] as const)
    await client.query(Friends, ME, context).toPromise();
  expect([other.mock.calls.length, fetch.mock.calls.length]).toEqual([1, 3]);
});

test('while the coupons hang, the rest is shown; with `heal` they are asked for again, and appear; a player stays when nothing can be read', async () => {
  upstream.on('GET /coupon', { fault: 'hang' });
  const client = connect();
  const shown: OperationResult<ResultOf<typeof Coupons>>[] = [];
  const screen = client.query(Coupons, ME).subscribe((result) => shown.push(result));
  await until(() => shown.length > 0);
  expect(shown).toMatchObject([{ data: { player: { attributes: { displayName: 'Player p1' }, coupons: null } } }]);
  expect(shown[0]?.error?.graphQLErrors).toMatchObject([{ path: ['player', 'coupons'] }]);
  const held = upstream.hold('GET /coupon');
  const again = () => client.query(Coupons, ME, { requestPolicy: 'network-only' }).toPromise();
  const healed = heal({ errors: shown[0]?.error, again });
  await held.arrived;
  upstream.on('GET /coupon', 'usual');
  held.release();
  expect(await healed).toEqual([]);
  await until(() => shown.at(-1)?.data?.player?.coupons?.length === 10 && !shown.at(-1)?.error);
  expect(sent).toHaveLength(2);
  screen.unsubscribe();
});

function HealedCoupons() {
  const [playerUniqueId, setPlayer] = useState(ME.playerUniqueId);
  const [{ data, error }, read] = useQuery({ query: Coupons, variables: { playerUniqueId } });
  useHealing(error, () => read({ requestPolicy: 'network-only' }));
  const onClick = () => setPlayer('p2');
  return createElement('button', { type: 'button', onClick }, `coupons ${data?.player?.coupons?.length ?? 'missing'}`);
}

test('with `useHealing`, a missing part appears by itself, however often it is asked for', async () => {
  upstream.on('GET /coupon', { status: 500 });
  const children = createElement(HealedCoupons);
  const screen = await render(createElement(Provider, { value: connect(), children }));
  await screen.see('coupons missing');
  await screen.shows(() => sent.length >= 3, 'asks a third time');
  upstream.on('GET /coupon', 'usual');
  await screen.see('coupons 10');
});

test('the pauses of `useHealing` grow, though urql has no error while it reads again, and begin anew for another player', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
  const players: string[] = [];
  const extensions = { code: 'UPSTREAM_TIMEOUT', retryable: true };
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const { playerUniqueId: id } = JSON.parse(String(init?.body)).variables;
    players.push(id);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const player = { __typename: 'Player', id, referralLink: null, attributes: null, coupons: null };
    return Response.json({
      data: { player },
      errors: [{ message: 'Not now.', path: ['player', 'coupons'], extensions }],
    });
  };
  const children = createElement(HealedCoupons);
  const screen = await render(createElement(Provider, { value: connect({ fetch }), children }));
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      jest.advanceTimersByTime(1_000);
      let turns = 0;
      await screen.shows(() => ++turns > 3);
    }
  };
  await pass(120);
  // After 2, 4, 8, 16 and 32 s, each with up to a half more.
  expect(players).toHaveLength(6);
  await screen.press();
  await pass(8);
  jest.useRealTimers();
  expect(players.slice(6)).toEqual(['p2', 'p2']);
});

test('a persisted document of gql.tada is sent by its id alone', async () => {
  const [[id = '', text = ''] = []] = Object.entries<string>(JSON.parse(readFileSync(MANIFEST, 'utf8')));
  expect(id).toBe(`sha256:${createHash('sha256').update(text).digest('hex')}`);
  const { data } = await connect().query(FriendsPersisted, ME).toPromise();
  expect(data?.player?.referredFriendsConnection?.edges[0]?.node.displayName).toBe('Friend 1');
  expect(sent).toMatchObject([{ query: undefined, hash: id, status: 200 }]);
});
