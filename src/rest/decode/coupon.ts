import type { components } from '../../generated/rest.ts';
import { dateTime } from './dates.ts';
import {
  boolean,
  type Decoder,
  identifier,
  int,
  type Json,
  number,
  objects,
  oneOf,
  shape,
  text,
  texts,
  url,
  type Warn,
} from './members.ts';

type WireType = NonNullable<components['schemas']['Coupon']['couponType']>;

const TYPES: ReadonlyMap<string, Uppercase<WireType>> = new Map([
  ['free_shipping', 'FREE_SHIPPING'],
  ['percentage_discount', 'PERCENTAGE_DISCOUNT'],
  ['fixed_discount', 'FIXED_DISCOUNT'],
  ['free_product', 'FREE_PRODUCT'],
  ['fixed_rate_discount', 'FIXED_RATE_DISCOUNT'],
  ['custom', 'CUSTOM'],
]);

/** The service writes the options of a coupon in PascalCase. */
const pascalCase = (property: string) => property.charAt(0).toUpperCase() + property.slice(1);

const product = shape('product', {
  productId: identifier,
  productName: text,
  productDisplayName: texts,
  variantId: identifier,
  variantName: text,
});

const collection = shape('collection', { collectionId: identifier, collectionName: text });

const group = shape('group', {
  handle: text,
  title: text,
  url,
  iconPath: text,
  description: text,
  maxPerPlayer: int,
  startDate: dateTime,
  expiryDate: dateTime,
  isAvailable: boolean,
  isValid: boolean,
  isActive: boolean,
});

const combination = shape(
  'options.CombinesWith',
  { shippingDiscounts: boolean, productDiscounts: boolean, orderDiscounts: boolean },
  pascalCase,
);

const options = shape(
  'options',
  {
    expiryAfter: int,
    usageLimit: int,
    capping: number,
    minOrderValue: number,
    combinesWith: combination,
    productId: identifier,
    productName: text,
    variantId: identifier,
    variantName: text,
    productDisplayName: text,
    hasCollections: boolean,
    platforms: texts,
  },
  pascalCase,
);

const coupon = shape('coupon', {
  code: text,
  isUsed: boolean,
  value: number,
  currency: text,
  creationDate: dateTime,
  couponType: oneOf(TYPES),
  product,
  startAt: dateTime,
  endAt: dateTime,
  isExpired: boolean,
  collections: objects(collection),
  group,
  options,
});

type Decoded<Shape> = Shape extends Decoder<infer Value> ? NonNullable<Value> : never;

export type Coupon = Decoded<typeof coupon>;
export type Product = Decoded<typeof product>;
export type Collection = Decoded<typeof collection>;
export type CouponGroup = Decoded<typeof group>;
export type CouponOptions = Decoded<typeof options>;

const coupons = objects(coupon);

/** A player's coupons; none when the body has no list. */
export function decodeCoupons(body: Json, warn: Warn): Coupon[] {
  return coupons(body['coupons'], 'coupons', warn) ?? [];
}
