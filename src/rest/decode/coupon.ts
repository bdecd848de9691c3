import type { Notice } from '../observe.ts';
import type {
  Collection,
  Coupon,
  CouponCombination,
  CouponGroup,
  CouponOptions,
  CouponType,
  Product,
} from '../wire.ts';
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
  webAddress,
} from './members.ts';

const TYPES: ReadonlyMap<string, CouponType> = new Map([
  ['free_shipping', 'FREE_SHIPPING'],
  ['percentage_discount', 'PERCENTAGE_DISCOUNT'],
  ['fixed_discount', 'FIXED_DISCOUNT'],
  ['free_product', 'FREE_PRODUCT'],
  ['fixed_rate_discount', 'FIXED_RATE_DISCOUNT'],
  ['custom', 'CUSTOM'],
]);

/** A player's coupons. A body without the list, or without anything, is a player without coupons. */
export function decodeCoupons(body: Json, notice: Notice): Coupon[] {
  return objects(body['coupons'], coupon, 'coupons', notice) ?? [];
}

function coupon(from: Json, notice: Notice): Coupon {
  return {
    code: text(from['code'], 'coupon.code', notice),
    isUsed: boolean(from['isUsed'], 'coupon.isUsed', notice),
    value: number(from['value'], 'coupon.value', notice),
    currency: text(from['currency'], 'coupon.currency', notice),
    creationDate: dateTime(from['creationDate'], 'coupon.creationDate', notice),
    couponType: oneOf(TYPES, from['couponType'], 'coupon.couponType', notice),
    product: object(from['product'], product, 'coupon.product', notice),
    startAt: dateTime(from['startAt'], 'coupon.startAt', notice),
    endAt: dateTime(from['endAt'], 'coupon.endAt', notice),
    isExpired: boolean(from['isExpired'], 'coupon.isExpired', notice),
    collections: objects(from['collections'], collection, 'coupon.collections', notice),
    group: object(from['group'], group, 'coupon.group', notice),
    options: object(from['options'], options, 'coupon.options', notice),
  };
}

function product(from: Json, notice: Notice): Product {
  return {
    productId: identifier(from['productId'], 'product.productId', notice),
    productName: text(from['productName'], 'product.productName', notice),
    productDisplayName: texts(from['productDisplayName'], 'product.productDisplayName', notice),
    variantId: identifier(from['variantId'], 'product.variantId', notice),
    variantName: text(from['variantName'], 'product.variantName', notice),
  };
}

function collection(from: Json, notice: Notice): Collection {
  return {
    collectionId: identifier(from['collectionId'], 'collection.collectionId', notice),
    collectionName: text(from['collectionName'], 'collection.collectionName', notice),
  };
}

function group(from: Json, notice: Notice): CouponGroup {
  return {
    handle: text(from['handle'], 'group.handle', notice),
    title: text(from['title'], 'group.title', notice),
    url: webAddress(from['url'], 'group.url', notice),
    iconPath: text(from['iconPath'], 'group.iconPath', notice),
    description: text(from['description'], 'group.description', notice),
    maxPerPlayer: int(from['maxPerPlayer'], 'group.maxPerPlayer', notice),
    startDate: dateTime(from['startDate'], 'group.startDate', notice),
    expiryDate: dateTime(from['expiryDate'], 'group.expiryDate', notice),
    isAvailable: boolean(from['isAvailable'], 'group.isAvailable', notice),
    isValid: boolean(from['isValid'], 'group.isValid', notice),
    isActive: boolean(from['isActive'], 'group.isActive', notice),
  };
}

function options(from: Json, notice: Notice): CouponOptions {
  return {
    expiryAfter: int(from['ExpiryAfter'], 'options.ExpiryAfter', notice),
    usageLimit: int(from['UsageLimit'], 'options.UsageLimit', notice),
    capping: number(from['Capping'], 'options.Capping', notice),
    minOrderValue: number(from['MinOrderValue'], 'options.MinOrderValue', notice),
    combinesWith: object(from['CombinesWith'], combination, 'options.CombinesWith', notice),
    productId: identifier(from['ProductId'], 'options.ProductId', notice),
    productName: text(from['ProductName'], 'options.ProductName', notice),
    variantId: identifier(from['VariantId'], 'options.VariantId', notice),
    variantName: text(from['VariantName'], 'options.VariantName', notice),
    productDisplayName: text(from['ProductDisplayName'], 'options.ProductDisplayName', notice),
    hasCollections: boolean(from['HasCollections'], 'options.HasCollections', notice),
    platforms: texts(from['Platforms'], 'options.Platforms', notice),
  };
}

function combination(from: Json, notice: Notice): CouponCombination {
  return {
    shippingDiscounts: boolean(from['ShippingDiscounts'], 'options.CombinesWith.ShippingDiscounts', notice),
    productDiscounts: boolean(from['ProductDiscounts'], 'options.CombinesWith.ProductDiscounts', notice),
    orderDiscounts: boolean(from['OrderDiscounts'], 'options.CombinesWith.OrderDiscounts', notice),
  };
}
