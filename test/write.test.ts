/*
 * Answers that are put together without JSON.stringify are what it would have made of them, whatever the REST service
 * sends, and none is put together so that has something to escape.
 */
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { startBoth } from './kit/gateway.ts';
import { secretSigner, token, UNLIMITED } from './kit/tokens.ts';
import type { Answer } from './kit/upstream.ts';

const TTL = 60_000;
const QUERY = `query ($id: ID!) { player(playerUniqueId: $id) {
  __typename id playerUniqueId link: referralLink
  attributes { displayName city tags custom totalSpent totalOrders dateOfBirth }
  coupons { code value isUsed couponType endAt group { title isActive } product { productDisplayName } collections { collectionId } }
  referredFriends(limit: 3) { count total hasNextPage nodes { playerUniqueId displayName email joinDate status } }
} }`;

const signer = secretSigner();
const authorization = `Bearer ${token(signer)}`;
const common = { ...signer.env, ...UNLIMITED, NODE_ENV: 'production' };
let both: Awaited<ReturnType<typeof startBoth>>;
let keeping: typeof both;
beforeAll(async () => {
  [both, keeping] = await Promise.all([startBoth(common), startBoth({ ...common, READ_CACHE_TTL_MS: `${TTL}` })]);
});
afterAll(() => Promise.all([both.close(), keeping.close()]));
afterEach(() => {
  for (const endpoint of ['GET /player', 'GET /coupon', 'GET /referrals'] as const) both.upstream.on(endpoint, 'usual');
});

