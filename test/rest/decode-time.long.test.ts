/* The time of decoding grows with the length of a text and no faster, whatever a service sends. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDateTime } from '../../src/rest/decode/dates.ts';
import { idProblem } from '../../src/rest/request.ts';
import { decodeCoupons, decodePlayer, decodeReferrals, decodeUpsert } from '../../src/rest/wire.ts';

const ignore = () => {};
const ATTRIBUTES = ['displayName', 'dateOfBirth', 'tags', 'totalSpent', 'totalOrders', 'lastOrderDate', 'custom'];
const COUPON = ['code', 'isUsed', 'value', 'creationDate', 'couponType', 'product', 'collections', 'group', 'options'];
const all = (names: string[], value: unknown) => Object.fromEntries(names.map((name) => [name, value]));

/** Each decoder, given one text in each of its places. */
const decoders: [string, (text: string) => unknown][] = [
  ['parseDateTime', parseDateTime],
  ['idProblem', idProblem],
  [
    'decodePlayer',
    (text) => decodePlayer({ referralLink: text, playerAttributes: all(ATTRIBUTES, text) }, 'p', ignore),
  ],
  ['decodeUpsert', (text) => decodeUpsert({ serviceId: text, referralLink: text }, 'p', 'serviceId', ignore)],
  ['decodeCoupons', (text) => decodeCoupons({ coupons: [all(COUPON, text)] }, ignore)],
  ['decodeReferrals', (text) => decodeReferrals({ referredFriends: [{ status: text, joinDate: text }] }, ignore)],
];

const LENGTH = 100_000;
const GROWTH = 16;
/** What a linear function may take for a text `GROWTH` times as long, on a busy machine; a quadratic one takes 256. */
const MAX_RATIO = 100;

/** Texts of which a pattern can make much: digits, what separates them, white space, parts of names and URLs. */
const units = ['1', '1.', '0-', ' ', '\t ', 'a', 'a-', 'a.', 'http://a-', '%', '%25', ',', '+', '"', '\u0000', 'é'];
const shape = fc.record({
  start: fc.constantFrom('', '1', 'https://', '2025-05-01T', '"'),
  unit: fc.constantFrom(...units),
  end: fc.constantFrom('', '!', 'x', ' '),
});

/** The shortest of several runs, in milliseconds: what else happens on the machine only makes a run longer. */
function shortest(run: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const started = performance.now();
    run();
    return performance.now() - started;
  });
  return Math.min(...times);
}

test.each(decoders)('%s takes time in proportion to the text', (_name, decode) => {
  fc.assert(
    fc.property(shape, ({ start, unit, end }) => {
      const text = (length: number) => start + unit.repeat(Math.ceil(length / unit.length)) + end;
      const longMs = shortest(() => decode(text(LENGTH)));
      // Less is too short to be measured, and so to matter.
      if (longMs > 1) expect(longMs / shortest(() => decode(text(LENGTH / GROWTH)))).toBeLessThan(MAX_RATIO);
    }),
    { numRuns: 60 },
  );
});
