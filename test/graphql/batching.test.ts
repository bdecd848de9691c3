import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';

/*
 * What an operation costs the REST service: each row is an operation and the exact list of requests it may cause.
 * Their order does not matter, since they start together.
 */
const PLAYER = 'GET /integrations/player/p1';
const COUPONS = 'GET /integrations/transactions/p1/coupon';
const referrals = (page: number, limit: number, id = 'p1') =>
  `GET /integrations/players/${id}/referrals?page=${page}&limit=${limit}`;
const player = (selection: string) => `player(playerUniqueId: "p1") { ${selection} }`;
const couponsOf = (...ids: string[]) => ids.map((id) => `GET /integrations/transactions/${id}/coupon`);
const twenty = Array.from({ length: 20 }, (_, index) => `p${index + 1}`);
const WRITE = 'POST /integrations/player';
const EVENT = 'POST /integrations/event';

const rows: [operation: string, ...requests: string[]][] = [
  [player('attributes { displayName }'), PLAYER],
  [player('id'), PLAYER],
  [player('referralLink coupons { code }'), PLAYER, COUPONS],
  [player('coupons { code }'), COUPONS],
  [player('__typename id playerUniqueId coupons { code }'), COUPONS],
  [player('coupons { code } referredFriends { total }'), COUPONS, referrals(1, 1)],
  ['node(id: "p1") { id }', PLAYER],
  ['node(id: "p1") { id ... on Player { ... on Node { id } coupons { code } } }', COUPONS],
  [`players(playerUniqueIds: ${JSON.stringify(twenty)}) { id coupons { code } }`, ...couponsOf(...twenty)],
  ['players(playerUniqueIds: ["p1", "p2", "p1"]) { id }', PLAYER, 'GET /integrations/player/p2'],
  [player('id referralLink fr: referralLink(lang: "fr")'), PLAYER, PLAYER],
  [player('id fr: referralLink(lang: "fr")'), PLAYER],
  [player('id referralLink(lang: null)'), PLAYER],
  ['player(playerUniqueId: "p1", lang: "fr") { referralLink fr: referralLink(lang: "fr") }', PLAYER],
  [`en: ${player('id')} fr: player(playerUniqueId: "p1", lang: "fr") { id }`, PLAYER, PLAYER],
  [
    player('id attributes { displayName } coupons { code } referredFriends { nodes { status } }'),
    ...[PLAYER, COUPONS, referrals(1, 50)],
  ],
  ['__typename'],
  [twenty.map((alias) => `${alias}: ${player('id coupons { code }')}`).join(' '), COUPONS],
  [player('referredFriends { total totalPending totalActive }'), referrals(1, 1)],
  [
    player('referredFriendsConnection(first: 0) { totalCount edges { cursor } pageInfo { hasNextPage } }'),
    referrals(1, 1),
  ],
  [
    player(
      'referredFriends(limit: 1) { count } b: referredFriends(limit: 200) { count } referredFriendsConnection(first: 20) { nodes { id } }',
    ),
    ...[referrals(1, 1), referrals(1, 200), referrals(1, 20)],
  ],
  [
    player(
      'a: referredFriends(limit: 20) { count } b: referredFriends(page: 2, limit: 20) { count } c: referredFriends(limit: 20) { count }',
    ),
    ...[referrals(1, 20), referrals(2, 20)],
  ],
  [player('a: referredFriends { total } b: referredFriends(page: 3, limit: 5) { count }'), referrals(3, 5)],
  [
    player('referredFriends(limit: 2) { nodes { player { id coupons { code } } } }'),
    referrals(1, 2),
    ...couponsOf('f1', 'f2'),
  ],
  [player('id coupons @skip(if: true) { code }'), PLAYER],
  [player('... on Player @include(if: true) { coupons { code } }'), COUPONS],
  ['mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { player { id coupons { code } } } }', WRITE, COUPONS],
  [
    `mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { player { id } }
      trackEvents(input: { playerUniqueId: "p1", events: [{ name: "place_order" }] }) { player { id } } }`,
    ...[WRITE, PLAYER, EVENT, PLAYER],
  ],
];

const both = await startBoth();
const query = (operation: string) =>
  both.gateway.query(operation.startsWith('mutation') ? operation : `{ ${operation} }`);
beforeEach(() => both.upstream.forget());
afterAll(() => both.close());

