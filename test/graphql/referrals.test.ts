import { beforeEach, describe, expect, test } from '@jest/globals';
import { secretOf } from '../../src/config/secret.ts';
import { createFriendHash } from '../../src/graphql/loaders/connection.ts';
import { startBoth } from '../kit/gateway.ts';
import { API_KEY } from '../kit/upstream.ts';

/* The lists of a player who referred sixty friends. */
const both = await startBoth();
beforeEach(() => both.upstream.reset());

const query = (selection: string) => both.gateway.query(`{ player(playerUniqueId: "p1") { ${selection} } }`);
async function ask(field: string) {
  const { data, errors } = await query(`list: ${field}`);
  expect(errors).toEqual([]);
  return data.player.list;
}
const CONNECTION = (args: string) =>
  `referredFriendsConnection${args} { totalCount nodes { playerUniqueId } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`;
/** The pages of a connection, each after the last cursor of the one before; a hundred at most. */
async function pagesOf(first: number) {
  const pages = [await ask(CONNECTION(`(first: ${first})`))];
  for (let { pageInfo } = pages[0]; pageInfo.hasNextPage && pages.length < 100; { pageInfo } = pages.at(-1)) {
    pages.push(await ask(CONNECTION(`(first: ${first}, after: ${JSON.stringify(pageInfo.endCursor)})`)));
  }
  return pages;
}
const base64 = (...values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url');
const hashFriend = createFriendHash(secretOf(API_KEY));
const cursor = (row: number, friend: string | null) => base64(row, friend && hashFriend('p1', friend));
const named = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `f${from + i}`);
const idsOf = (nodes: { playerUniqueId: string }[]) => nodes.map(({ playerUniqueId }) => playerUniqueId);

test.each([
  ['the last page', 'page: 4, limit: 18', named(55, 60), false],
  ['a page past the end', 'page: 9, limit: 50', [], false],
  ['a last page that is full', 'page: 3, limit: 20', named(41, 60), false],
  ['null as page and limit: the defaults', 'page: null, limit: null', named(1, 50), true],
])('%s: %s', async (_what, page, friends, hasNextPage) => {
  const list = await ask(`referredFriends(${page}) { count total hasNextPage nodes { playerUniqueId } }`);
  const { length: count } = friends;
  expect({ ...list, nodes: idsOf(list.nodes) }).toEqual({ count, total: 60, hasNextPage, nodes: friends });
});

test('a total below the friends of one page does not end the list', async () => {
  const referredFriends = named(1, 4).map((playerUniqueId) => ({ playerUniqueId }));
  both.upstream.on('GET /referrals', { json: { referredFriends, total: 3 } });
  const lists = 'page: referredFriends(limit: 4) { hasNextPage } short: referredFriends(limit: 9) { hasNextPage }';
  const { data } = await query(`${lists} more: referredFriendsConnection(first: 4) { pageInfo { hasNextPage } }`);
  const { page, short, more } = data.player;
  expect([page, short, more.pageInfo].map(({ hasNextPage }) => hasNextPage)).toEqual([true, false, true]);
});

test('pages and connections under several aliases each have their own rows', async () => {
  const nodes = '{ nodes { playerUniqueId } }';
  const pages = `a: referredFriends(limit: 2) ${nodes} b: referredFriends(page: 2, limit: 2) ${nodes}`;
  const { data } = await query(`${pages} c: referredFriendsConnection(first: 3) ${nodes}`);
  const { a, b, c } = data.player;
  expect([a, b, c].map((list) => idsOf(list.nodes))).toEqual([named(1, 2), named(3, 4), named(1, 3)]);
  expect(both.upstream.calls()).toHaveLength(3);
});

test('a friend whose id no player can have is no player, and is not read', async () => {
  both.upstream.on('GET /referrals', { json: { referredFriends: [{ playerUniqueId: '..' }], total: 1 } });
  const list = await ask('referredFriends(limit: 1) { nodes { player { id coupons { code } } } }');
  expect(list).toEqual({ nodes: [{ player: null }] });
  expect(both.upstream.calls()).toHaveLength(1);
});