/** Asks, and tells which bytes came and whether JSON.stringify made them. */
async function ask(id: string, accept = '*/*', { gateway } = both) {
  const stringify = jest.spyOn(JSON, 'stringify');
  const { text } = await gateway.query(QUERY, { id }, { authorization, accept });
  const stringified = stringify.mock.calls.some(([value]) => typeof value === 'object' && value && 'data' in value);
  stringify.mockRestore();
  return { text: text.replace(/"requestId":"[^"]*"/, ''), stringified };
}

/** Asks so often that the operation is compiled, and by the long way, where Apollo Server has the last word. */
async function askBothWays(id: string, it = both) {
  for (let time = 0; time < 3; time += 1) await ask(id, '*/*', it);
  const short = await ask(id, '*/*', it);
  const long = await ask(id, 'application/json, text/plain', it);
  expect(long.stringified).toBe(true);
  expect(short.text).toBe(long.text);
  return { ...short, player: JSON.parse(short.text.replace(',"extensions":{}', '')).data.player };
}

const FORGED = '","status":"ACTIVE"},{"playerUniqueId":"forged';
const ESCAPED = ['a "quote"', 'a \\ backslash', '\\', '"', 'two\nlines', '\t', '\u0000', '\u001f', '\ud800', FORGED];
const PLAIN = ['', 'plain', "'", '/', '</script>', '\u007f', '\u0080', '\u2028', 'Zoë', '李', '😀', 'null', '{}'];

/** Where texts stand, each with the answer that has one there, and where it is found again. */
const PLACES: [string, 'GET /player' | 'GET /coupon' | 'GET /referrals', (text: string) => unknown, string][] = [
  ['an attribute', 'GET /player', (displayName) => ({ playerAttributes: { displayName } }), 'attributes.displayName'],
  [
    'a list',
    'GET /coupon',
    (text) => ({ coupons: [{ product: { productDisplayName: [text] } }] }),
    'coupons.0.product.productDisplayName.0',
  ],
  ['an attribute of any kind', 'GET /player', (a) => ({ playerAttributes: { custom: { a } } }), 'attributes.custom.a'],
  ['a coupon', 'GET /coupon', (code) => ({ coupons: [{ code }] }), 'coupons.0.code'],
  ['an object below', 'GET /coupon', (title) => ({ coupons: [{ group: { title } }] }), 'coupons.0.group.title'],
  [
    'an id',
    'GET /referrals',
    (id) => ({ referredFriends: [{ playerUniqueId: id }] }),
    'referredFriends.nodes.0.playerUniqueId',
  ],
  ['a friend', 'GET /referrals', (email) => ({ referredFriends: [{}, { email }] }), 'referredFriends.nodes.1.email'],
];

describe.each(PLACES)('a text in %s', (_place, endpoint, bodyWith, path) => {
  test.each([...ESCAPED, ...PLAIN])('%j', async (text) => {
    both.upstream.on(endpoint, { json: bodyWith(text) });
    const { player, stringified } = await askBothWays('p1');
    expect(path.split('.').reduce((value, key) => value?.[key], player) ?? '').toBe(text);
    expect(stringified).toBe(ESCAPED.includes(text));
  });

  test('one that is plain, but was sent with escapes', async () => {
    both.upstream.on(endpoint, { raw: JSON.stringify(bodyWith('TEXT')).replace('TEXT', '\\u0041') });
    const { player } = await askBothWays('p1');
    expect(path.split('.').reduce((value, key) => value?.[key], player)).toBe('A');
  });
});

test('an answer as it usually is', async () => {
  const { stringified, player } = await askBothWays('p1');
  expect(stringified).toBe(false);
  expect(player.coupons).toHaveLength(10);
  expect(player.referredFriends.nodes).toHaveLength(3);
});

test.each<[string, Answer, boolean]>([
  ['numbers of all kinds', { json: { coupons: [0, -0, 1e21, 1e-7, 0.1, 2 ** 53].map((value) => ({ value })) } }, false],
  ['nothing', { raw: '' }, false],
  ['an empty list', { json: { coupons: [] } }, false],
  ['a failure', { status: 400, json: { code: 7 } }, true],
])('coupons with %s', async (_what, answer, stringified) => {
  both.upstream.on('GET /coupon', answer);
  expect((await askBothWays('p1')).stringified).toBe(stringified);
});

test.each(['a"b', 'a\\b', '"', 'Zoë "x"'])('an id that clients send and the service does not: %j', async (id) => {
  both.upstream.on('GET /player', { json: {} });
  both.upstream.on('GET /coupon', { json: {} });
  both.upstream.on('GET /referrals', { json: {} });
  const { player, stringified } = await askBothWays(id);
  expect([player.id, player.playerUniqueId, stringified]).toEqual([id, id, true]);
});

test('what one operation reads for others', async () => {
  await askBothWays('p2');
  const before = both.upstream.calls().length;
  const held = both.upstream.hold('GET /player', { json: { playerAttributes: { city: FORGED } } });
  const asked = [ask('p2'), ask('p2'), ask('p2')];
  await held.arrived;
  held.release();
  for (const { text } of await Promise.all(asked)) {
    expect(JSON.parse(text.replace(',"extensions":{}', '')).data.player.attributes.city).toBe(FORGED);
  }
  expect(both.upstream.calls().length - before).toBe(3);
});

test.each([
  ['plain', 'p7', 'London', false],
  ['to be escaped', 'p8', FORGED, true],
])('what was kept of a text that is %s, also when it stands in for a failure', async (_what, id, city, stringified) => {
  const { upstream } = keeping;
  upstream.on('GET /player', { json: { playerAttributes: { city } } });
  const before = await askBothWays(id, keeping);
  expect(upstream.calls().filter((call) => call.endsWith(`/player/${id}`))).toHaveLength(1);
  expect([before.player.attributes.city, before.stringified]).toEqual([city, stringified]);
  upstream.on('GET /player', { status: 500, raw: '' });
  const now = jest.spyOn(performance, 'now');
  const later = performance.now() + 1.5 * TTL;
  now.mockImplementation(() => later);
  const after = await ask(id, '*/*', keeping);
  now.mockRestore();
  expect(after).toEqual({ text: before.text, stringified: true });
});
