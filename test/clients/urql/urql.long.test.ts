import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { gatewayExchanges } from '@referral-gateway/client/urql';
import { Client, type OperationResult } from '@urql/core';
import type { ResultOf } from 'gql.tada';
import { until } from '../../kit/until.ts';
import { friends, recordRequests, runScript, startDemo, startGateway } from '../kit.ts';
import { Coupons, Friends, FriendsPersisted, graphql, Remove, Rename, Track } from './operations.ts';

/* urql with the package's exchanges, graphcache among them, and gql.tada, against the built gateway. */

const MANIFEST = fileURLToPath(new URL('generated/documents.json', import.meta.url));
const ME = { playerUniqueId: 'p1' };

type Gateway = Awaited<ReturnType<typeof startGateway>>;
let gateway: Gateway;
let upstream: Gateway['upstream'];
let requests: ReturnType<typeof recordRequests>;
let token: string;
const warnings: unknown[] = [];
beforeAll(async () => {
  await runScript('urql', 'tada');
  await runScript('urql', 'tada:persisted');
  const persisted = { PERSISTED_OPERATIONS: 'log', PERSISTED_OPERATIONS_FILE: MANIFEST };
  gateway = await startGateway({ ...persisted, REST_TIMEOUT_MS: '500' });
  upstream = gateway.upstream;
  token = await gateway.token();
}, 60_000);
afterAll(() => gateway?.close());
beforeEach(() => {
  requests = recordRequests();
  jest.spyOn(console, 'warn').mockImplementation((...words) => void warnings.push(words));
});
afterEach(() => {
  requests.restore();
  jest.restoreAllMocks();
  upstream.reset();
});

const connect = (options: Parameters<typeof gatewayExchanges>[0] = { token: () => token }) =>
  new Client({ url: gateway.uri, exchanges: gatewayExchanges(options) });

test('the snippets have correct types', () => runScript('urql', 'types'), 60_000);

test('an expired token is replaced by one new token, and nothing of an operation is in a URL', async () => {
  const fetched = [gateway.expired(), token];
  const client = connect({ token: async () => fetched.shift() });
  const links = graphql(
    'query Link($lang: LanguageCode) { player(playerUniqueId: "p1") { id referralLink(lang: $lang) } }',
  );
  const results = await Promise.all(['de', 'fr'].map((lang) => client.query(links, { lang }).toPromise()));
  expect(results.map(({ data, error }) => [data?.player?.referralLink, error])).toEqual(
    ['de', 'fr'].map((lang) => [`https://refer.example/r/p1?lang=${lang}`, undefined]),
  );
  expect(fetched).toEqual([]);
  expect(requests.sent.map(({ method }) => method)).toEqual(Array(requests.sent.length).fill('POST'));
});

test('the open gateway of `npm start` needs no token', async () => {
  const demo = await startDemo();
  const client = new Client({ url: demo.uri, exchanges: gatewayExchanges({}) });
  const { data, error } = await client.query(Coupons, { playerUniqueId: 'demo-player' }).toPromise();
  expect([data?.player?.id, error]).toEqual(['demo-player', undefined]);
  expect(requests.sent.map(({ method, status }) => [method, status])).toEqual([['POST', 200]]);
  await demo.stop();
}, 60_000);

test('graphcache stores a whole player without a warning, and each type that has an id by it', async () => {
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
  expect(requests.sent).toHaveLength(1);
  expect(warnings).toEqual([]);
});

test('the connection grows page by page, and a deletion empties the cache of its player', async () => {
  const scopes = 'players:read players:delete referrals:read any-player';
  const client = connect({ token: await gateway.token('--sub', 'shop', '--scopes', scopes) });
  const read = (after: string | null) => client.query(Friends, { playerUniqueId: 'p2', after }).toPromise();
  let names: unknown[] | undefined;
  let after: string | null = null;
  for (let more = true; more; ) {
    const { data }: OperationResult<ResultOf<typeof Friends>> = await read(after);
    const { edges, pageInfo } = data?.player?.referredFriendsConnection ?? {};
    names = edges?.map(({ node }) => node.displayName);
    after = pageInfo?.endCursor ?? null;
    more = pageInfo?.hasNextPage ?? false;
  }
  expect(names).toEqual(friends(60));
  await client.mutation(Remove, { input: { playerUniqueId: 'p2' } }).toPromise();
  expect((await read(null)).data?.player).toBeNull();
});

