import { readFileSync } from 'node:fs';
import { OperatorError } from '../errors.ts';
import { type Programme, type ProgrammeFile, programme } from './schema.ts';

/**
 * Reads the programme from a file; without a path, the built-in programme. Throws an OperatorError with one line for each
 * problem, with its path.
 */
export function loadProgramme(path: string | undefined): Programme {
  if (path === undefined) return programme.parse(DEFAULT_PROGRAMME);
  const result = programme.safeParse(readFile(path));
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) => `  ${pathOf(issue.path)}: ${issue.message}`);
  throw new OperatorError([`The programme in ${path} cannot be used:`, ...lines].join('\n'));
}

function readFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`The programme in ${path} cannot be read: ${reason}`);
  }
}

/** For example `groups[2].coupon.type`. */
function pathOf(path: PropertyKey[]): string {
  const written = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return written.replace(/^\./, '') || 'the file';
}

/** The programme without a programme file: a reward for the friend, one for both, and a group of each coupon type. */
export const DEFAULT_PROGRAMME: ProgrammeFile = {
  contact: 'email',
  actionEvent: 'place_order',
  languages: ['en', 'de', 'es', 'fr'],
  groups: [
    {
      handle: 'welcome',
      title: 'Welcome',
      description: '10 % off the first order of a friend who was referred.',
      maxPerPlayer: 2,
      coupon: {
        type: 'percentage_discount',
        value: 10,
        options: {
          ExpiryAfter: 30,
          UsageLimit: 1,
          Capping: 50,
          MinOrderValue: 20,
          CombinesWith: { ShippingDiscounts: true, ProductDiscounts: false, OrderDiscounts: false },
          Platforms: ['web', 'android', 'ios'],
        },
      },
    },
    {
      handle: 'thank-you',
      title: 'Thank you',
      description: '5 EUR for each of the first two friends who placed an order.',
      url: 'https://shop.example/rewards/thank-you',
      iconPath: '/icons/thank-you.svg',
      maxPerPlayer: 2,
      startDate: '2024-01-01T00:00:00.000Z',
      expiryDate: '2099-12-31T23:59:59.999Z',
      coupon: {
        type: 'fixed_discount',
        value: 5,
        currency: 'EUR',
        options: { ExpiryAfter: 90, UsageLimit: 1, MinOrderValue: 25 },
      },
    },
    {
      handle: 'free-shipping',
      title: 'Free shipping',
      description: 'The next parcel travels for nothing.',
      coupon: { type: 'free_shipping', options: { ExpiryAfter: 14, UsageLimit: 3 } },
    },
    {
      handle: 'coffee-mug',
      title: 'A mug for you',
      description: 'A mug, free with any order.',
      maxPerPlayer: 5,
      coupon: {
        type: 'free_product',
        value: 1,
        product: {
          productId: 7_000_000_000_001,
          productName: 'coffee-mug',
          productDisplayName: ['Coffee mug'],
          variantId: 8_000_000_000_002,
          variantName: 'blue',
        },
        options: {
          UsageLimit: 1,
          ProductId: '7000000000001',
          ProductName: 'coffee-mug',
          ProductDisplayName: 'Coffee mug',
          VariantId: '8000000000002',
          VariantName: 'blue',
        },
      },
    },
    {
      handle: 'one-price',
      title: 'One price',
      description: 'Anything of the summer collections for 15 EUR.',
      coupon: {
        type: 'fixed_rate_discount',
        value: 15,
        currency: 'EUR',
        collections: [
          { collectionId: 9_000_000_000_003, collectionName: 'Summer' },
          { collectionId: 9_000_000_000_004, collectionName: 'Beach' },
        ],
        options: { ExpiryAfter: 7, UsageLimit: 2, HasCollections: true },
      },
    },
    {
      handle: 'early-access',
      title: 'Early access',
      description: 'Shop the sale a day before everybody else.',
      coupon: {
        type: 'custom',
        startAt: '2024-11-28T00:00:00.000Z',
        endAt: '2024-11-28T23:59:59.999Z',
        options: { UsageLimit: 1 },
      },
    },
  ],
  rewards: [
    { at: 'pending', to: 'friend', group: 'welcome' },
    { at: 'active', to: 'referrer', group: 'thank-you' },
    { at: 'active', to: 'friend', group: 'thank-you' },
  ],
};
