import { afterAll, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';

const both = await startBoth();
afterAll(() => both.close());

const DAY = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString();

const rows: [name: string, coupon: object, isUsable: boolean][] = [
  ['says nothing', {}, true],
  [
    'is unused, unexpired and started',
    { isUsed: false, isExpired: false, startAt: inDays(-1), endAt: inDays(1) },
    true,
  ],
  ['starts tomorrow', { startAt: inDays(1) }, false],
  ['ended yesterday', { endAt: inDays(-1) }, false],
  ['is expired', { isExpired: true }, false],
  ['is used', { isUsed: true }, false],
  ['is used and may be used once', { isUsed: true, options: { UsageLimit: 1 } }, false],
  ['is used with uses left', { isUsed: true, options: { UsageLimit: 2 } }, true],
  ['is of an active group', { group: { handle: 'a', isActive: true } }, true],
  ['is of an inactive group', { group: { handle: 'a', isActive: false } }, false],
  ['is of a group that says nothing about it', { group: { handle: 'a' } }, true],
];

async function codes(filter: string): Promise<string[]> {
  const { data, errors } = await both.gateway.query(
    `{ player(playerUniqueId: "p1") { coupons(filter: ${filter}) { code } } }`,
  );
  expect(errors).toEqual([]);
  return data.player.coupons.map(({ code }: { code: string }) => code);
}

test.each(rows)('a coupon that %s', async (_name, coupon, isUsable) => {
  both.upstream.on('GET /coupon', { json: { coupons: [{ code: 'A', ...coupon }] } });
  expect(await codes('{ usableNow: true }')).toEqual(isUsable ? ['A'] : []);
  expect(await codes('{ usableNow: false }')).toEqual(isUsable ? [] : ['A']);
});

test('a group, a type and usableNow select the coupons that match all of them', async () => {
  const group = (handle: string, isActive?: boolean) => ({ group: { handle, isActive } });
  const coupons = [
    { code: 'A', couponType: 'custom', ...group('a') },
    { code: 'B', couponType: 'custom', ...group('b') },
    { code: 'C', couponType: 'custom', ...group('a', false) },
    { code: 'D', couponType: 'free_product', ...group('a', true) },
    { code: 'E', couponType: 'custom', ...group('a', true), isUsed: true },
    { code: 'F', couponType: 'custom' },
  ];
  both.upstream.on('GET /coupon', { json: { coupons } });
  expect(await codes('{ group: "a" }')).toEqual(['A', 'C', 'D', 'E']);
  expect(await codes('{ group: "b" }')).toEqual(['B']);
  expect(await codes('{ group: "a", usableNow: true }')).toEqual(['A', 'D']);
  expect(await codes('{ group: "a", usableNow: false }')).toEqual(['C', 'E']);
  const combined = '{ group: "a", couponTypes: [CUSTOM], isUsed: false, isExpired: false, usableNow: true }';
  expect(await codes(combined)).toEqual(['A']);
});

test.each([
  ['isUsed: true', ['used']],
  ['isUsed: false', ['expired', 'silent']],
  ['isExpired: true', ['expired']],
  ['isExpired: false', ['used', 'silent']],
  ['isUsed: null, isExpired: null', ['used', 'expired', 'silent']],
])('%s selects %j; a coupon that says nothing is neither used nor expired', async (filter, selected) => {
  const coupons = [{ code: 'used', isUsed: true }, { code: 'expired', isExpired: true }, { code: 'silent' }];
  both.upstream.on('GET /coupon', { json: { coupons } });
  expect(await codes(`{ ${filter} }`)).toEqual(selected);
});

test('a filter reads properties that the operation does not select', async () => {
  both.upstream.on('GET /coupon', 'usual');
  const filter = '{ usableNow: true, group: "welcome" }';
  const { data } = await both.gateway.query(
    `{ player(playerUniqueId: "p1") { coupons(filter: ${filter}) { value } } }`,
  );
  expect(data?.player.coupons).toEqual([10, 12, 14, 16, 18].map((value) => ({ value })));
});
