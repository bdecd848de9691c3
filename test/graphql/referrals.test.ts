import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';

const both = await startBoth();
beforeEach(() => both.upstream.forget());
afterAll(() => both.close());

async function friends(selection: string) {
  const { data, errors } = await both.gateway.query(`{ player(playerUniqueId: "p1") { ${selection} } }`);
  expect(errors).toEqual([]);
  return data.player;
}

const cursorOf = (...values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url');
const ids = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ playerUniqueId: `f${from + i}` }));

describe('pages', () => {
  test('the last page is short and says that it is the last', async () => {
    const player = await friends('referredFriends(page: 4, limit: 18) { count hasNextPage nodes { playerUniqueId } }');
    expect(player.referredFriends).toEqual({ count: 6, hasNextPage: false, nodes: ids(55, 60) });
  });

  test('a page past the end is empty and keeps its totals', async () => {
    const player = await friends(
      'referredFriends(page: 9, limit: 50) { count total hasNextPage nodes { playerUniqueId } }',
    );
    expect(player.referredFriends).toEqual({ count: 0, total: 60, hasNextPage: false, nodes: [] });
  });

  test('under several aliases each have their own rows', async () => {
    const player = await friends(
      'a: referredFriends(limit: 2) { nodes { playerUniqueId } } b: referredFriends(page: 2, limit: 2) { nodes { playerUniqueId } } referredFriendsConnection(first: 3) { nodes { playerUniqueId } }',
    );
    expect(both.upstream.calls()).toHaveLength(3);
    expect(player).toEqual({
      a: { nodes: ids(1, 2) },
      b: { nodes: ids(3, 4) },
      referredFriendsConnection: { nodes: ids(1, 3) },
    });
  });
});

describe('totals', () => {
  afterAll(() => both.upstream.on('GET /referrals', 'usual'));

  test.each([
    ['alone', 'c: referredFriends { total }', 1],
    [
      'beside a page that fails',
      'b: referredFriends(page: 90, limit: 7) { nodes { id } } c: referredFriends { total }',
      2,
    ],
    [
      'beside a page that fails and one that does not',
      'a: referredFriends { nodes { id } } b: referredFriends(page: 90, limit: 7) { nodes { id } } c: referredFriends { total }',
      2,
    ],
  ])('%s arrive', async (_where, selection, calls) => {
    both.upstream.on('GET /referrals', ({ query }) => (query['page'] === '90' ? { status: 400 } : 'usual'));
    const { data, errors } = await both.gateway.query(`{ player(playerUniqueId: "p1") { ${selection} } }`);
    expect(data.player.c).toEqual({ total: 60 });
    expect(errors.map(({ path }) => path)).toEqual(selection.includes('b:') ? [['player', 'b']] : []);
    expect(both.upstream.calls()).toHaveLength(calls);
  });
});

describe('the connection', () => {
  test('walks the whole list by its cursors, each friend once and in order', async () => {
    const seen: unknown[] = [];
    let after: string | null = null;
    for (;;) {
      const argument: string = after === null ? '' : `, after: ${JSON.stringify(after)}`;
      const { referredFriendsConnection: connection } = await friends(
        `referredFriendsConnection(first: 7${argument}) {
          totalCount edges { cursor node { playerUniqueId } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
        }`,
      );
      const { edges, pageInfo, totalCount } = connection;
      expect(totalCount).toBe(60);
      expect(pageInfo.hasPreviousPage).toBe(after !== null);
      expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges.at(0).cursor, edges.at(-1).cursor]);
      seen.push(...edges.map(({ node }: { node: unknown }) => node));
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
    expect(seen).toEqual(ids(1, 60));
  });

  test("a range that begins between the service's pages is still one call, and fetches less than twice as much", async () => {
    const cursor = cursorOf(24, 'f25');
    const player = await friends(
      `referredFriendsConnection(first: 20, after: "${cursor}") { nodes { playerUniqueId } }`,
    );
    expect(player.referredFriendsConnection.nodes).toEqual(ids(26, 45));
    expect(both.upstream.calls().filter((call) => call.includes('referrals'))).toEqual([
      'GET /integrations/players/p1/referrals?page=2&limit=23',
    ]);
  });

  test('an empty range has no cursors', async () => {
    const cursor = cursorOf(59, 'f60');
    const player = await friends(
      `referredFriendsConnection(after: "${cursor}") { edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`,
    );
    expect(player.referredFriendsConnection).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null },
    });
  });
});

