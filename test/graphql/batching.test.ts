import { beforeEach, describe, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';
import { rows } from '../kit/rows.ts';

const both = await startBoth();
const { upstream } = both;
beforeEach(() => upstream.reset());

const query = (operation: string) => both.gateway.query(operation);
const player = (selection: string) => query(`{ player(playerUniqueId: "p1") { ${selection} } }`);

/** The requests that a row names in short: `player p1`, `coupons p1`, `friends p1 1 50` (page and limit), `upsert`, `event`. */
const REQUESTS: Record<string, (...words: string[]) => string> = {
  player: (id) => `GET /integrations/player/${id}`,
  coupons: (id) => `GET /integrations/transactions/${id}/coupon`,
  friends: (id, page, limit) => `GET /integrations/players/${id}/referrals?page=${page}&limit=${limit}`,
  upsert: () => 'POST /integrations/player',
  event: () => 'POST /integrations/event',
};

// Each row: an operation, or the selection of a player, and all requests that it causes, in any order.
test.each(
  rows<[operation: string, requests: string]>(`
  id | player p1
  referralLink coupons { code } | player p1, coupons p1
  coupons { code } referredFriends { total } | coupons p1, friends p1 1 1
  id referralLink fr: referralLink(lang: "fr") | player p1, player p1
  id referralLink(lang: null) | player p1
  attributes { city } coupons { code } referredFriends { nodes { status } } | player p1, coupons p1, friends p1 1 50
  referredFriendsConnection(first: 0) { edges { cursor } pageInfo { hasNextPage } } | friends p1 1 1
  a: referredFriends(limit: 20) { count } b: referredFriends(page: 2, limit: 20) { count } | friends p1 1 20, friends p1 2 20
  a: referredFriends(limit: 20) { count } b: referredFriendsConnection(first: 20) { nodes { id } } | friends p1 1 20
  a: referredFriends { total } b: referredFriends(page: 3, limit: 5) { count } | friends p1 3 5
  referredFriends(limit: 2) { nodes { player { id coupons { code } } } } | friends p1 1 2, coupons f1, coupons f2
  id coupons @skip(if: true) { code } | player p1
  { node(id: "p1") { id ... on Player { ... on Node { id } coupons { code } } } } | coupons p1
  { players(playerUniqueIds: ["p1", "p2", "p3"]) { id coupons { code } } } | coupons p1, coupons p2, coupons p3
  { players(playerUniqueIds: ["p1", "p2", "p1"]) { id } } | player p1, player p2
  { en: player(playerUniqueId: "p1") { id } fr: player(playerUniqueId: "p1", lang: "fr") { id } } | player p1, player p1
  { a: player(playerUniqueId: "p1") { coupons { code } } b: player(playerUniqueId: "p1") { coupons { value } } } | coupons p1
  mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { player { id coupons { code } } } } | upsert, coupons p1
  mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { player { id } } trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a" }] }) { player { id } } } | upsert, player p1, event, player p1
  `),
)('%s causes: %s', async (operation, requests) => {
  const { errors } = await (/^\{|^mutation/.test(operation) ? query(operation) : player(operation));
  const paths = requests.split(', ').map((request) => {
    const [name = '', ...words] = request.split(' ');
    return REQUESTS[name]?.(...words);
  });
  expect([errors, upstream.calls().sort()]).toEqual([[], paths.sort()]);
});

test('totals alone count as calls of the operation', async () => {
  const few = await startBoth({ MAX_UPSTREAM_CALLS: '2' });
  const friends = 'referredFriends(limit: 2) { nodes { player { referredFriends { total } } } }';
  const { codes } = await few.gateway.query(`{ player(playerUniqueId: "p1") { ${friends} } }`);
  expect(codes).toEqual(Array(2).fill('OPERATION_TOO_COMPLEX'));
  expect(few.upstream.calls()).toHaveLength(1);
});

test('the player, its coupons and its friends are asked for before any of them has answered', async () => {
  const held = [upstream.hold('GET /player'), upstream.hold('GET /coupon'), upstream.hold('GET /referrals')];
  const answer = player('id referralLink coupons { code } referredFriends { nodes { status } }');
  await Promise.all(held.map(({ arrived }) => arrived));
  for (const { release } of held) release();
  expect((await answer).errors).toEqual([]);
});

test('what still waits for a connection when its player is unknown is not sent; what is in flight keeps its own', async () => {
  const one = await startBoth({ REST_CONNECTIONS: '1' });
  one.upstream.on('GET /player', { status: 404 }, { status: 404 }, 'usual');
  const held = one.upstream.hold('GET /coupon');
  const screen = (id: string) =>
    one.gateway.query(`{ player(playerUniqueId: "${id}") { referralLink coupons { code } } }`);
  for (const id of ['p1', 'p2']) expect((await screen(id)).data).toEqual({ player: null });
  await held.arrived;
  held.release();
  expect((await screen('p3')).data.player.coupons).toHaveLength(10);
  const coupons = one.upstream.requests.filter(({ endpoint }) => endpoint === 'GET /coupon');
  expect(coupons.map(({ playerUniqueId }) => playerUniqueId)).toEqual(['p1', 'p3']);
  expect(one.upstream.connections()).toBe(2);
});

describe('a player of which only coupons or friends are selected', () => {
  // Not sent again, so that no retry comes in a later test.
  const DOWN = { status: 400 };

  test('is null where they are answered that it is unknown', async () => {
    upstream.on('GET /coupon', { status: 404 });
    const players = 'players(playerUniqueIds: ["p1", "p2"]) { coupons { code } }';
    const { data, errors } = await query(`{ player(playerUniqueId: "p1") { id coupons { code } } ${players} }`);
    expect({ data, errors }).toEqual({ data: { player: null, players: [null, null] }, errors: [] });
  });

  test('is there where they are an empty list', async () => {
    upstream.on('GET /coupon', { json: { coupons: [] } });
    expect((await player('id coupons { code }')).data.player).toEqual({ id: 'p1', coupons: [] });
  });

  test('is there without them where they fail, with an error at their path', async () => {
    upstream.on('GET /coupon', DOWN);
    const { data, errors } = await player('id playerUniqueId coupons { code }');
    expect(data.player).toEqual({ id: 'p1', playerUniqueId: 'p1', coupons: null });
    expect(errors).toMatchObject([{ path: ['player', 'coupons'], extensions: { code: 'UPSTREAM_REJECTED' } }]);
    expect(upstream.calls()).toHaveLength(1);
  });

  test('is there where one of them fails and the other is found, and null where the other says that it is not', async () => {
    upstream.on('GET /coupon', DOWN);
    const selection = 'id coupons { code } referredFriends { total }';
    expect((await player(selection)).data.player).toEqual({ id: 'p1', coupons: null, referredFriends: { total: 60 } });
    upstream.on('GET /referrals', { status: 404 });
    expect(await player(selection)).toMatchObject({ data: { player: null }, errors: [] });
  });

  test('is read itself where they cannot be, for a bad argument', async () => {
    const { data, errors } = await player('id referredFriends(limit: 201) { total }');
    expect(data.player).toEqual({ id: 'p1', referredFriends: null });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(upstream.calls()).toEqual([REQUESTS['player']?.('p1')]);
  });
});

test('a language is asked for in the payload of a write, and a link has its own', async () => {
  await query(
    `mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { player(lang: "fr") { referralLink en: referralLink(lang: "en") } }
      trackEvents(input: { playerUniqueId: "p1", events: [{ name: "e" }] }) { player(lang: "de") { referralLink } } }`,
  );
  const reads = upstream.requests.filter(({ endpoint }) => endpoint === 'GET /player');
  expect(reads.map(({ headers }) => headers['lang']).sort()).toEqual(['de', 'en', 'fr']);
});

test('a part that fails first does not decide whether the player exists', async () => {
  upstream.on('GET /coupon', { status: 500 });
  const slow = upstream.hold('GET /referrals', { status: 404, json: { code: 101, message: 'unknown' } });
  const answer = player('id coupons { code } referredFriends(limit: 2) { total }');
  await slow.arrived;
  await upstream.received(2);
  slow.release();
  expect((await answer).data).toEqual({ player: null });
});
