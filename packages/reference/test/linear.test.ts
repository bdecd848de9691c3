import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { landingPage } from '../../src/reference/landing/page.ts';
import { chooseLanguage, textsIn } from '../../src/reference/landing/texts.ts';
import { readContact } from '../../src/reference/programme/contacts.ts';
import { readDate, readDateTime } from '../../src/reference/wire/dates.ts';
import { readJson } from '../../src/reference/wire/json.ts';
import { nameProblem, playerIdProblem, textProblem } from '../../src/reference/wire/text.ts';
import { type RunningReference, startReference } from '../kit/reference.ts';
import { clientOf } from './client.ts';

/** What reads foreign text takes time in proportion to its length. A quadratic reader takes seconds for this length. */
const LENGTH = 100_000;
const MOST_MS = 100;

const READERS: Record<string, (text: string) => unknown> = {
  chooseLanguage: (text) => chooseLanguage(['en', 'de'], text, text),
  landingPage: (text) =>
    landingPage('en', textsIn('en', {}), { kind: 'form', contact: 'email', value: text, isInvalid: true }),
  'readContact of an e-mail': (text) => readContact('email', text, undefined),
  'readContact of a mobile': (text) => readContact('mobile', text, 'DE'),
  readDate,
  readDateTime,
  readJson: (text) => {
    try {
      return readJson(Buffer.from(text));
    } catch {
      return undefined;
    }
  },
  textProblem,
  nameProblem,
  playerIdProblem,
};

const repeat = (text: string) => text.repeat(Math.ceil(LENGTH / text.length));
const TEXTS = [
  ' ',
  'a',
  '0',
  '.',
  ',',
  ';q=',
  '@',
  'a@',
  '+',
  '(',
  '-',
  '\t',
  '"',
  '\\',
  '[',
  '{"a":',
  '0.',
  '٣',
  '🎈',
  '\u202e',
]
  .map(repeat)
  .flatMap((text) => [text, `a${text}b`, `2025-05-01T10:00${text}x`, `+49${text}x`]);

test.each(Object.entries(READERS))('%s', (_name, read) => {
  for (const text of TEXTS) {
    const times = [1, 2, 3].map(() => {
      const began = performance.now();
      read(text);
      return performance.now() - began;
    });
    if (Math.min(...times) > MOST_MS) throw new Error(`${Math.min(...times)} ms for ${text.slice(0, 20)}…`);
  }
});

let reference: RunningReference;
beforeAll(async () => {
  reference = await startReference();
});
afterAll(() => reference.close());

test('an Accept-Language header of 15,000 blanks costs no more than a short one', async () => {
  const client = clientOf(reference);
  const { pathname } = new URL((await client.upsert('host')).body.referralLink);
  const fastest = async (acceptLanguage: string) => {
    const times = [];
    for (let round = 0; round < 10; round++) {
      const began = performance.now();
      const { status } = await client.call('GET', pathname, undefined, { 'accept-language': acceptLanguage });
      times.push(performance.now() - began);
      expect(status).toBe(200);
    }
    return Math.min(...times);
  };
  const [short, long] = [await fastest('a'), await fastest(`a${' '.repeat(15_000)}b`)];
  expect(long).toBeLessThan(short + 20);
});
