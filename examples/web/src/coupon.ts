import type { ScreenQuery } from './generated/graphql';

export type Coupon = NonNullable<NonNullable<NonNullable<ScreenQuery['me']>['coupons']>[number]>;

/** Coupons that differ in their codes alone. */
export interface Group {
  advantage: string;
  conditions: string[];
  codes: string[];
  count: number;
}

/** Puts equal coupons together, in the order of the first of each. */
export function groupsOf(coupons: readonly Coupon[]): Group[] {
  const groups = new Map<string, Group>();
  for (const coupon of coupons) {
    const [advantage, conditions] = [advantageOf(coupon), conditionsOf(coupon)];
    const key = JSON.stringify([advantage, conditions]);
    const group = groups.get(key) ?? { advantage, conditions, codes: [], count: 0 };
    if (coupon.code) group.codes.push(coupon.code);
    group.count += 1;
    groups.set(key, group);
  }
  return [...groups.values()];
}

function advantageOf({ couponType, value, currency, product }: Coupon): string {
  switch (couponType) {
    case 'PERCENTAGE_DISCOUNT':
      return value == null ? 'A discount' : `${percent(value)} off`;
    case 'FREE_SHIPPING':
      return 'Free shipping';
    case 'FREE_PRODUCT':
      return `Free: ${product?.productDisplayName?.[0]?.trim() || 'a product'}`;
    case 'FIXED_DISCOUNT':
    case 'FIXED_RATE_DISCOUNT':
      return value == null ? 'A discount' : `${money(value, currency)} off`;
    default:
      return 'A special offer';
  }
}

function conditionsOf({ startAt, endAt, currency, options }: Coupon): string[] {
  const conditions: string[] = [];
  if (startAt && new Date(startAt) > new Date()) conditions.push(`From ${day(startAt)}`);
  conditions.push(endAt ? `Until ${day(endAt)}` : 'Does not expire');
  if (options?.minOrderValue) conditions.push(`Orders of ${money(options.minOrderValue, currency)} and more`);
  return conditions;
}

const percent = (value: number) =>
  new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 }).format(value / 100);

/** A currency that the browser does not know is shown as it is. */
function money(value: number, currency: string | null | undefined): string {
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency: currency ?? '' }).format(value);
  } catch {
    return `${value} ${currency ?? ''}`.trim();
  }
}

const day = (moment: string) =>
  new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(moment));