describe('a cursor', () => {
  const cursor = cursorOf;
  const walk = async (after: string, first = 5) => {
    const { referredFriendsConnection: connection } = await friends(
      `referredFriendsConnection(first: ${first}, after: "${after}") { nodes { playerUniqueId } pageInfo { hasNextPage endCursor } }`,
    );
    return connection.nodes.map(({ playerUniqueId }: { playerUniqueId: string }) => playerUniqueId);
  };
  const named = (from: number, to: number) => ids(from, to).map(({ playerUniqueId }) => playerUniqueId);
  /** The list from now on, without some of its sixty friends. */
  const remove = (...gone: string[]) => list(named(1, 60).filter((id) => !gone.includes(id)));
  /** `before` is called before each read. */
  function list(rows: readonly string[], before = () => {}) {
    both.upstream.on('GET /referrals', ({ query }) => {
      before();
      const [page, limit] = [Number(query['page']), Number(query['limit'])];
      const referredFriends = rows
        .slice((page - 1) * limit, page * limit)
        .map((playerUniqueId) => ({ playerUniqueId, status: 'active' }));
      return { json: { referredFriends, total: rows.length } };
    });
  }
  beforeEach(() => both.upstream.on('GET /referrals', 'usual'));
  afterAll(() => both.upstream.on('GET /referrals', 'usual'));

  test('of a list as it was needs no further call', async () => {
    expect(await walk(cursor(24, 'f25', 60), 20)).toEqual(named(26, 45));
    expect(both.upstream.calls()).toEqual(['GET /integrations/players/p1/referrals?page=2&limit=23']);
  });

  test.each([1, 7, 50, 100])('of a page of %d is still one call for the next page', async (first) => {
    list(named(1, 1_000));
    for (const pages of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      both.upstream.forget();
      const last = pages * first;
      expect(await walk(cursor(last - 1, `f${last}`), first)).toEqual(named(last + 1, last + first));
      expect(both.upstream.calls()).toHaveLength(1);
    }
  });

  test('is followed to where its friend is now, so that nobody is left out', async () => {
    remove('f2', 'f9');
    expect(await walk(cursor(9, 'f10', 60))).toEqual(named(11, 15));
    remove(...named(1, 24));
    expect(await walk(cursor(24, 'f25', 60))).toEqual(named(26, 30));
    remove('f60');
    expect(await walk(cursor(9, 'f10', 60))).toEqual(named(11, 15));
  });

  test('whose friend is gone continues where it stood, and brings friends twice rather than not at all', async () => {
    remove('f10');
    expect(await walk(cursor(9, 'f10', 60))).toEqual(named(11, 15));
    remove('f3', 'f10');
    expect(await walk(cursor(9, 'f10', 60))).toEqual(named(11, 15));
    remove('f10', 'f59', 'f60');
    expect(await walk(cursor(9, 'f10', 60))).toEqual([...named(8, 9), ...named(11, 13)]);
    remove('f10');
    expect(await walk(cursor(9, 'f10'))).toEqual(named(11, 15));
  });

  test('is compared again after each read, so that deletions in between leave nobody out', async () => {
    const rows = named(1, 60);
    // Before each of the first four reads two more friends are deleted, the first of the list.
    let reads = 0;
    list(rows, () => {
      if (reads < 4) rows.splice(0, 2);
      reads += 1;
    });
    expect(await walk(cursor(24, 'f25', 60))).toEqual(named(26, 30));
    expect(reads).toBe(5);
  });

  test('whose friend is deleted like others between the reads leaves nobody out', async () => {
    const rows = named(1, 60).filter((id) => id !== 'f25');
    let reads = 0;
    list(rows, () => {
      if (reads < 4) rows.shift();
      reads += 1;
    });
    const found = await walk(cursor(24, 'f25', 60));
    expect(rows).toContain(found[0]);
    expect(rows.indexOf(found[0])).toBeLessThanOrEqual(rows.indexOf('f26'));
  });

  test('at the end of a list that became short brings nothing', async () => {
    remove(...named(1, 60));
    expect(await walk(cursor(59, 'f60', 60))).toEqual([]);
  });

  test('of a friend without an identifier holds the row alone', async () => {
    both.upstream.on('GET /referrals', { json: { referredFriends: [{ status: 'active' }], total: 1 } });
    const { referredFriendsConnection: connection } = await friends(
      'referredFriendsConnection(first: 1) { nodes { id } edges { cursor node { id } } }',
    );
    expect(connection).toEqual({ nodes: [{ id: null }], edges: [{ cursor: cursor(0, null, 1), node: { id: null } }] });
  });

  const RANGES = ['[1]', '[1,2]', '[-1,"f"]', '[1.5,"f"]', '[1e10,"f"]', '[1,"f","x"]', '[1,null,"x"]'];
  test.each(['x', 'row:9', '{"row":1}', 'null', ...RANGES])('cannot be %s', async (text) => {
    const after = Buffer.from(text).toString('base64url');
    const { errors } = await both.gateway.query(
      `{ player(playerUniqueId: "p1") { id referredFriendsConnection(after: "${after}") { totalCount } } }`,
    );
    expect(errors.map(({ extensions }) => extensions['code'])).toEqual(['BAD_USER_INPUT']);
  });
});

