import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { OperationResult } from '@urql/core';
import type { ResultOf } from 'gql.tada';
import { recordRequests, runScript, startGateway } from '../kit.ts';
import { createClient } from './client.ts';
import { Friends, FriendsPersisted, graphql, Remove, Track } from './operations.ts';

/* urql with graphcache and gql.tada, with nothing but what docs/clients.md says, against the built gateway. */

const MANIFEST = fileURLToPath(new URL('generated/documents.json', import.meta.url));
const ME = { playerUniqueId: 'p1' };

let gateway: Awaited<ReturnType<typeof startGateway>>;
let requests: ReturnType<typeof recordRequests>;
let token: string;
const warnings: unknown[] = [];
beforeAll(async () => {
  await runScript('urql', 'tada');
  await runScript('urql', 'tada:persisted');
  gateway = await startGateway({ PERSISTED_OPERATIONS: 'log', PERSISTED_OPERATIONS_FILE: MANIFEST });
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
  gateway.upstream.on('GET /coupon', 'usual');
  gateway.upstream.on('POST /event', 'usual');
});

const connect = (fetchToken = async () => token) => createClient(gateway.uri, fetchToken);

test('the snippets have correct types', () => runScript('urql', 'types'), 60_000);

test('an expired token is replaced by one new token, with the GET requests that urql sends by default', async () => {
  const fetched = [gateway.expired(), token];
  const client = connect(async () => fetched.shift() ?? 'none is left');
  const links = graphql(
    'query Link($lang: LanguageCode) { player(playerUniqueId: "p1") { id referralLink(lang: $lang) } }',
  );
  const results = await Promise.all(['de', 'fr', 'it'].map((lang) => client.query(links, { lang }).toPromise()));
  expect(results.map(({ data, error }) => [data?.player?.referralLink, error])).toEqual(
    ['de', 'fr', 'it'].map((lang) => [`https://refer.example/r/p1?lang=${lang}`, undefined]),
  );
  expect(fetched).toEqual([]);
  expect(requests.sent.map(({ method }) => method)).toEqual(Array(requests.sent.length).fill('GET'));
});

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
  const client = connect(async () => serverToken);
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

test('reads that failed are sent again; events only with a key', async () => {
  const fails = { status: 500 };
  gateway.upstream.on('GET /coupon', fails, fails, fails, 'usual');
  const coupons = graphql('query Coupons { player(playerUniqueId: "p1") { id coupons { id code } } }');
  const { data, error } = await connect().query(coupons, {}).toPromise();
  expect({ error, coupons: data?.player?.coupons?.length }).toEqual({ error: undefined, coupons: 10 });

  const input = { ...ME, events: [{ name: 'open_app' }] };
  const client = connect();
  await client.query(coupons, {}).toPromise();
  requests.lose(1);
  expect((await client.mutation(Track, { input }).toPromise()).error?.networkError).toBeDefined();
  expect(gateway.events()).toBe(1);
  requests.lose(2);
  const keyed = await client.mutation(Track, { input: { ...input, idempotencyKey: 'lost twice' } }).toPromise();
  expect(keyed).toMatchObject({ error: undefined, data: { trackEvents: { eventNames: ['open_app'] } } });
  expect(gateway.events()).toBe(2);
});

test('a persisted document of gql.tada is sent by its id alone', async () => {
  const [[id = '', text = ''] = []] = Object.entries<string>(JSON.parse(readFileSync(MANIFEST, 'utf8')));
  expect(id).toBe(`sha256:${createHash('sha256').update(text).digest('hex')}`);
  const { data, error } = await connect().query(FriendsPersisted, ME).toPromise();
  expect(error).toBeUndefined();
  expect(data?.player?.referredFriendsConnection?.edges[0]?.node.displayName).toBe('Friend 1');
  expect(requests.sent).toEqual([expect.objectContaining({ query: undefined, hash: id, status: 200 })]);
});
