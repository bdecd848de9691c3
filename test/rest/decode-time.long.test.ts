/* The time of decoding grows with the length of a text and no faster, whatever a service sends. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDate, parseDateTime } from '../../src/rest/decode/dates.ts';
import {
  boolean,
  calendarDate,
  dateTime,
  identifier,
  int,
  number,
  oneOf,
  text,
  texts,
  url,
} from '../../src/rest/decode/members.ts';
import { trackEvents } from '../../src/rest/endpoints.ts';
import { idProblem } from '../../src/rest/request.ts';
import { readResponse, retryAfterMs } from '../../src/rest/response.ts';
import { decodeCoupons, decodePlayer, decodeReferrals, decodeUpsert } from '../../src/rest/wire.ts';

const ignore = () => {};
const attributes = ['displayName', 'dateOfBirth', 'tags', 'totalSpent', 'totalOrders', 'lastOrderDate', 'custom'];
const coupon = ['code', 'isUsed', 'value', 'creationDate', 'couponType', 'product', 'collections', 'group', 'options'];
const all = (names: string[], value: string) => Object.fromEntries(names.map((name) => [name, value]));

/** Every exported decoder, given one text in each of its places. */
const decoders: [string, (value: string) => unknown][] = [
  ['text', (value) => text(value, 'm', ignore)],
  ['identifier', (value) => identifier(value, 'm', ignore)],
  ['number', (value) => number(value, 'm', ignore)],
  ['int', (value) => int(value, 'm', ignore)],
  ['boolean', (value) => boolean(value, 'm', ignore)],
  ['url', (value) => url(value, 'm', ignore)],
  ['oneOf', (value) => oneOf('active')(value, 'm', ignore)],
  ['texts', (value) => texts([value], 'm', ignore)],
  ['dateTime', (value) => dateTime(value, 'm', ignore)],
  ['calendarDate', (value) => calendarDate(value, 'm', ignore)],
  ['parseDateTime', parseDateTime],
  ['parseDate', parseDate],
  ['idProblem', idProblem],
  [
    'decodePlayer',
    (value) => decodePlayer({ referralLink: value, playerAttributes: all(attributes, value) }, 'p', ignore),
  ],
  ['decodeUpsert', (value) => decodeUpsert({ serviceId: value, referralLink: value }, 'p', 'serviceId', ignore)],
  ['decodeCoupons', (value) => decodeCoupons({ coupons: [all(coupon, value)] }, ignore)],
  [
    'decodeReferrals',
    (value) => decodeReferrals({ referredFriends: [{ status: value, joinDate: value }], total: value }, ignore),
  ],
  ['retryAfterMs', (value) => retryAfterMs({ status: 429, headers: { 'retry-after': value }, body: Buffer.alloc(0) })],
  ['readResponse', (value) => readAcknowledgement(value)],
];

function readAcknowledgement(value: string): unknown {
  try {
    const headers = { 'content-type': `application/${value}` };
    return readResponse({ status: 200, headers, body: Buffer.from(value) }, trackEvents, {});
  } catch {
    return undefined;
  }
}

const LENGTH = 100_000;
const GROWTH = 16;
/** What a linear function may take for a text `GROWTH` times as long, with room for a busy machine; a quadratic one takes 256. */
const MAX_RATIO = 100;

/** Alphabets of which a pattern can make much: digits, what separates them, white space, parts of names and URLs. */
const alphabet = fc.constantFrom(
  '1',
  '1.',
  '0-',
  ' ',
  '\t ',
  'a',
  'a-',
  'a.',
  'http://a-',
  '%',
  ',',
  '+',
  'json+',
  '"',
  '\u0000',
  'é',
);
const shape = fc.record({
  start: fc.constantFrom('', '1', 'https://', '2025-05-01T', '"'),
  unit: alphabet,
  end: fc.constantFrom('', '!', 'x', ' '),
});

/** The shortest of several runs, in milliseconds: what else happens on the machine only makes a run longer. */
function shortest(run: (time: number) => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 5; time += 1) {
    const started = performance.now();
    run(time);
    best = Math.min(best, performance.now() - started);
  }
  return best;
}

test.each(decoders)('%s takes time in proportion to the text', (_name, decode) => {
  fc.assert(
    fc.property(shape, ({ start, unit, end }) => {
      const long = start + unit.repeat(Math.ceil(LENGTH / unit.length)) + end;
      const short = start + unit.repeat(Math.ceil(LENGTH / GROWTH / unit.length)) + end;
      // A new text each time: V8 remembers how it has split one.
      const longMs = shortest((time) => decode(long + time));
      // Too short to be measured, and so to matter.
      if (longMs < 1) return;
      expect(longMs / shortest((time) => decode(short + time))).toBeLessThan(MAX_RATIO);
    }),
    { numRuns: 60 },
  );
});
