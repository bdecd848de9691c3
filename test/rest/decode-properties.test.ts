import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeCoupons } from '../../src/rest/decode/coupon.ts';
import { decodePlayer } from '../../src/rest/decode/player.ts';
import { decodeReferrals } from '../../src/rest/decode/referral.ts';
import { attributes, coupons, referrals } from '../kit/upstream-data.ts';

const isText = (value: unknown) => typeof value === 'string';
const isDateTime = (value: unknown) => isText(value) && new Date(String(value)).toISOString() === value;
const isSafeUrl = (value: unknown) => !/^(?:javascript|data|vbscript|file|blob):/.test(new URL(String(value)).protocol);

/** What a property must be, by its name; one that is absent is always right. */
const FORMS: [RegExp, (value: unknown) => boolean][] = [
  [/^(?:dateOfBirth|(?:join|creation|start|expiry)Date|(?:start|end)At)$/, isDateTime],
  [/^lastOrderDate$/, (value) => /^\d{4}-\d{2}-\d{2}$/.test(String(value))],
  [/^(?:url|referralLink)$/, isSafeUrl],
  [/^(?:total(?:Active|Pending)?|count|usageLimit|expiryAfter)$/, (value) => (Number(value) | 0) === value],
  [/^(?:totalSpent|avgOrderAmount|value|capping|minOrderValue)$/, Number.isFinite],
  [/^(?:is|has)[A-Z]|Discounts$/, (value) => typeof value === 'boolean'],
  [/^(?:code|currency|\w+Id|firstName|email|handle|city)$/, isText],
  [/^(?:tags|platforms)$/, (value) => Array.isArray(value) && value.every(isText)],
];

/** The first property that has not the form it must have. */
function malformed(value: unknown, path = ''): string | undefined {
  if (typeof value !== 'object' || value === null || path.endsWith('.custom')) return undefined;
  for (const [name, property] of Object.entries(value)) {
    if (property === undefined) continue;
    const isRight = property !== null && FORMS.every(([names, form]) => !names.test(name) || form(property));
    const found = isRight ? malformed(property, `${path}.${name}`) : `${path}.${name}`;
    if (found) return found;
  }
  return undefined;
}

const TEXTS = ['2025-05-01', '2025-02-30', '9999-12-31T23:59:59-23:59', 'https://a.b', 'javascript:0', '1e400'];
const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom<unknown[]>(...TEXTS, -0, { __proto__x: 1 }));

test.each<[string, object, (body: Record<string, unknown>) => unknown]>([
  ['coupons', { coupons: coupons('p1').slice(3, 5) }, (body) => decodeCoupons(body, 'p1', () => {})],
  ['referrals', referrals(3, 1, 3), (body) => decodeReferrals(body, 'p1', () => {})],
  ['a player', { playerAttributes: attributes('p1'), referralLink: 'x' }, (body) => decodePlayer(body, 'p1', () => {})],
])('of %s, odd values anywhere are read in time, each property in its form', (_what, usual, read) => {
  const replacements = fc.infiniteStream(fc.option(odd, { freq: 2, nil: undefined }));
  const check = (values: Iterator<unknown>) => {
    const body = JSON.parse(JSON.stringify(usual), (name, value) => (name && values.next().value) ?? value);
    expect(malformed(read(body))).toBeUndefined();
  };
  fc.assert(fc.property(replacements, check), { seed: 20250501, numRuns: 1_000 });
  // Each pattern sees texts of bounded length: a quadratic one would take longer than a test may.
  for (const unit of ['1', '0-', ' ', 'http://a-', '%25']) {
    const body = JSON.parse(JSON.stringify(usual), (_, value) =>
      Object(value) === value ? value : unit.repeat(100_000),
    );
    expect(read(body)).toBeDefined();
  }
});
