import { afterAll, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';

const both = await startBoth();
afterAll(() => both.close());

const friendsNamed = (characters: number, character = 'n') => ({
  json: {
    referredFriends: Array.from({ length: 200 }, (_, index) => ({
      playerUniqueId: `f${index}`,
      displayName: character.repeat(characters),
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

test.each([
  ['characters of three bytes', '€', 3],
  ['characters that JSON escapes', '\u0001', 6],
])('counts the bytes of %s', async (_what, character, bytes) => {
  both.upstream.on('GET /referrals', friendsNamed(810 / bytes, character));
  const { data, errors, text } = await both.gateway.query(FRIENDS);
  expect(errors).toEqual([]);
  expect(data.player.referredFriends.nodes).toHaveLength(200);
  expect(Buffer.byteLength(text)).toBeLessThan(4 * 1_024 * 1_024);
  both.upstream.on('GET /referrals', friendsNamed(834 / bytes, character));
  expect((await both.gateway.query(FRIENDS)).errors).toMatchObject([{ extensions: { limit: 'response' } }]);
});

test('refuses a long response of few fields', async () => {
  const code = 'c'.repeat(1_500_000);
  both.upstream.on('GET /coupon', { json: { coupons: [{ code }] } });
  const few = '{ player(playerUniqueId: "p1") { coupons { a: code b: code c: code } } }';
  expect((await both.gateway.query(few)).errors).toMatchObject([{ extensions: { limit: 'response' } }]);
});

test('sends a response below 4 MB', async () => {
  both.upstream.on('GET /referrals', friendsNamed(500));
  const { data, errors, text } = await both.gateway.query(FRIENDS);
  expect(errors).toEqual([]);
  expect(data.player.referredFriends.nodes).toHaveLength(200);
  expect(text.length).toBeGreaterThan(2_500_000);
});

test('refuses 300,000 coupons in 4.5 MB of the REST service, and reads no more than 2 MB of them', async () => {
  const raw = `{"coupons":[${Array(300_000).fill('{"code":"abcd"}').join()}]}`;
  expect(raw.length).toBeGreaterThan(4_500_000);
  both.upstream.on('GET /coupon', { raw });
  const { data, errors } = await both.gateway.query('{ player(playerUniqueId: "p1") { id coupons { code } } }');
  expect(data).toEqual({ player: { id: 'p1', coupons: null } });
  expect(errors).toMatchObject([{ path: ['player', 'coupons'], extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } }]);
});
