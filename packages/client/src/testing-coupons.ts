/* The coupons of the states of /testing. */

interface Coupon {
  code: string;
  couponType: string;
  isUsed: boolean;
  isExpired: boolean;
  group: { handle: string } | null;
  [field: string]: unknown;
}

/** A `CouponFilter`. */
export interface Filter {
  isUsed?: boolean | null;
  isExpired?: boolean | null;
  usableNow?: boolean | null;
  couponTypes?: string[] | null;
  group?: string | null;
}

export const CREATED = '2025-05-01T10:00:00.000Z';
const FAR = '2099-12-31T00:00:00.000Z';

function coupon(code: string, couponType: string, more: object = {}): Coupon {
  return {
    id: `coupon-${code}`,
    code,
    couponType,
    isUsed: false,
    isExpired: false,
    value: null,
    currency: null,
    creationDate: CREATED,
    startAt: null,
    endAt: FAR,
    product: null,
    collections: [],
    group: null,
    options: { usageLimit: 1, minOrderValue: null, combinesWith: null },
    ...more,
  };
}

/** As many as those of the demo: one of each kind, two equal ones, one that begins later, one used and two expired. */
const COUPONS = [
  coupon('WELCOME-7F3A', 'PERCENTAGE_DISCOUNT', { value: 10, group: { handle: 'welcome', title: 'Welcome' } }),
  coupon('THANKS-1B2C', 'FIXED_DISCOUNT', { value: 5, currency: 'USD', options: { usageLimit: 1, minOrderValue: 25 } }),
  coupon('THANKS-9D8E', 'FIXED_DISCOUNT', { value: 5, currency: 'USD', options: { usageLimit: 1, minOrderValue: 25 } }),
  coupon('SHIP-FREE', 'FREE_SHIPPING', { endAt: null }),
  coupon('MUG-4455', 'FREE_PRODUCT', {
    product: { productId: '5000000001', productName: 'mug', productDisplayName: ['Mug'] },
  }),
  coupon('POINTS-100', 'FIXED_RATE_DISCOUNT', { value: 2.5, currency: 'EUR' }),
  coupon('SPECIAL-1', 'CUSTOM'),
  coupon('SUMMER-2098', 'PERCENTAGE_DISCOUNT', { value: 20, startAt: '2098-06-01T00:00:00.000Z' }),
  coupon('USED-0001', 'PERCENTAGE_DISCOUNT', { value: 10, isUsed: true }),
  coupon('SHIP-SOON', 'FREE_SHIPPING', { endAt: '2099-06-30T00:00:00.000Z' }),
  coupon('OLD-2023', 'CUSTOM', { isExpired: true, endAt: '2023-12-31T00:00:00.000Z' }),
  coupon('OLD-2024', 'FIXED_DISCOUNT', {
    value: 3,
    currency: 'USD',
    isExpired: true,
    endAt: '2024-12-31T00:00:00.000Z',
  }),
];

/** The coupons of a state that a filter lets through. */
export function couponsOf(state: string, filter: Filter): Coupon[] {
  return allOf(state).filter((one) => fits(one, filter));
}

function allOf(state: string): Coupon[] {
  if (state === 'demo-empty') return [];
  if (state !== 'demo-long-names') return COUPONS;
  const mug = { product: { productDisplayName: ['Kaffeetasse mit Sonderbedruckung '.repeat(4)] } };
  return [coupon('EINGELADENE-FREUNDE-SOMMERAKTION-2099-'.repeat(3), 'FREE_PRODUCT', mug), ...COUPONS.slice(1)];
}

function fits({ isUsed, isExpired, couponType, group, startAt }: Coupon, filter: Filter): boolean {
  const isUsable = !isUsed && !isExpired && startAt == null;
  return (
    (filter.isUsed == null || filter.isUsed === isUsed) &&
    (filter.isExpired == null || filter.isExpired === isExpired) &&
    (filter.usableNow == null || filter.usableNow === isUsable) &&
    (filter.couponTypes == null || filter.couponTypes.includes(couponType)) &&
    (filter.group == null || filter.group === group?.handle)
  );
}
