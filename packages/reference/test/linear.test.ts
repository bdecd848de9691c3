import { test } from '@jest/globals';
import { readContact } from '../src/programme/contacts.ts';
import { landingPage } from '../src/routes/landing-page.ts';
import { readJson } from '../src/wire/json.ts';
import { date, dateTime } from '../src/wire/members.ts';
import { nameProblem, playerIdProblem, textProblem } from '../src/wire/text.ts';

/** What reads foreign text takes CPU time in proportion to its length. A quadratic reader takes seconds for this length. */
const LENGTH = 100_000;
const MOST_MS = 100;

const READERS: Record<string, (text: string) => unknown> = {
  landingPage: (text) => landingPage({ kind: 'form', contact: 'email', value: text, isInvalid: true }),
  'readContact of an e-mail': (text) => readContact('email', text),
  'readContact of a mobile': (text) => readContact('mobile', text),
  date: (text) => date.safeParse(text),
  dateTime: (text) => dateTime.safeParse(text),
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
const TEXTS = [' ', ...'a 0 . , ;q= @ a@ + ( - \t " \\ [ {"a": 0. ٣ 🎈 \u202e'.split(' ')]
  .map(repeat)
  .flatMap((text) => [text, `a${text}b`, `2025-05-01T10:00${text}x`, `+49${text}x`]);

test.each(Object.entries(READERS))('%s', (_name, read) => {
  for (const text of TEXTS) {
    const times = [1, 2, 3].map(() => {
      const before = process.cpuUsage();
      read(text);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    });
    if (Math.min(...times) > MOST_MS) throw new Error(`${Math.min(...times)} ms for ${text.slice(0, 20)}…`);
  }
});
