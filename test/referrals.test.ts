import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { planPages, type RowRange } from '../src/gateway/graphql/loaders/pages.ts';
import { startBoth } from './kit/gateway.ts';

let both: Awaited<ReturnType<typeof startBoth>>;
beforeAll(async () => {
  both = await startBoth();
});
beforeEach(() => both.upstream.forget());
afterAll(() => both.close());

async function friends(selection: string) {
  const { data, errors } = await both.gateway.query(`{ player(playerUniqueId: "p1") { ${selection} } }`);
  expect(errors).toEqual([]);
  return data.player;
}

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

  test('aliases that share one call each get their own rows', async () => {
    const player = await friends(
      'a: referredFriends(limit: 2) { nodes { playerUniqueId } } b: referredFriends(page: 2, limit: 2) { nodes { playerUniqueId } } referredFriendsConnection(first: 3) { nodes { playerUniqueId } }',
    );
    expect(both.upstream.calls()).toHaveLength(2);
    expect(player).toEqual({
      a: { nodes: ids(1, 2) },
      b: { nodes: ids(3, 4) },
      referredFriendsConnection: { nodes: ids(1, 3) },
    });
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
    const cursor = Buffer.from('row:24').toString('base64url');
    const player = await friends(
      `referredFriendsConnection(first: 20, after: "${cursor}") { nodes { playerUniqueId } }`,
    );
    expect(player.referredFriendsConnection.nodes).toEqual(ids(26, 45));
    expect(both.upstream.calls().filter((call) => call.includes('referrals'))).toEqual([
      'GET /integrations/players/p1/referrals?page=2&limit=23',
    ]);
  });

  test('an empty range has no cursors', async () => {
    const cursor = Buffer.from('row:59').toString('base64url');
    const player = await friends(
      `referredFriendsConnection(after: "${cursor}") { edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`,
    );
    expect(player.referredFriendsConnection).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null },
    });
  });
});

describe('the plan of pages', () => {
  const range = fc
    .record({ from: fc.nat(600), size: fc.integer({ min: 0, max: 200 }) })
    .map(({ from, size }): RowRange => ({ from, to: from + size }));

  test('covers every row asked for, with aligned pages of at most 200 and at most twice the rows', () => {
    fc.assert(
      fc.property(fc.array(range, { minLength: 1, maxLength: 6 }), (ranges) => {
        const pages = planPages(ranges);
        expect(new Set(pages.map(({ page, limit }) => `${page} ${limit}`)).size).toBe(pages.length);
        const fetched = new Set(
          pages.flatMap(({ page, limit }) => Array.from({ length: limit }, (_, i) => (page - 1) * limit + i)),
        );
        const wanted = new Set(ranges.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i)));
        expect([...wanted].filter((row) => !fetched.has(row))).toEqual([]);
        expect(pages.filter(({ page, limit }) => page < 1 || limit > 200)).toEqual([]);
        const rows = pages.reduce((sum, { limit }) => sum + limit, 0);
        expect(rows).toBeLessThanOrEqual(Math.max(1, 2 * wanted.size));
      }),
      { seed: 7, numRuns: 300 },
    );
  });

  test('has no page twice', () => {
    const ranges = [
      { from: 8, to: 201 },
      { from: 206, to: 385 },
    ];
    expect(planPages(ranges)).toEqual([
      { page: 1, limit: 193 },
      { page: 2, limit: 193 },
    ]);
  });

  test('is one call where one call will do, and hardly ever more than the best plan that trying everything finds', () => {
    const small = fc
      .record({ from: fc.nat(24), size: fc.integer({ min: 1, max: 8 }) })
      .map(({ from, size }): RowRange => ({ from, to: from + size }));
    fc.assert(
      fc.property(fc.array(small, { minLength: 1, maxLength: 3 }), (ranges) => {
        const wanted = [
          ...new Set(ranges.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i))),
        ];
        const fewest = fewestCalls(
          wanted.sort((a, b) => a - b),
          2 * wanted.length,
        );
        const calls = planPages(ranges).length;
        expect([fewest, fewest === 1 ? fewest : fewest + 1]).toContain(calls);
      }),
      { seed: 11, numRuns: 150 },
    );
  });
});

/** Tries every page for the first missing row, and then again, one call more at a time. */
function fewestCalls(rows: readonly number[], bound: number): number {
  for (let calls = 1; ; calls += 1) if (reachable(rows, bound, calls)) return calls;
}

function reachable([first, ...rest]: readonly number[], bound: number, calls: number): boolean {
  if (first === undefined) return true;
  if (calls === 0) return false;
  for (let limit = 1; limit <= Math.min(200, bound); limit += 1) {
    const end = (Math.floor(first / limit) + 1) * limit;
    if (
      reachable(
        rest.filter((row) => row >= end),
        bound - limit,
        calls - 1,
      )
    )
      return true;
  }
  return false;
}
