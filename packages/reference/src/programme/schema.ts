import { getCountries } from 'libphonenumber-js/min';
import * as z from 'zod';
import { LANDING_LANGUAGES, landingTexts } from '../landing/texts.ts';
import { COUPON_TYPES } from '../store/tables.ts';
import { readDateTime } from '../wire/dates.ts';
import { readBy } from '../wire/members.ts';

/*
 * The programme: what the operator decides about referrals and rewards, in a JSON file. Unknown members are refused: a
 * misspelt rule would have no effect.
 */

const text = z.string().min(1);
const whole = z.int().min(0);
/** Any date or date-time of the rule in `wire/dates.ts`, in milliseconds since 1970. */
const instant = z
  .string()
  .transform(readBy(readDateTime, 'must be a date like 2025-05-01 or 2025-05-01T10:30:00Z'))
  .transform(Date.parse);

const product = z.strictObject({
  productId: whole,
  productName: text,
  productDisplayName: z.array(text).optional(),
  variantId: whole.optional(),
  variantName: text.optional(),
});

/** Member names as in the interface: the object is sent unchanged. */
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

/** The template of all coupons of a group. */
const coupon = z
  .strictObject({
    type: z.enum(COUPON_TYPES),
    value: z.number().min(0).optional(),
    currency: text.optional(),
    /** Fixed dates. Default: from the issue until `options.ExpiryAfter` days later, or without end. */
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
  /** The identifier. It must never change: coupons refer to it. */
  handle: text,
  title: text,
  url: z.url().optional(),
  iconPath: text.optional(),
  description: text.optional(),
  /** How many coupons of this group one player can obtain. Default: any number. */
  maxPerPlayer: z.int().min(1).optional(),
  startDate: instant.optional(),
  expiryDate: instant.optional(),
  /** Whether the operator offers the group at all. */
  active: z.boolean().default(true),
  coupon,
});

const reward = z.strictObject({
  /** The step of the referral that is rewarded. */
  at: z.enum(['pending', 'active']),
  to: z.enum(['friend', 'referrer']),
  /** The handle of the coupon's group. */
  group: text,
});

export const programme = z
  .strictObject({
    /** What the landing page asks a friend for. */
    contact: z.enum(['email', 'mobile']),
    /** ISO 3166-1 code like "DE". With it, national forms of mobile numbers match international ones. */
    country: z.enum(getCountries(), 'must be a country code like "DE"').optional(),
    /** After how many days a contact left on a landing page expires if nobody has signed up with it. */
    contactExpiryDays: z.int().min(1).max(36_500).default(90),
    /** Where the thanks page leads. The referral code is added to its query as `referralCode`. */
    shopUrl: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
    /** The event that makes a pending referral active. */
    actionEvent: text,
    /** The languages of the account, the default one first. */
    languages: z
      .array(z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/i, 'must be a language code like "en"'))
      .min(1),
    /** Words of the landing page, for further languages or in place of the built-in ones. */
    texts: z.record(z.string(), landingTexts).default({}),
    groups: z.array(group),
    rewards: z.array(reward),
  })
  .superRefine(({ languages, texts, groups, rewards }, context) => {
    const problem = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message });
    const handles = groups.map(({ handle }) => handle);
    for (const [index, language] of languages.entries()) {
      if (language in texts || LANDING_LANGUAGES.includes(language)) continue;
      problem(['languages', index], `has no words for the landing page: set them in texts.${language}`);
    }
    for (const [index, handle] of handles.entries()) {
      if (handles.indexOf(handle) !== index) problem(['groups', index, 'handle'], 'is the handle of another group too');
    }
    for (const [index, reward] of rewards.entries()) {
      if (!handles.includes(reward.group)) problem(['rewards', index, 'group'], 'is not the handle of a group');
    }
  });

/** The content of a programme file. */
export type ProgrammeFile = z.input<typeof programme>;
export type Programme = z.output<typeof programme>;
export type CouponGroup = Programme['groups'][number];