describe('an id', () => {
  test('differs for the same friend of another player and for another type, and is the same each time', async () => {
    const query = `{ players(playerUniqueIds: ["p1", "p2"]) { coupons { id code } referredFriends(limit: 2) { nodes { id } } referredFriendsConnection(first: 2) { nodes { id } edges { node { id } } } } }`;
    const { data } = await both.gateway.query(query);
    const seen = data.players.flatMap(
      ({ coupons, referredFriends, referredFriendsConnection: { nodes, edges } }: typeof data) => {
        expect(nodes).toEqual(referredFriends.nodes);
        expect(edges.map(({ node }: typeof data) => node)).toEqual(nodes);
        return [...coupons, ...nodes].map(({ id }: { id: unknown }) => id);
      },
    );
    expect(seen.every((id: unknown) => typeof id === 'string' && /^[\w-]+$/.test(id))).toBe(true);
    expect(new Set(seen).size).toBe(seen.length);
    expect((await both.gateway.query(query)).data).toEqual(data);
  });

  test('under an alias, in a fragment and in filtered coupons is the same', async () => {
    const { data, errors } = await both.gateway.query(
      `{ player(playerUniqueId: "p1") { coupons { id } a: coupons { key: id } b: coupons(filter: {}) { ...F } } }
       fragment F on Coupon { id }`,
    );
    expect(errors).toEqual([]);
    const { coupons, a, b } = data.player;
    expect(a.map(({ key }: { key: string }) => ({ id: key }))).toEqual(coupons);
    expect(b).toEqual(coupons);
  });

  test('is null for a coupon without a code', async () => {
    both.upstream.on('GET /coupon', { json: { coupons: [{ code: 'A' }, { couponType: 'custom' }] } });
    const { coupons } = await friends('coupons { id code }');
    expect(coupons).toEqual([
      { id: Buffer.from('["Coupon","p1","A"]').toString('base64url'), code: 'A' },
      { id: null, code: null },
    ]);
    both.upstream.on('GET /coupon', 'usual');
  });
});

describe('a size', () => {
  test('that is null is the default', async () => {
    const player = await friends(
      'referredFriends(page: null, limit: null) { page limit count } referredFriendsConnection(first: null) { nodes { id } }',
    );
    expect(player.referredFriends).toEqual({ page: 1, limit: 50, count: 50 });
    expect(player.referredFriendsConnection.nodes).toHaveLength(50);
  });

  test('of 0 in a connection brings totals alone', async () => {
    const player = await friends(
      'referredFriendsConnection(first: 0) { totalCount nodes { id } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }',
    );
    expect(player.referredFriendsConnection).toEqual({
      totalCount: 60,
      nodes: [],
      edges: [],
      pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
    expect(both.upstream.calls()).toEqual(['GET /integrations/players/p1/referrals?page=1&limit=1']);
  });
});
