import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeCoupons, decodePlayer, decodeReferrals } from '../../src/rest/wire.ts';

const ignore = () => {};
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** What every member of an answer must be, by name; a member that is absent is always right. */
const FORMS: Record<string, (value: unknown) => boolean> = {
  dateOfBirth: isDateTime,
  joinDate: isDateTime,
  creationDate: isDateTime,
  startAt: isDateTime,
  endAt: isDateTime,
  startDate: isDateTime,
  expiryDate: isDateTime,
  lastOrderDate: (value) => /^\d{4}-\d{2}-\d{2}$/.test(String(value)),
  url: isUrl,
  referralLink: isUrl,
  totalOrders: isInt,
  total: isInt,
  count: isInt,
  maxPerPlayer: isInt,
  usageLimit: isInt,
  totalSpent: Number.isFinite,
  capping: Number.isFinite,
  isUsed: (value) => typeof value === 'boolean',
  code: (value) => typeof value === 'string',
  productId: (value) => typeof value === 'string',
  tags: isTexts,
  platforms: isTexts,
};

function isDateTime(value: unknown): boolean {
  return typeof value === 'string' && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value));
}
function isUrl(value: unknown): boolean {
  return typeof value === 'string' && !/^(?:javascript|data|vbscript|file|blob):/.test(new URL(value).protocol);
}
function isInt(value: unknown): boolean {
  return Number.isInteger(value) && Math.abs(Number(value)) <= 2 ** 31;
}
function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** The first member that has not the form it must have. */
function malformed(value: unknown, path = ''): string | undefined {
  if (typeof value !== 'object' || value === null || path.endsWith('.custom')) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const here = `${path}.${name}`;
    if (member === null) return here;
    if (member === undefined) continue;
    const form = FORMS[name];
    if (form && !form(member)) return here;
    const inside = malformed(member, here);
    if (inside) return inside;
  }
  return undefined;
}

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    '2025-05-01',
    '2025-02-30',
    '2025-05-01T10:00',
    '9999-12-31T23:59:59-23:59',
    'https://a.example',
    'javascript:0',
    '7',
    '1e400',
    -0,
  ),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') }).map((date) => date.toISOString()),
);
const object = (...names: string[]) => fc.dictionary(fc.constantFrom(...names), odd);
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.oneof(odd, value);

const group = object('handle', 'title', 'url', 'maxPerPlayer', 'startDate', 'expiryDate', 'isActive', '__proto__');
const options = object('UsageLimit', 'Capping', 'CombinesWith', 'ProductId', 'Platforms', 'HasCollections');
const coupon = fc
  .tuple(
    object('code', 'isUsed', 'creationDate', 'couponType', 'startAt', 'endAt', 'collections'),
    optional(group),
    optional(options),
  )
  .map(([members, inGroup, withOptions]) => ({ ...members, group: inGroup, options: withOptions }));
const attributes = object(
  'displayName',
  'dateOfBirth',
  'joinDate',
  'tags',
  'totalSpent',
  'totalOrders',
  'lastOrderDate',
  'custom',
);
const friend = object('playerUniqueId', 'email', 'joinDate', 'status', 'toString');

test.each<[string, fc.Arbitrary<unknown>, (body: Record<string, unknown>) => unknown]>([
  ['coupons', fc.record({ coupons: optional(fc.array(optional(coupon))) }), (body) => decodeCoupons(body, ignore)],
  [
    'referrals',
    fc.record({ referredFriends: optional(fc.array(optional(friend))), total: odd, count: odd }),
    (body) => decodeReferrals(body, ignore),
  ],
  [
    'a player',
    fc.record({ playerAttributes: optional(attributes), referralLink: odd }),
    (body) => decodePlayer(body, 'p1', ignore),
  ],
])(
  'whatever the service says of %s is read without a failure, and every member has its form',
  (_what, bodies, read) => {
    fc.assert(
      fc.property(bodies, (body) => {
        const sent: Record<string, unknown> = JSON.parse(JSON.stringify(body));
        expect(malformed(read(sent))).toBeUndefined();
      }),
      { seed: 20250501, numRuns: 2000 },
    );
  },
);
