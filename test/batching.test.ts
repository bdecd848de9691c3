import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startBoth } from './kit/gateway.ts';

/*
 * What an operation costs the REST service: each row is an operation and the exact list of requests it may cause.
 * Their order does not matter, since they start together.
 */
const PLAYER = 'GET /integrations/player/p1';
const COUPONS = 'GET /integrations/transactions/p1/coupon';
const referrals = (page: number, limit: number, id = 'p1') =>
  `GET /integrations/players/${id}/referrals?page=${page}&limit=${limit}`;
const player = (selection: string) => `{ player(playerUniqueId: "p1") { ${selection} } }`;

const rows: [name: string, operation: string, requests: string[]][] = [
  ['a player', player('attributes { displayName }'), [PLAYER]],
  ['a player and its coupons', player('id coupons { code }'), [PLAYER, COUPONS]],
  [
    'the whole screen',
    player('id coupons { code } referredFriends { nodes { status } }'),
    [PLAYER, COUPONS, referrals(1, 50)],
  ],
  ['nothing but __typename', '{ __typename }', []],
  [
    'one player under ten aliases',
    `{ ${Array.from({ length: 10 }, (_, i) => `a${i}: player(playerUniqueId: "p1") { id coupons { code } }`).join(' ')} }`,
    [PLAYER, COUPONS],
  ],
  [
    'players, one of them twice',
    '{ players(playerUniqueIds: ["p1", "p2", "p1"]) { id } }',
    [PLAYER, 'GET /integrations/player/p2'],
  ],
  [
    'one player in two languages',
    '{ a: player(playerUniqueId: "p1", lang: "en") { id } b: player(playerUniqueId: "p1", lang: "fr") { id } }',
    [PLAYER, PLAYER],
  ],
  ['totals alone', player('referredFriends { total totalPending totalActive }'), [PLAYER, referrals(1, 1)]],
  [
    'two pages and a connection that one page covers',
    player(
      'a: referredFriends(limit: 1) { nodes { status } } b: referredFriends(limit: 200) { nodes { status } } referredFriendsConnection(first: 20) { nodes { status } }',
    ),
    [PLAYER, referrals(1, 200)],
  ],
  [
    'two pages that lie together',
    player('a: referredFriends(page: 1, limit: 20) { count } b: referredFriends(page: 2, limit: 20) { count }'),
    [PLAYER, referrals(1, 40)],
  ],
  [
    'two pages too far apart to be one',
    player('a: referredFriends(page: 1, limit: 10) { count } b: referredFriends(page: 20, limit: 10) { count }'),
    [PLAYER, referrals(1, 10), referrals(20, 10)],
  ],
  [
    'totals and a page',
    player('a: referredFriends { total } b: referredFriends(page: 3, limit: 5) { nodes { status } }'),
    [PLAYER, referrals(3, 5)],
  ],
  [
    'friends as players, with their coupons',
    player('referredFriends(limit: 2) { nodes { player { id coupons { code } } } }'),
    [
      PLAYER,
      referrals(1, 2),
      'GET /integrations/player/f1',
      'GET /integrations/player/f2',
      'GET /integrations/transactions/f1/coupon',
      'GET /integrations/transactions/f2/coupon',
    ],
  ],
  ['a field that is skipped', player('id coupons @skip(if: true) { code }'), [PLAYER]],
  [
    'a fragment that is included',
    `{ player(playerUniqueId: "p1") { ...F @include(if: true) } } fragment F on Player { coupons { code } }`,
    [PLAYER, COUPONS],
  ],
  [
    'a write and the next screen',
    'mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { player { id coupons { code } } userErrors { code } } }',
    ['POST /integrations/player', PLAYER, COUPONS],
  ],
  [
    'a read, a write, and the read again',
    `mutation { a: upsertPlayer(input: { playerUniqueId: "p1" }) { player { id } }
      b: trackEvents(input: { playerUniqueId: "p1", events: [{ name: "place_order" }] }) { player { id } } }`,
    ['POST /integrations/player', PLAYER, 'POST /integrations/event', PLAYER],
  ],
];

let both: Awaited<ReturnType<typeof startBoth>>;
beforeAll(async () => {
  both = await startBoth();
});
beforeEach(() => both.upstream.forget());
afterAll(() => both.close());

test.each(rows)('%s', async (_name, operation, requests) => {
  const { errors, status } = await both.gateway.query(operation);
  expect({ status, errors }).toEqual({ status: 200, errors: [] });
  expect(both.upstream.calls().sort()).toEqual([...requests].sort());
});

test('the player, its coupons and its friends are asked for before any of them has answered', async () => {
  const { upstream, gateway } = both;
  const held = [upstream.hold('GET /player'), upstream.hold('GET /coupon'), upstream.hold('GET /referrals')];
  const answer = gateway.query(player('id coupons { code } referredFriends { nodes { status } }'));
  await Promise.all(held.map(({ arrived }) => arrived));
  for (const { release } of held) release();
  expect((await answer).errors).toEqual([]);
});
