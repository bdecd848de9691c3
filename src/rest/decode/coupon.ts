import type { components } from '../../generated/rest.ts';
import type { Json } from '../../json.ts';
import * as d from './properties.ts';

export type Coupon = ReturnType<typeof decodeCoupons>[number];
export type Product = d.Decoded<typeof product>;
export type Collection = d.Decoded<typeof collection>;
export type CouponGroup = d.Decoded<typeof group>;
export type CouponOptions = d.Decoded<typeof options>;

const product = d.shape('product', {
  productId: d.identifier,
  productName: d.text,
  productDisplayName: d.texts,
  variantId: d.identifier,
  variantName: d.text,
});

const collection = d.shape('collection', { collectionId: d.identifier, collectionName: d.text });

const group = d.shape('group', {
  handle: d.text,
  title: d.text,
  url: d.url,
  iconPath: d.text,
  description: d.text,
  maxPerPlayer: d.int,
  startDate: d.dateTime,
  expiryDate: d.dateTime,
  isAvailable: d.boolean,
  isValid: d.boolean,
  isActive: d.boolean,
});

/** The service writes the options of a coupon in PascalCase. */
const pascalCase = (property: string) => property.charAt(0).toUpperCase() + property.slice(1);

const options = d.shape(
  'options',
  {
    expiryAfter: d.int,
    usageLimit: d.int,
    capping: d.number,
    minOrderValue: d.number,
    combinesWith: d.shape(
      'options.CombinesWith',
      { shippingDiscounts: d.boolean, productDiscounts: d.boolean, orderDiscounts: d.boolean },
      pascalCase,
    ),
    productId: d.identifier,
    productName: d.text,
    variantId: d.identifier,
    variantName: d.text,
    productDisplayName: d.text,
    hasCollections: d.boolean,
    platforms: d.texts,
  },
  pascalCase,
);

const coupon = d.shape('coupon', {
  owner: d.reserved,
  code: d.identifier,
  isUsed: d.boolean,
  value: d.number,
  currency: d.text,
  creationDate: d.dateTime,
  couponType: d.oneOf<NonNullable<components['schemas']['Coupon']['couponType']>>(
    'free_shipping',
    'percentage_discount',
    'fixed_discount',
    'free_product',
    'fixed_rate_discount',
    'custom',
  ),
  product,
  startAt: d.dateTime,
  endAt: d.dateTime,
  isExpired: d.boolean,
  collections: d.listOf(collection),
  group,
  options,
});

/** A player's coupons; none when the body has no list. */
export function decodeCoupons(body: Json, owner: string, warn: d.Warn, wanted?: d.Wanted) {
  return d.ownedBy(owner, d.listOf(coupon)(body['coupons'], 'coupons', warn, wanted));
}