test('a query without data is sent again before anything is delivered', async () => {
  const fails = { status: 500 };
  upstream.on('GET /player', fails, fails, fails, 'usual');
  const profile = graphql('query Profile { player(playerUniqueId: "p1") { id attributes { displayName } } }');
  const { data, error } = await connect().query(profile, {}).toPromise();
  expect([error, data?.player?.attributes?.displayName]).toEqual([undefined, 'Player p1']);
});

test('events get a key, are sent again when their response is lost, and are counted once; an upsert is not', async () => {
  const input = { ...ME, events: [{ name: 'open_app' }] };
  const client = connect();
  requests.lose(2);
  const tracked = await client.mutation(Track, { input }).toPromise();
  expect(tracked).toMatchObject({ error: undefined, data: { trackEvents: { eventNames: ['open_app'] } } });
  expect([requests.sent.length, gateway.events()]).toEqual([3, 1]);
  requests.lose(1);
  const { error } = await client.mutation(Rename, { input: ME }).toPromise();
  expect(error?.networkError).toMatchObject({ code: 'NO_RESPONSE', outcome: 'UNKNOWN' });
  expect(requests.sent).toHaveLength(4);
});

describe('while the coupons hang', () => {
  /** A screen that watches the query, and what it shows. */
  function open() {
    const shown: OperationResult<ResultOf<typeof Coupons>>[] = [];
    const { unsubscribe } = connect()
      .query(Coupons, ME)
      .subscribe((result) => shown.push(result));
    const shows = (fits: (result: (typeof shown)[number]) => boolean) => until(() => shown.some(fits));
    return { shown, shows, close: unsubscribe };
  }
  type Shown = ReturnType<typeof open>['shown'][number];
  const isPartial = ({ data, error }: Shown) =>
    data?.player?.attributes?.displayName === 'Player p1' && !data.player.coupons && error !== undefined;
  const isWhole = ({ data, error }: Shown) => data?.player?.coupons?.length === 10 && error === undefined;
  beforeEach(() => upstream.on('GET /coupon', { fault: 'hang' }));

  test('the rest is shown before they are asked for again, and they appear by themselves', async () => {
    const { shown, shows, close } = open();
    await shows(isPartial);
    expect(requests.sent).toHaveLength(1);
    const held = upstream.hold('GET /coupon');
    await held.arrived;
    expect(shown.some(isWhole)).toBe(false);
    upstream.on('GET /coupon', 'usual');
    held.release();
    await shows(isWhole);
    expect(requests.sent).toHaveLength(2);
    close();
  });

  test('a query that is read once gets what there is, and a closed screen is not asked for', async () => {
    const { data, error } = await connect().query(Coupons, ME).toPromise();
    expect(data?.player).toMatchObject({ id: 'p1', coupons: null });
    expect(error?.graphQLErrors).toMatchObject([{ path: ['player', 'coupons'] }]);
    expect(requests.sent).toHaveLength(1);
    const { shown, shows, close } = open();
    await shows(isPartial);
    // When the open screen is asked for the second time, the time of the closed one is over.
    for (let times = 0; times < 2; times += 1) {
      const held = upstream.hold('GET /coupon', { fault: 'hang' });
      await held.arrived;
      held.release();
    }
    expect(shown.some(isWhole)).toBe(false);
    // The third request of the open screen is under way.
    expect(requests.sent.length).toBeLessThanOrEqual(4);
    close();
  });
});

test('a persisted document of gql.tada is sent by its id alone', async () => {
  const [[id = '', text = ''] = []] = Object.entries<string>(JSON.parse(readFileSync(MANIFEST, 'utf8')));
  expect(id).toBe(`sha256:${createHash('sha256').update(text).digest('hex')}`);
  const client = connect({ token, persisted: true });
  const { data, error } = await client.query(FriendsPersisted, ME).toPromise();
  expect(error).toBeUndefined();
  expect(data?.player?.referredFriendsConnection?.edges[0]?.node.displayName).toBe('Friend 1');
  expect(requests.sent).toEqual([expect.objectContaining({ query: undefined, hash: id, status: 200 })]);
});
