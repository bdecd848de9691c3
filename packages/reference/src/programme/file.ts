import { readFileSync } from 'node:fs';
import { type CountryCode, isSupportedCountry } from 'libphonenumber-js/min';
import * as z from 'zod';
import builtIn from '../../programme.json' with { type: 'json' };
import { OperatorError } from '../errors.ts';
import { reasonOf } from '../store/store.ts';
import { dateTime } from '../wire/members.ts';
import { landingTexts } from './landing.ts';

/*
 * The programme: what the operator decides about referrals and rewards, in a JSON file. The README says what its
 * members mean. Unknown members are refused: a misspelt rule would have no effect.
 */

const text = z.string().min(1);
const whole = z.int().min(0);
const times = z.int().min(1).max(2_147_483_647); // The largest `integer` of PostgreSQL.
/** A date or date-time, in milliseconds since 1970. */
const instant = dateTime.transform((iso) => Date.parse(iso));
/** The end of a period, which is inclusive: a date without a time is the end of that day. */
const end = z.preprocess(
  (given) => (typeof given === 'string' && /^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T23:59:59.999Z` : given),
  instant,
);

const product = z.strictObject({
  productId: whole,
  productName: text,
  productDisplayName: z.array(text).optional(),
  variantId: whole.optional(),
  variantName: text.optional(),
});

/** Member names as in the interface: the object is sent unchanged. */
const options = z
  .strictObject({
    ExpiryAfter: z.int().min(1).max(36_500),
    UsageLimit: times,
    Capping: z.number().min(0),
    MinOrderValue: z.number().min(0),
    CombinesWith: z
      .strictObject({ ShippingDiscounts: z.boolean(), ProductDiscounts: z.boolean(), OrderDiscounts: z.boolean() })
      .partial(),
    ProductId: text,
    ProductName: text,
    VariantId: text,
    VariantName: text,
    ProductDisplayName: text,
    HasCollections: z.boolean(),
    Platforms: z.array(text),
  })
  .partial();

const couponType = z.enum([
  'free_shipping',
  'percentage_discount',
  'fixed_discount',
  'free_product',
  'fixed_rate_discount',
  'custom',
]);

/** The template of all coupons of a group. */
const coupon = z
  .strictObject({
    type: couponType,
    value: z.number().min(0).optional(),
    currency: text.optional(),
    /** Fixed dates. Default: from the issue, until `options.ExpiryAfter` days after the start, or without end. */
    startAt: instant.optional(),
    endAt: end.optional(),
    product: product.optional(),
    collections: z.array(z.strictObject({ collectionId: whole, collectionName: text })).optional(),
    options: options.optional(),
  })
  .refine(({ type, product }) => (type === 'free_product') === (product !== undefined), {
    path: ['product'],
    message: 'is required for the type free_product, and not allowed for others',
  });

const group = z.strictObject({
  handle: text,
  title: text,
  url: z.url().optional(),
  iconPath: text.optional(),
  description: text.optional(),
  maxPerPlayer: times.optional(),
  startDate: instant.optional(),
  expiryDate: end.optional(),
  active: z.boolean().default(true),
  coupon,
});

const reward = z.strictObject({
  at: z.enum(['pending', 'active']),
  to: z.enum(['friend', 'referrer']),
  group: text,
});

/** Whether a text is the code of a language for the interface and for browsers. */
function isLanguage(code: string): boolean {
  try {
    return /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(code) && new Intl.Locale(code).language !== '';
  } catch {
    return false;
  }
}

export const programme = z
  .strictObject({
    contact: z.enum(['email', 'mobile']),
    country: z
      .string()
      .refine((code): code is CountryCode => isSupportedCountry(code), 'must be a country code like "DE"')
      .optional(),
    contactExpiryDays: z.int().min(1).max(36_500).default(90),
    shopUrl: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
    actionEvent: text,
    languages: z.array(z.string().refine(isLanguage, 'must be a language code like "en"')).min(1),
    landing: z
      .record(z.string(), landingTexts)
      .refine((given) => Object.keys(given).length > 0, 'must have a language')
      .optional(),
    groups: z.array(group),
    rewards: z.array(reward),
  })
  .superRefine(
    ({ groups, rewards, languages, landing = {} }, context) => {
      const problem = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message });
      const handles = groups.map(({ handle }) => handle);
      groups.forEach((group, index) => {
        const {
          startDate = 0,
          expiryDate = Infinity,
          coupon: { startAt = 0, endAt = Infinity },
        } = group;
        if (startDate > expiryDate) problem(['groups', index, 'expiryDate'], 'is before the startDate');
        if (startAt > endAt) problem(['groups', index, 'coupon', 'endAt'], 'is before the startAt');
        const isFirst = handles.indexOf(group.handle) === index;
        if (!isFirst) problem(['groups', index, 'handle'], 'is the handle of another group too');
      });
      for (const language of Object.keys(landing)) {
        if (!languages.includes(language)) problem(['landing', language], 'is not one of the languages');
      }
      rewards.forEach(({ group }, index) => {
        if (!handles.includes(group)) problem(['rewards', index, 'group'], 'is not the handle of a group');
      });
    },
    // Also beside a value that is wrong by itself, unless one of another type is in the way.
    { when: ({ issues }) => issues.every(({ code }) => code !== 'invalid_type') },
  );

/** The content of a programme file. */
export type ProgrammeFile = z.input<typeof programme>;
export type Programme = z.output<typeof programme>;
export type CouponGroup = Programme['groups'][number];

/**
 * Reads the programme from a file; without a path, the built-in one. Throws an OperatorError with one line for each
 * problem, with its path.
 */
export function loadProgramme(path: string | undefined): Programme {
  if (path === undefined) return programme.parse(builtIn);
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new OperatorError(`The programme in ${path} cannot be read: ${reasonOf(error)}`);
  }
  const result = programme.safeParse(content);
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) => `  ${z.core.toDotPath(issue.path) || 'the file'}: ${issue.message}`);
  throw new OperatorError([`The programme in ${path} cannot be used:`, ...lines].join('\n'));
}
