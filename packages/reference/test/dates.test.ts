import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type RunningReference, startReference } from '../kit/reference.ts';
import { type Client, clientOf } from './client.ts';

/* The date rule of docs/reference-service.md. */

let reference: RunningReference;
let client: Client;
beforeAll(async () => {
  reference = await startReference();
  client = clientOf(reference);
});
afterAll(() => reference.close());

/** Sends a text as a date-time and as a date; gives what the service then shows, or the two error messages. */
async function sent(text: string) {
  const read = async (member: 'joinDate' | 'lastOrderDate') => {
    const { status, body } = await client.upsert('dates', { [member]: text });
    return status === 200 ? (await client.player('dates')).body.playerAttributes[member] : `${status} ${body.message}`;
  };
  return [await read('joinDate'), await read('lastOrderDate')];
}

const refused = [
  '400 playerAttributes.joinDate must be a date like 2025-05-01 or 2025-05-01T10:30:00.000Z',
  '400 playerAttributes.lastOrderDate must be a date like 2025-05-01',
];

test.each([
  ['2025-05-01', '2025-05-01T00:00:00.000Z', '2025-05-01'],
  ['20250501', '2025-05-01T00:00:00.000Z', '2025-05-01'],
  [' 2025-05-01 ', '2025-05-01T00:00:00.000Z', '2025-05-01'],
  ['2025-05-01T10:30', '2025-05-01T10:30:00.000Z', '2025-05-01'],
  ['2025-05-01T10', undefined, undefined],
  ['2025-05-01 10:30:05 +02', '2025-05-01T08:30:05.000Z', '2025-05-01'],
  ['20250501T103005Z', '2025-05-01T10:30:05.000Z', '2025-05-01'],
  ['20250501T1030+0200', '2025-05-01T08:30:00.000Z', '2025-05-01'],
  ['2025-05-01t10:30:05,5z', '2025-05-01T10:30:05.500Z', '2025-05-01'],
  ['2025-05-01T10:30:05.123999999Z', '2025-05-01T10:30:05.123Z', '2025-05-01'],
  ['2025-05-01T01:00:00+02:00', '2025-04-30T23:00:00.000Z', '2025-05-01'],
  ['2025-05-01T23:00:00-02', '2025-05-02T01:00:00.000Z', '2025-05-01'],
  ['2024-02-29T24:00:00Z', '2024-03-01T00:00:00.000Z', '2024-02-29'],
  ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z', '0000-01-01'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z', '9999-12-31'],
])('%j is %s and %s', async (text, dateTime, date) => {
  expect(await sent(text)).toEqual(dateTime === undefined ? refused : [dateTime, date]);
});

test.each([
  '2025-02-29',
  '2025-13-01',
  '2025-00-10',
  '2025-1-1',
  '2025-05',
  '2025-121',
  '2025-W18-4',
  '2025-0501',
  '01/05/2025',
  '+2025-05-01',
  '12025-05-01',
  '2025-05-01T24:00:01Z',
  '2025-05-01T25:00Z',
  '2025-05-01T10:60Z',
  '2025-05-01T10:30:60Z',
  '2025-05-01T10:30:00.Z',
  '2025-05-01T10:30.5Z',
  '2025-05-01T10:30:00+24:00',
  '2025-05-01T10:30:00+02:60',
  '2025-05-01T10:30:00+2',
  '2025-05-01T10:30:00 UTC',
  '2025-05-01  10:30',
  '2025-05-01T',
  '2025-05-01Z',
  '1746095400000',
  'yesterday',
  `2025-05-01T10:30:00.${'0'.repeat(100)}Z`,
  `2025-05-01${' '.repeat(100_000)}T10:30`,
])('%j is no date', async (text) => {
  expect(await sent(text.slice(0, 100_100))).toEqual(refused);
});

test('a date-time that its offset moves out of the years 0000 to 9999 is refused as a date-time', async () => {
  expect(await sent('9999-12-31T23:00:00-02:00')).toEqual([refused[0], '9999-12-31']);
  expect(await sent('0000-01-01T01:00:00+02:00')).toEqual([refused[0], '0000-01-01']);
});

const two = (value: number) => String(value).padStart(2, '0');
/** One moment as its parts, and one of the forms in which the rule lets it be written. */
const forms = fc.record({
  day: fc.date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true }),
  dash: fc.constantFrom('-', ''),
  separator: fc.constantFrom('T', 't', ' '),
  colon: fc.constantFrom(':', ''),
  seconds: fc.boolean(),
  fraction: fc.option(fc.tuple(fc.constantFrom('.', ','), fc.stringMatching(/^\d{1,12}$/)), { nil: undefined }),
  space: fc.constantFrom('', ' '),
  offset: fc.option(
    fc.record({
      minutes: fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 }),
      form: fc.constantFrom('hours', 'basic', 'extended'),
    }),
    { nil: undefined },
  ),
});

describe('every form of every moment', () => {
  test('is read as the same moment, and what is read is read again unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(forms, async ({ day, dash, separator, colon, seconds, fraction, space, offset }) => {
        const written = day.toISOString().slice(0, 10);
        const minutes = offset?.form === 'hours' ? Math.trunc(offset.minutes / 60) * 60 : (offset?.minutes ?? 0);
        const [hour, minute, second] = [day.getUTCHours(), day.getUTCMinutes(), day.getUTCSeconds()];
        const time = [hour, minute, ...(seconds ? [second] : [])].map(two).join(colon);
        const digits = seconds && fraction ? fraction.join('') : '';
        const sign = minutes < 0 ? '-' : '+';
        const parts = [two(Math.floor(Math.abs(minutes) / 60)), two(Math.abs(minutes) % 60)];
        const zone =
          offset === undefined
            ? ''
            : sign + (offset.form === 'hours' ? parts[0] : parts.join(offset.form === 'basic' ? '' : ':'));
        const text = `${written.replaceAll('-', dash)}${separator}${time}${digits}${zone === '' ? '' : space}${zone}`;

        const milliseconds = digits === '' ? 0 : Math.trunc(Number(`0.${digits.slice(1)}`) * 1000);
        const moment = new Date(`${written}T00:00:00.000Z`);
        moment.setUTCHours(hour, minute - minutes, seconds ? second : 0);
        const expected = moment.toISOString().replace('.000', `.${String(milliseconds).padStart(3, '0')}`);
        expect([text, ...(await sent(text))]).toEqual([text, expected, written]);
        expect(await sent(expected)).toEqual([expected, expected.slice(0, 10)]);
      }),
      { numRuns: 150, seed: 20_250_501 },
    );
  });
});
