import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';
import type { Script } from '../kit/upstream.ts';

/*
 * What an operation costs the REST service: each row is an operation and the exact list of requests it may cause.
 * Their order does not matter, since they start together.
 */
const PLAYER = 'GET /integrations/player/p1';
const COUPONS = 'GET /integrations/transactions/p1/coupon';
const referrals = (page: number, limit: number) => `GET /integrations/players/p1/referrals?page=${page}&limit=${limit}`;
const couponsOf = (...ids: string[]) => ids.map((id) => `GET /integrations/transactions/${id}/coupon`);
const twenty = Array.from({ length: 20 }, (_, index) => `p${index + 1}`);

const both = await startBoth();
const { upstream } = both;
beforeEach(() => {
  upstream.forget();
  for (const endpoint of ['GET /coupon', 'GET /referrals'] as const) upstream.on(endpoint, 'usual');
});
afterAll(() => both.close());

const query = (operation: string) => both.gateway.query(operation);
const player = (selection: string) => query(`{ player(playerUniqueId: "p1") { ${selection} } }`);

test.each<[selection: string, ...requests: string[]]>([
  ['attributes { displayName }', PLAYER],
  ['id', PLAYER],
  ['referralLink coupons { code }', PLAYER, COUPONS],
  ['__typename id playerUniqueId coupons { code }', COUPONS],
  ['coupons { code } referredFriends { total }', COUPONS, referrals(1, 1)],
  ['id referralLink fr: referralLink(lang: "fr")', PLAYER, PLAYER],
  ['id fr: referralLink(lang: "fr")', PLAYER],
  ['id referralLink(lang: null)', PLAYER],
  ['attributes { city } coupons { code } referredFriends { nodes { status } }', PLAYER, COUPONS, referrals(1, 50)],
  ['referredFriends { total totalPending totalActive }', referrals(1, 1)],
  ['referredFriendsConnection(first: 0) { edges { cursor } pageInfo { hasNextPage } }', referrals(1, 1)],
  [
    'a: referredFriends(limit: 20) { count } b: referredFriends(page: 2, limit: 20) { count }',
    ...[referrals(1, 20), referrals(2, 20)],
  ],
  [
    'a: referredFriends(limit: 20) { count } b: referredFriendsConnection(first: 20) { nodes { id } }',
    referrals(1, 20),
  ],
  ['a: referredFriends { total } b: referredFriends(page: 3, limit: 5) { count }', referrals(3, 5)],
  ['referredFriends(limit: 2) { nodes { player { id coupons { code } } } }', referrals(1, 2), ...couponsOf('f1', 'f2')],
  ['id coupons @skip(if: true) { code }', PLAYER],
  ['... on Player @include(if: true) { coupons { code } }', COUPONS],
])('a player with { %s }', async (selection, ...requests) => {
  const { errors } = await player(selection);
  expect([errors, upstream.calls().sort()]).toEqual([[], requests.sort()]);
});

const P1 = 'playerUniqueId: "p1"';
const [WRITE, EVENT] = ['POST /integrations/player', 'POST /integrations/event'];
test.each<[operation: string, ...requests: string[]]>([
  ['{ __typename }'],
  ['{ node(id: "p1") { id } }', PLAYER],
  ['{ node(id: "p1") { id ... on Player { ... on Node { id } coupons { code } } } }', COUPONS],
  [`{ players(playerUniqueIds: ${JSON.stringify(twenty)}) { id coupons { code } } }`, ...couponsOf(...twenty)],
  ['{ players(playerUniqueIds: ["p1", "p2", "p1"]) { id } }', PLAYER, 'GET /integrations/player/p2'],
  [`{ player(${P1}, lang: "fr") { referralLink fr: referralLink(lang: "fr") } }`, PLAYER],
  [`{ en: player(${P1}) { id } fr: player(${P1}, lang: "fr") { id } }`, PLAYER, PLAYER],
  [`{ ${twenty.map((alias) => `${alias}: player(${P1}) { coupons { code } }`)} }`, COUPONS],
  [`mutation { upsertPlayer(input: { ${P1} }) { player { id coupons { code } } } }`, WRITE, COUPONS],
  [
    `mutation { upsertPlayer(input: { ${P1} }) { player { id } } trackEvents(input: { ${P1}, events: [{ name: "a" }] }) { player { id } } }`,
    ...[WRITE, PLAYER, EVENT, PLAYER],
  ],
])('%s', async (operation, ...requests) => {
  const { errors } = await query(operation);
  expect([errors, upstream.calls().sort()]).toEqual([[], requests.sort()]);
});

