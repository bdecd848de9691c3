import { afterAll, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';

const both = await startBoth();
afterAll(() => both.close());

const friendsNamed = (characters: number) => ({
  json: {
    referredFriends: Array.from({ length: 200 }, (_, index) => ({
      playerUniqueId: `f${index}`,
      displayName: 'n'.repeat(characters),
      status: 'active',
    })),
    total: 200,
  },
});
const aliases = Array.from({ length: 25 }, (_, index) => `a${index}: displayName`).join(' ');
const FRIENDS = `{ player(playerUniqueId: "p1") { referredFriends(limit: 200) { nodes { ${aliases} } } } }`;

test('refuses a response of more than 4 MB', async () => {
  both.upstream.on('GET /referrals', friendsNamed(1_000));
  const { status, data, errors } = await both.gateway.query(FRIENDS);
  expect({ status, data }).toEqual({ status: 200, data: null });
  expect(errors).toMatchObject([
    { extensions: { code: 'OPERATION_TOO_COMPLEX', limit: 'response', max: 4 * 1_024 * 1_024 } },
  ]);
});

test('sends a response below 4 MB', async () => {
  both.upstream.on('GET /referrals', friendsNamed(500));
  const { data, errors, text } = await both.gateway.query(FRIENDS);
  expect(errors).toEqual([]);
  expect(data.player.referredFriends.nodes).toHaveLength(200);
  expect(text.length).toBeGreaterThan(2_500_000);
});
