import * as z from 'zod';
import { LANDING_LANGUAGES, landingTexts } from '../landing/texts.ts';
import { readDateTime } from '../wire/dates.ts';

/*
 * The programme: all that the operator of the service decides about referrals and rewards. It is a JSON file; unknown
 * members are refused, since a misspelt rule would silently not hold.
 */

const text = z.string().min(1);
const whole = z.int().min(0);
/** Any ISO 8601 date or date-time, in milliseconds since 1970. */
const instant = z.string().transform((value, context) => {
  const read = readDateTime(value);
  if (read !== undefined) return Date.parse(read);
  context.addIssue('must be a date like 2025-05-01 or 2025-05-01T10:30:00Z');
  return z.NEVER;
});

export const COUPON_TYPES = [
  'free_shipping',
  'percentage_discount',
  'fixed_discount',
  'free_product',
  'fixed_rate_discount',
  'custom',
] as const;

const product = z.strictObject({
  productId: whole,
  productName: text,
  productDisplayName: z.array(text).optional(),
  variantId: whole.optional(),
  variantName: text.optional(),
});

/** Member names exactly as the interface writes them: this object is handed out as it stands. */
const options = z.strictObject({
  ExpiryAfter: z.int().min(1).optional(),
  UsageLimit: z.int().min(1).optional(),
  Capping: z.number().min(0).optional(),
  MinOrderValue: z.number().min(0).optional(),
  CombinesWith: z
    .strictObject({ ShippingDiscounts: z.boolean(), ProductDiscounts: z.boolean(), OrderDiscounts: z.boolean() })
    .partial()
    .optional(),
  ProductId: text.optional(),
  ProductName: text.optional(),
  VariantId: text.optional(),
  VariantName: text.optional(),
  ProductDisplayName: text.optional(),
  HasCollections: z.boolean().optional(),
  Platforms: z.array(text).optional(),
});

/** What every coupon of a group is like. */
const coupon = z
  .strictObject({
    type: z.enum(COUPON_TYPES),
    value: z.number().min(0).optional(),
    currency: text.optional(),
    /** Fixed dates of the coupon; without them it begins at once and ends `options.ExpiryAfter` days later, or never. */
    startAt: instant.optional(),
    endAt: instant.optional(),
    product: product.optional(),
    collections: z.array(z.strictObject({ collectionId: whole, collectionName: text })).optional(),
    options: options.optional(),
  })
  .refine(({ type, product }) => type !== 'free_product' || product !== undefined, {
    path: ['product'],
    message: 'must say which product is free',
  });

const group = z.strictObject({
  /** The group's identifier; coupons keep it, so it never changes. */
  handle: text,
  title: text,
  url: z.url().optional(),
  iconPath: text.optional(),
  description: text.optional(),
  /** How many coupons of this group one player can obtain; without it, any number. */
  maxPerPlayer: z.int().min(1).optional(),
  startDate: instant.optional(),
  expiryDate: instant.optional(),
  /** Whether the operator offers the group at all. */
  active: z.boolean().default(true),
  coupon,
});

const reward = z.strictObject({
  /** The step of the referral at which the coupon is given. */
  at: z.enum(['pending', 'active']),
  to: z.enum(['friend', 'referrer']),
  /** The handle of the group that the coupon comes from. */
  group: text,
});

export const programme = z
  .strictObject({
    /** What a friend leaves on the landing page. */
    contact: z.enum(['email', 'mobile']),
    /** The event that makes a pending referral active. */
    actionEvent: text,
    /** The languages of the account, the default one first. */
    languages: z
      .array(z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/i, 'must be a language code like "en"'))
      .min(1),
    /** The landing page's words, for languages that the service has none for or to say it differently. */
    texts: z.record(z.string(), landingTexts).default({}),
    groups: z.array(group),
    rewards: z.array(reward),
  })
  .superRefine(({ languages, texts, groups, rewards }, context) => {
    const problem = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message });
    const handles = groups.map(({ handle }) => handle);
    for (const [index, language] of languages.entries()) {
      if (language in texts || LANDING_LANGUAGES.includes(language)) continue;
      problem(['languages', index], `has no words for the landing page: give them in texts.${language}`);
    }
    for (const [index, handle] of handles.entries()) {
      if (handles.indexOf(handle) !== index) problem(['groups', index, 'handle'], 'is the handle of another group too');
    }
    for (const [index, reward] of rewards.entries()) {
      if (!handles.includes(reward.group)) problem(['rewards', index, 'group'], 'is not the handle of a group');
    }
  });

/** What is written in a programme file. */
export type ProgrammeFile = z.input<typeof programme>;
export type Programme = z.output<typeof programme>;
export type CouponGroup = Programme['groups'][number];
export type CouponTemplate = CouponGroup['coupon'];