test.each(rows)('%s', async (operation, ...requests) => {
  const { errors, status } = await query(operation);
  expect({ status, errors }).toEqual({ status: 200, errors: [] });
  expect(both.upstream.calls().sort()).toEqual(requests.sort());
});

test('the player, its coupons and its friends are asked for before any of them has answered', async () => {
  const { upstream } = both;
  const held = [upstream.hold('GET /player'), upstream.hold('GET /coupon'), upstream.hold('GET /referrals')];
  const answer = query(player('id referralLink coupons { code } referredFriends { nodes { status } }'));
  await Promise.all(held.map(({ arrived }) => arrived));
  for (const { release } of held) release();
  expect((await answer).errors).toEqual([]);
});

describe('a player of which only coupons or friends are selected', () => {
  const COUPONS_DOWN = { status: 500 };
  const UNKNOWN = { status: 404, json: { code: 101, message: 'unknown' } };
  const screen = player('id coupons { code } referredFriends { total }');
  beforeEach(() => {
    both.upstream.on('GET /coupon', 'usual');
    both.upstream.on('GET /referrals', 'usual');
  });
  afterAll(() => {
    both.upstream.on('GET /coupon', 'usual');
    both.upstream.on('GET /referrals', 'usual');
  });

  test.each([
    ['404', { status: 404 }],
    ['code 101 with 400', { status: 400, json: { code: 101 } }],
    ['code 101 with 200', { json: { code: 101 } }],
  ])('is null where they are answered %s', async (_name, answer) => {
    both.upstream.on('GET /coupon', answer);
    const { data, errors } = await both.gateway.query(
      '{ player(playerUniqueId: "p1") { id coupons { code } } players(playerUniqueIds: ["p1", "p2"]) { coupons { code } } }',
    );
    expect({ data, errors }).toEqual({ data: { player: null, players: [null, null] }, errors: [] });
  });

  test('is there where they are an empty list', async () => {
    both.upstream.on('GET /coupon', { json: { coupons: [] } });
    const { data, errors } = await query(player('id coupons { code }'));
    expect({ data, errors }).toEqual({ data: { player: { id: 'p1', coupons: [] } }, errors: [] });
  });

  test('is there without them where they fail, with an error at their path', async () => {
    both.upstream.on('GET /coupon', COUPONS_DOWN);
    const { data, errors } = await query(player('id playerUniqueId coupons { code }'));
    expect(data).toEqual({ player: { id: 'p1', playerUniqueId: 'p1', coupons: null } });
    expect(errors.map(({ path, extensions }) => [path, extensions['code']])).toEqual([
      [['player', 'coupons'], 'UPSTREAM_UNAVAILABLE'],
    ]);
    expect(both.upstream.calls().filter((call) => call.includes('/player/'))).toEqual([]);
  });

  test('is there where one of them fails and the other is found, and null where the other says that it is not', async () => {
    both.upstream.on('GET /coupon', COUPONS_DOWN);
    expect((await query(screen)).data.player).toEqual({
      id: 'p1',
      coupons: null,
      referredFriends: { total: 60 },
    });
    both.upstream.on('GET /referrals', UNKNOWN);
    const { data, errors } = await query(screen);
    expect({ data, errors }).toEqual({ data: { player: null }, errors: [] });
  });

  test('is read itself where they cannot be, for a bad argument', async () => {
    const { data, errors } = await query(player('id referredFriends(limit: 201) { total }'));
    expect(data).toEqual({ player: { id: 'p1', referredFriends: null } });
    expect(errors.map(({ extensions }) => extensions['code'])).toEqual(['BAD_USER_INPUT']);
    expect(both.upstream.calls()).toEqual([PLAYER]);
  });
});

test('a language is asked for in the payload of a write, and a link has its own', async () => {
  const { data } = await both.gateway.query(
    `mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { player(lang: "fr") { id referralLink en: referralLink(lang: "en") } }
      trackEvents(input: { playerUniqueId: "p1", events: [{ name: "e" }] }) { player(lang: "de") { referralLink } } }`,
  );
  expect(data.upsertPlayer.player.id).toBe('p1');
  const languages = both.upstream.requests
    .filter(({ endpoint }) => endpoint === 'GET /player')
    .map(({ headers }) => headers['lang']);
  expect(languages.sort()).toEqual(['de', 'en', 'fr']);
});