test('the player, its coupons and its friends are asked for before any of them has answered', async () => {
  const held = [upstream.hold('GET /player'), upstream.hold('GET /coupon'), upstream.hold('GET /referrals')];
  const answer = player('id referralLink coupons { code } referredFriends { nodes { status } }');
  await Promise.all(held.map(({ arrived }) => arrived));
  for (const { release } of held) release();
  expect((await answer).errors).toEqual([]);
});

describe('a player of which only coupons or friends are selected', () => {
  const DOWN = { status: 500 };

  test.each<[string, Script]>([
    ['404', { status: 404 }],
    ['code 101 with 400', { status: 400, json: { code: 101 } }],
    ['code 101 with 200', { json: { code: 101 } }],
  ])('is null where they are answered %s', async (_name, answer) => {
    upstream.on('GET /coupon', answer);
    const { data, errors } = await query(
      `{ player(${P1}) { id coupons { code } } players(playerUniqueIds: ["p1", "p2"]) { coupons { code } } }`,
    );
    expect({ data, errors }).toEqual({ data: { player: null, players: [null, null] }, errors: [] });
  });

  test('is there where they are an empty list', async () => {
    upstream.on('GET /coupon', { json: { coupons: [] } });
    const { data, errors } = await player('id coupons { code }');
    expect({ data, errors }).toEqual({ data: { player: { id: 'p1', coupons: [] } }, errors: [] });
  });

  test('is there without them where they fail, with an error at their path', async () => {
    upstream.on('GET /coupon', DOWN);
    const { data, errors } = await player('id playerUniqueId coupons { code }');
    expect(data.player).toEqual({ id: 'p1', playerUniqueId: 'p1', coupons: null });
    expect(errors).toMatchObject([{ path: ['player', 'coupons'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
    expect(upstream.calls()).not.toContain(PLAYER);
  });

  test('is there where one of them fails and the other is found, and null where the other says that it is not', async () => {
    upstream.on('GET /coupon', DOWN);
    const selection = 'id coupons { code } referredFriends { total }';
    expect((await player(selection)).data.player).toEqual({ id: 'p1', coupons: null, referredFriends: { total: 60 } });
    upstream.on('GET /referrals', { status: 404 });
    const { data, errors } = await player(selection);
    expect({ data, errors }).toEqual({ data: { player: null }, errors: [] });
  });

  test('is read itself where they cannot be, for a bad argument', async () => {
    const { data, errors } = await player('id referredFriends(limit: 201) { total }');
    expect(data.player).toEqual({ id: 'p1', referredFriends: null });
    expect(errors.map(({ extensions }) => extensions['code'])).toEqual(['BAD_USER_INPUT']);
    expect(upstream.calls()).toEqual([PLAYER]);
  });
});

test('a language is asked for in the payload of a write, and a link has its own', async () => {
  await query(
    `mutation { upsertPlayer(input: { ${P1} }) { player(lang: "fr") { referralLink en: referralLink(lang: "en") } }
      trackEvents(input: { ${P1}, events: [{ name: "e" }] }) { player(lang: "de") { referralLink } } }`,
  );
  const reads = upstream.requests.filter(({ endpoint }) => endpoint === 'GET /player');
  expect(reads.map(({ headers }) => headers['lang']).sort()).toEqual(['de', 'en', 'fr']);
});
