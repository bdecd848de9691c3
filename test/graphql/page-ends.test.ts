import { afterAll, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';

/* A player with 60 friends: what pages say about the ends of the list. */
const both = await startBoth();
afterAll(() => both.close());

async function ask(field: string) {
  const { data, errors } = await both.gateway.query(`{ player(playerUniqueId: "p1") { list: ${field} } }`);
  expect(errors).toEqual([]);
  return data.player.list;
}

test('the last page of a list has no next page, even when it is full', async () => {
  expect(await ask('referredFriends(page: 2, limit: 20) { hasNextPage }')).toEqual({ hasNextPage: true });
  expect(await ask('referredFriends(page: 3, limit: 20) { hasNextPage }')).toEqual({ hasNextPage: false });
});

test('a connection that begins at the second friend has a previous page', async () => {
  const first = await ask('referredFriendsConnection(first: 1) { pageInfo { endCursor hasPreviousPage hasNextPage } }');
  expect(first.pageInfo).toMatchObject({ hasPreviousPage: false, hasNextPage: true });
  const after = JSON.stringify(first.pageInfo.endCursor);
  const page = 'pageInfo { hasPreviousPage hasNextPage }';
  expect(await ask(`referredFriendsConnection(first: 59, after: ${after}) { ${page} }`)).toEqual({
    pageInfo: { hasPreviousPage: true, hasNextPage: false },
  });
});

test('no friends asked for, and no total of the service: nothing says that there are more', async () => {
  both.upstream.on('GET /referrals', { json: { referredFriends: [] } }, 'usual');
  expect(await ask('referredFriendsConnection(first: 0) { totalCount pageInfo { hasNextPage } }')).toEqual({
    totalCount: null,
    pageInfo: { hasNextPage: false },
  });
});

test('a friend whose id no player can have is no player, and is not asked for', async () => {
  both.upstream.forget();
  both.upstream.on('GET /referrals', { json: { referredFriends: [{ playerUniqueId: '..' }], total: 1 } }, 'usual');
  expect(await ask('referredFriends(limit: 1) { nodes { player { id coupons { code } } } }')).toEqual({
    nodes: [{ player: null }],
  });
  expect(both.upstream.calls()).toEqual(['GET /integrations/players/p1/referrals?page=1&limit=1']);
});
