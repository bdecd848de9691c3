/* The coupons of the states of /testing. What they have not, graphql-js makes null. */

/** A `CouponFilter`. */
export type Filter = Readonly<Record<string, unknown>>;

export const CREATED = '2025-05-01T10:00:00.000Z';
const FAR = '2099-12-31T00:00:00.000Z';
const OPTIONS = { usageLimit: 1 };
const THANKS = { couponType: 'FIXED_DISCOUNT', value: 5, currency: 'USD', options: { ...OPTIONS, minOrderValue: 25 } };
const WELCOME = { handle: 'welcome', title: 'Welcome' };
const LONG_MUG = { productDisplayName: ['Kaffeetasse mit Sonderbedruckung '.repeat(4)] };
const MUG = { productId: '5000000001', productName: 'mug', productDisplayName: ['Mug'] };

/**
 * The first is that of long names. The others are as many as those of the demo: one of each kind, two equal ones, one that begins
 * later, one used and two expired.
 */
const COUPONS = [
  { code: 'EINGELADENE-FREUNDE-SOMMERAKTION-2099-'.repeat(3), couponType: 'FREE_PRODUCT', product: LONG_MUG },
  { code: 'WELCOME-7F3A', couponType: 'PERCENTAGE_DISCOUNT', value: 10, group: WELCOME },
  { code: 'THANKS-1B2C', ...THANKS },
  { code: 'THANKS-9D8E', ...THANKS },
  { code: 'SHIP-FREE', couponType: 'FREE_SHIPPING', endAt: null },
  { code: 'MUG-4455', couponType: 'FREE_PRODUCT', product: MUG },
  { code: 'POINTS-100', couponType: 'FIXED_RATE_DISCOUNT', value: 2.5, currency: 'EUR' },
  { code: 'SPECIAL-1', couponType: 'CUSTOM' },
  { code: 'SUMMER-2098', couponType: 'PERCENTAGE_DISCOUNT', value: 20, startAt: '2098-06-01T00:00:00.000Z' },
  { code: 'USED-0001', couponType: 'PERCENTAGE_DISCOUNT', value: 10, isUsed: true },
  { code: 'SHIP-SOON', couponType: 'FREE_SHIPPING', endAt: '2099-06-30T00:00:00.000Z' },
  { code: 'OLD-2023', couponType: 'CUSTOM', isExpired: true, endAt: '2023-12-31T00:00:00.000Z' },
  { code: 'OLD-2024', ...THANKS, value: 3, options: OPTIONS, isExpired: true, endAt: '2024-12-31T00:00:00.000Z' },
];

/** The coupons of a state that a filter lets through. */
export function couponsOf(state: string, filter: Filter): object[] {
  const other = state === 'demo-long-names' ? 1 : 0;
  const wanted = Object.entries(filter).filter(([, value]) => value != null);
  return COUPONS.filter((_, index) => state !== 'demo-empty' && index !== other)
    .map((one) => ({ creationDate: CREATED, endAt: FAR, isUsed: false, isExpired: false, options: OPTIONS, ...one }))
    .filter((one) => {
      const usableNow = !one.isUsed && !one.isExpired && !one.startAt;
      const known = { ...one, usableNow, group: one.group?.handle, couponTypes: one.couponType };
      return wanted.every(([name, value]) => [value].flat().includes(Reflect.get(known, name)));
    })
    .map((one) => ({ id: `coupon-${one.code}`, collections: [], ...one }));
}