describe('a connection', () => {
  test('is walked by its cursors, each friend once and in order', async () => {
    const pages = await pagesOf(7);
    for (const [index, { edges, pageInfo, totalCount }] of pages.entries()) {
      expect([totalCount, pageInfo.hasPreviousPage]).toEqual([60, index > 0]);
      expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges.at(0).cursor, edges.at(-1).cursor]);
    }
    expect(pages.flatMap(({ nodes }) => idsOf(nodes))).toEqual(named(1, 60));
  });

  test.each([
    ['that begins at the second friend', `(first: 59, after: "${cursor(0, 'f1')}")`, 59, false, true],
    ['after the last friend', `(after: "${cursor(59, 'f60')}")`, 0, false, true],
    ['of 0 friends', '(first: 0)', 0, true, false],
    ['of null friends: the default', '(first: null)', 50, true, false],
  ])('%s: %s', async (_what, args, length, hasNextPage, hasPreviousPage) => {
    const { nodes, edges, totalCount, pageInfo } = await ask(CONNECTION(args));
    const cursors = length === 0 ? { startCursor: null, endCursor: null } : {};
    expect(pageInfo).toMatchObject({ hasNextPage, hasPreviousPage, ...cursors });
    expect([nodes.length, edges.length, totalCount]).toEqual([length, length, 60]);
  });

  test('of 0 friends says nothing of more where the service gives no total', async () => {
    both.upstream.on('GET /referrals', { json: { referredFriends: [] } });
    const list = await ask(CONNECTION('(first: 0)'));
    expect([list.totalCount, list.pageInfo.hasNextPage]).toEqual([null, false]);
  });
});

