import type { components } from '../../generated/rest.ts';
import { dateTime } from './dates.ts';
import {
  boolean,
  identifier,
  int,
  type Json,
  number,
  object,
  objects,
  oneOf,
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

export type Coupon = ReturnType<typeof coupon>;
export type Product = ReturnType<typeof product>;
export type Collection = ReturnType<typeof collection>;
export type CouponGroup = ReturnType<typeof group>;
export type CouponOptions = ReturnType<typeof options>;

/** The members of coupons that are decoded only for operations that select them. The others are small, or filters need them. */
const ON_DEMAND = [
  'creationDate',
  'product',
  'collections',
  'title',
  'url',
  'iconPath',
  'description',
  'startDate',
  'expiryDate',
  'combinesWith',
  'productId',
  'productName',
  'variantId',
  'variantName',
  'productDisplayName',
  'platforms',
] as const;

/**
 * Which members of coupons an operation needs. A coupon has some 40, and an operation with many players keeps thousands of
 * coupons until it ends. Without the members that nobody selected, an operation with 21 players' coupons takes 8 % less CPU,
 * most of it in the garbage collector.
 */
export class CouponMembers {
  static readonly all = new CouponMembers(new Set(ON_DEMAND));
  /** The same for operations that need the same members. */
  readonly key: string;
  readonly #names: ReadonlySet<string>;

  /** @param selected The names of all fields that the operation selects, of whatever type. */
  constructor(selected: ReadonlySet<string>) {
    const names = ON_DEMAND.filter((name) => selected.has(name));
    this.key = names.join();
    this.#names = new Set(names);
  }

  /** The value of a member if it is needed, else undefined. */
  pick(name: (typeof ON_DEMAND)[number], value: unknown): unknown {
    return this.#names.has(name) ? value : undefined;
  }
}

/** A player's coupons; none when the body has no list. */
export function decodeCoupons(body: Json, warn: Warn, members = CouponMembers.all): Coupon[] {
  return objects(body['coupons'], (from) => coupon(from, warn, members), 'coupons', warn) ?? [];
}

function coupon(from: Json, warn: Warn, members: CouponMembers) {
  return {
    code: text(from['code'], 'coupon.code', warn),
    isUsed: boolean(from['isUsed'], 'coupon.isUsed', warn),
    value: number(from['value'], 'coupon.value', warn),
    currency: text(from['currency'], 'coupon.currency', warn),
    creationDate: dateTime(members.pick('creationDate', from['creationDate']), 'coupon.creationDate', warn),
    couponType: oneOf(TYPES, from['couponType'], 'coupon.couponType', warn),
    product: object(members.pick('product', from['product']), product, 'coupon.product', warn),
    startAt: dateTime(from['startAt'], 'coupon.startAt', warn),
    endAt: dateTime(from['endAt'], 'coupon.endAt', warn),
    isExpired: boolean(from['isExpired'], 'coupon.isExpired', warn),
    collections: objects(members.pick('collections', from['collections']), collection, 'coupon.collections', warn),
    group: object(from['group'], (value) => group(value, warn, members), 'coupon.group', warn),
    options: object(from['options'], (value) => options(value, warn, members), 'coupon.options', warn),
  };
}

function product(from: Json, warn: Warn) {
  return {
    productId: identifier(from['productId'], 'product.productId', warn),
    productName: text(from['productName'], 'product.productName', warn),
    productDisplayName: texts(from['productDisplayName'], 'product.productDisplayName', warn),
    variantId: identifier(from['variantId'], 'product.variantId', warn),
    variantName: text(from['variantName'], 'product.variantName', warn),
  };
}

function collection(from: Json, warn: Warn) {
  return {
    collectionId: identifier(from['collectionId'], 'collection.collectionId', warn),
    collectionName: text(from['collectionName'], 'collection.collectionName', warn),
  };
}

function group(from: Json, warn: Warn, members: CouponMembers) {
  return {
    handle: text(from['handle'], 'group.handle', warn),
    title: text(members.pick('title', from['title']), 'group.title', warn),
    url: url(members.pick('url', from['url']), 'group.url', warn),
    iconPath: text(members.pick('iconPath', from['iconPath']), 'group.iconPath', warn),
    description: text(members.pick('description', from['description']), 'group.description', warn),
    maxPerPlayer: int(from['maxPerPlayer'], 'group.maxPerPlayer', warn),
    startDate: dateTime(members.pick('startDate', from['startDate']), 'group.startDate', warn),
    expiryDate: dateTime(members.pick('expiryDate', from['expiryDate']), 'group.expiryDate', warn),
    isAvailable: boolean(from['isAvailable'], 'group.isAvailable', warn),
    isValid: boolean(from['isValid'], 'group.isValid', warn),
    isActive: boolean(from['isActive'], 'group.isActive', warn),
  };
}

function options(from: Json, warn: Warn, members: CouponMembers) {
  return {
    expiryAfter: int(from['ExpiryAfter'], 'options.ExpiryAfter', warn),
    usageLimit: int(from['UsageLimit'], 'options.UsageLimit', warn),
    capping: number(from['Capping'], 'options.Capping', warn),
    minOrderValue: number(from['MinOrderValue'], 'options.MinOrderValue', warn),
    combinesWith: object(members.pick('combinesWith', from['CombinesWith']), combination, 'options.CombinesWith', warn),
    productId: identifier(members.pick('productId', from['ProductId']), 'options.ProductId', warn),
    productName: text(members.pick('productName', from['ProductName']), 'options.ProductName', warn),
    variantId: identifier(members.pick('variantId', from['VariantId']), 'options.VariantId', warn),
    variantName: text(members.pick('variantName', from['VariantName']), 'options.VariantName', warn),
    productDisplayName: text(
      members.pick('productDisplayName', from['ProductDisplayName']),
      'options.ProductDisplayName',
      warn,
    ),
    hasCollections: boolean(from['HasCollections'], 'options.HasCollections', warn),
    platforms: texts(members.pick('platforms', from['Platforms']), 'options.Platforms', warn),
  };
}

function combination(from: Json, warn: Warn) {
  return {
    shippingDiscounts: boolean(from['ShippingDiscounts'], 'options.CombinesWith.ShippingDiscounts', warn),
    productDiscounts: boolean(from['ProductDiscounts'], 'options.CombinesWith.ProductDiscounts', warn),
    orderDiscounts: boolean(from['OrderDiscounts'], 'options.CombinesWith.OrderDiscounts', warn),
  };
}
