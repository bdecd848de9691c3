import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readDate, readDateTime } from '../src/reference/wire/dates.ts';
import { parseDate, parseDateTime } from '../src/rest/decode/dates.ts';

/* The two programs share no code; this holds them to one date rule (docs/reference-service.md). */

const part = (...choices: string[]) => fc.constantFrom(...choices);
const texts = fc
  .tuple(
    part('', ' '),
    part('2025-05-01', '20250501', '2024-02-29', '2025-02-29', '0000-01-01', '9999-12-31', '2025-0501', '2025-13-01'),
    part('', 'T', 't', ' ', '  '),
    part('', '10', '10:20', '1020', '10:20:30', '102030', '24:00', '24:00:00', '24:01', '23:59:60', '10:2030'),
    part('', '.5', ',123456789', '.', `.${'1'.repeat(30)}`, `.${'1'.repeat(31)}`),
    part('', 'Z', 'z', '+02', '-0230', '+02:30', ' Z', '  Z', '+24:00', '+2'),
    part('', ' ', 'x'),
  )
  .map((parts) => parts.join(''));

test('both programs read the same texts as the same moments and days', () => {
  const read = { moments: 0, refused: 0 };
  fc.assert(
    fc.property(texts, (text) => {
      const moment = parseDateTime(text);
      expect({ text, moment, day: parseDate(text) }).toEqual({ text, moment: readDateTime(text), day: readDate(text) });
      read[moment === undefined ? 'refused' : 'moments'] += 1;
    }),
    { numRuns: 5_000 },
  );
  expect(Math.min(read.moments, read.refused)).toBeGreaterThan(100);
});
