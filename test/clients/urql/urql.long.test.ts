import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { gatewayExchanges } from '@referral-gateway/client/urql';
import { Client, type OperationResult } from '@urql/core';
import type { ResultOf } from 'gql.tada';
import { recordRequests, runScript, startDemo, startGateway } from '../kit.ts';
import { Coupons, Friends, FriendsPersisted, graphql, Remove, Rename, Track } from './operations.ts';

/* urql with the package's exchanges, graphcache among them, and gql.tada, against the built gateway. */

const MANIFEST = fileURLToPath(new URL('generated/documents.json', import.meta.url));
const ME = { playerUniqueId: 'p1' };

let gateway: Awaited<ReturnType<typeof startGateway>>;
let requests: ReturnType<typeof recordRequests>;
let token: string;
const warnings: unknown[] = [];
beforeAll(async () => {
  await runScript('urql', 'tada');
  await runScript('urql', 'tada:persisted');
  gateway = await startGateway({
    PERSISTED_OPERATIONS: 'log',
    PERSISTED_OPERATIONS_FILE: MANIFEST,
    REST_TIMEOUT_MS: '500',
  });
  token = await gateway.token('--sub', 'p1', '--recipe', 'phone-app', '--events', 'open_app');
}, 60_000);
afterAll(() => gateway?.close());
beforeEach(() => {
  requests = recordRequests();
  jest.spyOn(console, 'warn').mockImplementation((...words) => void warnings.push(words));
});
afterEach(() => {
  requests.restore();
  jest.restoreAllMocks();
  gateway.upstream.forget();
  gateway.upstream.on('GET /player', 'usual');
  gateway.upstream.on('GET /coupon', 'usual');
  gateway.upstream.on('POST /event', 'usual');
});

type Options = Parameters<typeof gatewayExchanges>[0];
const connect = (options: Options = { token: () => token }) =>
  new Client({ url: gateway.uri, exchanges: gatewayExchanges(options) });

test('the snippets have correct types', () => runScript('urql', 'types'), 60_000);

test('an expired token is replaced by one new token, and nothing of an operation is in a URL', async () => {
  const fetched = [gateway.expired(), token];
  const client = connect({ token: async () => fetched.shift() });
  const links = graphql(
    'query Link($lang: LanguageCode) { player(playerUniqueId: "p1") { id referralLink(lang: $lang) } }',
  );
  const results = await Promise.all(['de', 'fr', 'it'].map((lang) => client.query(links, { lang }).toPromise()));
  expect(results.map(({ data, error }) => [data?.player?.referralLink, error])).toEqual(
    ['de', 'fr', 'it'].map((lang) => [`https://refer.example/r/p1?lang=${lang}`, undefined]),
  );
  expect(fetched).toEqual([]);
  expect(requests.sent.map(({ method }) => method)).toEqual(Array(requests.sent.length).fill('POST'));
});

test('the open gateway of `npm start` needs no token', async () => {
  const demo = await startDemo();
  const client = new Client({ url: `${demo.url}/graphql`, exchanges: gatewayExchanges({}) });
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
          id
          code
          product { productId }
          collections { collectionId }
          group { handle }
          options { combinesWith { orderDiscounts } }
        }
        referredFriends(limit: 2) { total nodes { id displayName } }
      }
    }
  `);
  const { data, error } = await client.query(everything, {}).toPromise();
  expect({
    error,
    coupons: data?.player?.coupons?.length,
    friends: data?.player?.referredFriends?.nodes.length,
  }).toEqual({
    error: undefined,
    coupons: 10,
    friends: 2,
  });
  await client.query(everything, {}).toPromise();
  expect(requests.sent).toHaveLength(1);
  expect(warnings).toEqual([]);
});

test('the connection grows page by page, and a deletion empties the cache of its player', async () => {
  const serverToken = await gateway.token(
    '--sub',
    'shop',
    '--scopes',
    'players:read players:delete referrals:read any-player',
  );
  const client = connect({ token: serverToken });
  const read = (after: string | null) => client.query(Friends, { playerUniqueId: 'p2', after }).toPromise();
  const names: unknown[] = [];
  let after: string | null = null;
  for (let more = true; more; ) {
    const { data }: OperationResult<ResultOf<typeof Friends>> = await read(after);
    const connection = data?.player?.referredFriendsConnection;
    names.splice(0, names.length, ...(connection?.edges.map(({ node }) => node.displayName) ?? []));
    after = connection?.pageInfo.endCursor ?? null;
    more = connection?.pageInfo.hasNextPage ?? false;
  }
  expect(names).toEqual(Array.from({ length: 60 }, (_, index) => `Friend ${index + 1}`));

  await client.mutation(Remove, { input: { playerUniqueId: 'p2' } }).toPromise();
  expect((await read(null)).data?.player).toBeNull();
});

test('a query without data is sent again before anything is delivered', async () => {
  const fails = { status: 500 };
  gateway.upstream.on('GET /player', fails, fails, fails, 'usual');
  const profile = graphql('query Profile { player(playerUniqueId: "p1") { id attributes { displayName } } }');
  const { data, error } = await connect().query(profile, {}).toPromise();
  expect({ error, name: data?.player?.attributes?.displayName }).toEqual({ error: undefined, name: 'Player p1' });
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
  function open(client = connect()) {
    const shown: OperationResult<ResultOf<typeof Coupons>>[] = [];
    const waiting = new Set<() => void>();
    const { unsubscribe } = client.query(Coupons, ME).subscribe((result) => {
      shown.push(result);
      for (const check of waiting) check();
    });
    const shows = (fits: (result: (typeof shown)[number]) => boolean) =>
      new Promise<void>((resolve) => {
        const check = () => shown.some(fits) && resolve();
        waiting.add(check);
        check();
      });
    return { shown, shows, close: unsubscribe };
  }
  type Shown = ReturnType<typeof open>['shown'][number];
  const isPartial = ({ data, error }: Shown) =>
    data?.player?.attributes?.displayName === 'Player p1' && !data.player.coupons && error !== undefined;
  const isWhole = ({ data, error }: Shown) => data?.player?.coupons?.length === 10 && error === undefined;

  test('the rest is shown before they are asked for again, and they appear by themselves', async () => {
    gateway.upstream.on('GET /coupon', { fault: 'hang' });
    const { shown, shows, close } = open();
    await shows(isPartial);
    expect(requests.sent).toHaveLength(1);
    const held = gateway.upstream.hold('GET /coupon');
    await held.arrived;
    expect(shown.some(isWhole)).toBe(false);
    gateway.upstream.on('GET /coupon', 'usual');
    held.release();
    await shows(isWhole);
    expect(requests.sent).toHaveLength(2);
    close();
  });

  test('a query that is read once gets what there is, and a closed screen is not asked for', async () => {
    gateway.upstream.on('GET /coupon', { fault: 'hang' });
    const { data, error } = await connect().query(Coupons, ME).toPromise();
    expect(data?.player).toMatchObject({ id: 'p1', coupons: null });
    expect(error?.graphQLErrors).toMatchObject([{ path: ['player', 'coupons'] }]);
    expect(requests.sent).toHaveLength(1);
    const { shown, shows, close } = open();
    await shows(isPartial);
    // When the open screen is asked for the second time, the time of the closed one is over.
    for (let times = 0; times < 2; times += 1) {
      const held = gateway.upstream.hold('GET /coupon', { fault: 'hang' });
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
