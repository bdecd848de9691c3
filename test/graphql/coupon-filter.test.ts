import { expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';

const both = await startBoth();

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

async function select(filter: string, coupons: object[], selection = 'code') {
  both.upstream.on('GET /coupon', coupons.length > 0 ? { json: { coupons } } : 'usual');
  const query = `{ player(playerUniqueId: "p1") { coupons(filter: { ${filter} }) { value: ${selection} } } }`;
  const { data, errors } = await both.gateway.query(query);
  expect(errors).toEqual([]);
  return data.player.coupons.map(({ value }: { value: unknown }) => value);
}

test.each<[what: string, coupon: object, isUsable: boolean]>([
  ['says nothing', {}, true],
  ['is unused and started', { isUsed: false, isExpired: false, startAt: inDays(-1), endAt: inDays(1) }, true],
  ['starts tomorrow', { startAt: inDays(1) }, false],
  ['ended yesterday', { endAt: inDays(-1) }, false],
  ['is expired', { isExpired: true }, false],
  ['is used', { isUsed: true }, false],
  ['is used, by a database without booleans', { isUsed: 1, isExpired: 0 }, false],
  ['is used and may be used once', { isUsed: true, options: { UsageLimit: 1 } }, false],
  ['is used with uses left', { isUsed: true, options: { UsageLimit: 2 } }, true],
  ['is of an inactive group', { group: { handle: 'a', isActive: false } }, false],
  ['is of a group that says nothing about it', { group: { handle: 'a' } }, true],
])('a coupon that %s', async (_name, coupon, isUsable) => {
  const coupons = [{ code: 'A', ...coupon }];
  expect(await select('usableNow: true', coupons)).toEqual(isUsable ? ['A'] : []);
  expect(await select('usableNow: false', coupons)).toEqual(isUsable ? [] : ['A']);
});

test.each([
  ['group: "a"', 'ACDE'],
  ['group: "a", usableNow: false', 'CE'],
  ['group: "a", couponTypes: [CUSTOM], isUsed: false, isExpired: false, usableNow: true', 'A'],
  ['isUsed: true', 'E'],
  // A coupon that says nothing is neither used nor expired.
  ['isUsed: false, group: null', 'ABCDF'],
  ['isExpired: true', 'F'],
  ['isExpired: false', 'ABCDE'],
  ['isUsed: null, isExpired: null', 'ABCDEF'],
])('{ %s } selects %s', async (filter, selected) => {
  const group = (handle: string, isActive?: boolean) => ({ group: { handle, isActive } });
  const coupons = [
    { code: 'A', couponType: 'custom', ...group('a') },
    { code: 'B', couponType: 'custom', ...group('b') },
    { code: 'C', couponType: 'custom', ...group('a', false) },
    { code: 'D', couponType: 'free_product', ...group('a', true) },
    { code: 'E', couponType: 'custom', ...group('a', true), isUsed: true },
    { code: 'F', couponType: 'custom', isExpired: true },
  ];
  expect((await select(filter, coupons)).join('')).toBe(selected);
});

test('a filter reads properties that the operation does not select', async () => {
  expect(await select('usableNow: true, group: "welcome"', [], 'value')).toEqual([10, 12, 14, 16, 18]);
});
