import { expect, test } from '@jest/globals';
import { readContact } from '../src/programme/contacts.ts';
import { readJson } from '../src/wire/json.ts';
import { date, dateTime } from '../src/wire/members.ts';
import { nameProblem, playerIdProblem } from '../src/wire/text.ts';

/** What reads foreign text takes CPU time in proportion to its length. A quadratic reader would not end in the time of a test. */
const repeat = (text: string) => text.repeat(Math.ceil(200_000 / text.length));
const TEXTS = [' ', ...'a 0 . , ;q= @ a@ + ( - \t " \\ [ {"a": 0. ٣ 🎈 \u202e'.split(' ')]
  .map(repeat)
  .flatMap((text) => [text, `a${text}b`, `2025-05-01T10:00${text}x`, `+49${text}x`]);

test.each<[reader: string, read: (text: string) => unknown]>([
  ['nameProblem', nameProblem],
  ['playerIdProblem', playerIdProblem],
  ['readContact of an e-mail', (text) => readContact('email', text)],
  ['readContact of a mobile', (text) => readContact('mobile', text)],
  ['date', (text) => date.safeParse(text)],
  ['dateTime', (text) => dateTime.safeParse(text)],
  // It throws for most texts.
  ['readJson', async (text) => readJson(Buffer.from(text))],
])('%s', async (_name, read) => {
  for (const text of TEXTS) expect(await Promise.allSettled([read(text)])).toHaveLength(1);
});