describe('a cursor', () => {
  const walk = async (after: string, first = 5) =>
    idsOf(
      (await ask(`referredFriendsConnection(first: ${first}, after: "${after}") { nodes { playerUniqueId } }`)).nodes,
    );
  /** The list from now on. `before` is called before each read. */
  function list(rows: readonly string[], before = () => {}, hidden = '') {
    both.upstream.on('GET /referrals', ({ query: { page, limit } }) => {
      before();
      const shown = rows.slice((Number(page) - 1) * Number(limit), Number(page) * Number(limit));
      const visible = shown.filter((id) => id !== hidden);
      const referredFriends = visible.map((playerUniqueId) => ({ playerUniqueId, status: 'active' }));
      return { json: { referredFriends, total: rows.length } };
    });
  }

  test('of a friend who moved leads on where the service gives no total', async () => {
    both.upstream.on('GET /referrals', ({ query: { page, limit } }) => {
      const shown = ['new', ...named(1, 60)].slice((Number(page) - 1) * Number(limit), Number(page) * Number(limit));
      return { json: { referredFriends: shown.map((playerUniqueId) => ({ playerUniqueId })) } };
    });
    const read = `(first: 5, after: "${cursor(9, 'f10')}") { nodes { playerUniqueId } pageInfo { hasNextPage } }`;
    const { nodes, pageInfo } = await ask(`referredFriendsConnection${read}`);
    expect([idsOf(nodes), pageInfo]).toEqual([named(11, 15), { hasNextPage: true }]);
  });

  test.each([
    ['one page of less than twice as many rows', 25, 20, ['page=2&limit=23']],
    ['one page for the next one of a walk', 7, 7, ['page=1&limit=14']],
    ['one page of more rows', 12, 1, ['page=3&limit=5']],
    ['two adjacent pages, the later one first', 101, 100, ['page=2&limit=101', 'page=1&limit=101']],
  ])('reads %s', async (_what, friend, first, pages) => {
    list(named(1, 600));
    expect(await walk(cursor(friend - 1, `f${friend}`), first)).toEqual(named(friend + 1, friend + first));
    expect(both.upstream.calls()).toEqual(pages.map((page) => `GET /integrations/players/p1/referrals?${page}`));
  });

  test.each<[what: string, friend: number, gone: string[], first: number, last: number]>([
    ['of a friend who moved by two rows', 10, ['f2', 'f9'], 11, 15],
    ['of a friend who moved by 199 rows', 500, named(1, 199), 501, 505],
    ['of a friend who moved by 300 rows leaves nobody out', 500, named(1, 300), 301, 305],
    ['of a friend who is the first now', 25, named(1, 24), 26, 30],
    ['of a friend with later ones deleted', 10, ['f600'], 11, 15],
    ['of a deleted friend starts the list again', 10, ['f10', 'f600'], 1, 5],
    ['of a friend deleted like all others', 60, named(1, 600), 1, 0],
  ])('%s', async (_what, friend, gone, first, last) => {
    list(named(1, 600).filter((id) => !gone.includes(id)));
    expect(await walk(cursor(friend - 1, `f${friend}`))).toEqual(named(first, last));
  });

  test.each(['f25', 'gone'])('of the friend %s, with deletions before three reads, omits nobody', async (friend) => {
    const rows = named(1, 60);
    let reads = 0;
    list(rows, () => {
      reads += 1;
      if (reads <= 3) rows.splice(0, 2);
    });
    const found = await walk(cursor(24, friend));
    const isNew = (id: string) => friend === 'gone' || Number(id.slice(1)) > 25;
    const expected = rows.filter(isNew).slice(0, new Set(found).size);
    expect(found).toEqual(expect.arrayContaining(expected));
    expect(found).toHaveLength(5);
  });

  test('of a range of two pages omits nobody who moves between them', async () => {
    const rows = named(1, 600);
    list(rows, () => rows.splice(0, 1));
    const found = new Set(await walk(cursor(100, 'f101'), 150));
    expect([...found]).toEqual(named(102, 101 + found.size));
  });

  test.each([
    ['leads on where a friend is deleted between two reads', named(1, 329), 164, 164, ['f165'], true],
    ['ends where no friend is left after two reads', named(2, 6), 5, 1, ['f2', 'f3', 'f6'], false],
  ])('%s', async (_what, rows, friend, first, gone, hasNextPage) => {
    const left = rows.filter((id) => !gone.includes(id));
    list(rows, () => void (both.upstream.calls().length === 2 && rows.splice(0, rows.length, ...left)));
    const found = await ask(CONNECTION(`(first: ${first}, after: "${cursor(friend - 1, `f${friend}`)}")`));
    expect(found.pageInfo).toMatchObject({ hasNextPage, endCursor: hasNextPage ? expect.any(String) : null });
  });

  test.each([
    ['a friend joins at the front before each read', (rows: string[]) => void rows.unshift(`new${rows.length}`)],
    ['four join', (rows: string[]) => void rows.unshift(...Array(4).fill('new'))],
    ['the service hides a friend', () => undefined, 'f13'],
  ])('leads through the whole list while %s', async (_what, change, hidden = '') => {
    const rows = named(1, 60);
    list(rows, () => change(rows), hidden);
    const seen = (await pagesOf(10)).flatMap(({ nodes }) => idsOf(nodes));
    expect(seen).toEqual(expect.arrayContaining(named(1, 60).filter((id) => id !== hidden)));
  });

  test('of a friend without an identifier holds the row alone', async () => {
    both.upstream.on('GET /referrals', { json: { referredFriends: [{}, { playerUniqueId: 'f2' }], total: 2 } });
    const found = await ask('referredFriendsConnection(first: 1) { edges { cursor node { id } } }');
    expect(found).toEqual({ edges: [{ cursor: cursor(0, null), node: { id: null } }] });
    expect(await walk(cursor(0, null))).toEqual(['f2']);
  });

  test.each(['x', '{"row":1}', '[1,2]', '[-1,"f"]', '[1e10,"f"]'])('cannot be %s', async (text) => {
    const after = Buffer.from(text).toString('base64url');
    const { errors } = await query(`referredFriendsConnection(after: "${after}") { totalCount }`);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  });
});

test('an id differs for the same friend of another player and for another type, and is the same in each place', async () => {
  const { data } = await both.gateway.query(
    `{ players(playerUniqueIds: ["p1", "p2"]) { coupons { id } again: coupons(filter: {}) { id }
      referredFriends(limit: 2) { nodes { id } } referredFriendsConnection(first: 2) { nodes { id } edges { node { id } } } } }`,
  );
  const seen = data.players.flatMap(({ coupons, again, referredFriends: { nodes }, ...more }: typeof data) => {
    const edges = nodes.map((node: object) => ({ node }));
    expect([again, more.referredFriendsConnection]).toEqual([coupons, { nodes, edges }]);
    return [...coupons, ...nodes].map(({ id }) => id);
  });
  expect(seen.every((id: unknown) => typeof id === 'string' && /^[\w-]+$/.test(id))).toBe(true);
  expect(new Set(seen).size).toBe(seen.length);
});

test('an id is null for a coupon without a code', async () => {
  both.upstream.on('GET /coupon', { json: { coupons: [{ code: 'A' }, { code: '' }] } }, 'usual');
  expect(await ask('coupons { id }')).toEqual([{ id: base64('Coupon', 'p1', 'A') }, { id: null }]);
});
