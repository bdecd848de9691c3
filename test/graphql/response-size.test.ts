import { afterAll, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';

/* A response has at most 4 MB, a text that is kept 16 KB. */
const both = await startBoth();
afterAll(() => both.close());

const MB = 1_024 * 1_024;
const aliases = Array.from({ length: 25 }, (_, index) => `a${index}: displayName`).join(' ');
const FRIENDS = `{ player(playerUniqueId: "p1") { referredFriends(limit: 200) { nodes { ${aliases} } } } }`;

/** 200 friends, each with a name of so many characters that is shown 25 times. */
function read(characters: number, character: string) {
  const displayName = character.repeat(characters);
  const referredFriends = Array.from({ length: 200 }, (_, i) => ({ playerUniqueId: `f${i}`, displayName }));
  both.upstream.on('GET /referrals', { json: { referredFriends, total: 200 } });
  return both.gateway.query(FRIENDS);
}

test.each([
  ['characters of three bytes', '€', 3],
  ['characters that JSON escapes', '\u0001', 6],
])('counts the bytes of %s', async (_what, character, bytes) => {
  const { data, errors, text } = await read(810 / bytes, character);
  expect([errors, data.player.referredFriends.nodes.length]).toEqual([[], 200]);
  expect(Buffer.byteLength(text)).toBeLessThan(4 * MB);
  expect(await read(834 / bytes, character)).toMatchObject({
    status: 200,
    data: null,
    errors: [{ extensions: { code: 'OPERATION_TOO_COMPLEX', limit: 'response', max: 4 * MB } }],
  });
});

test('refuses a long response of few fields', async () => {
  both.upstream.on('GET /coupon', { json: { coupons: [{ code: 'c'.repeat(1_500_000) }] } });
  const few = '{ player(playerUniqueId: "p1") { coupons { a: code b: code c: code } } }';
  expect((await both.gateway.query(few)).errors).toMatchObject([{ extensions: { limit: 'response' } }]);
});

test('a document that is too long to be kept can be sent several times at once', async () => {
  const text = `{ player(playerUniqueId: "p1") { id } } #${'x'.repeat(20_000)}`;
  const answers = await Promise.all(Array.from({ length: 8 }, () => both.gateway.query(text)));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
});
