import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDate, parseDateTime } from '../../src/rest/decode/dates.ts';
import { boolean, calendarDate, dateTime, identifier, int, number, text, url } from '../../src/rest/decode/members.ts';
import { withWarnings } from '../kit/with-warnings.ts';

test('a URL is taken exactly when it can be parsed and its scheme is safe', () => {
  const parts = ['http', 'https', 'app', 'javascript', 'data', 'file', '://', ':', '/', '.', '-', '--', '@', '?', '#'];
  const odd = ['%', '[', ' ', '\t', '\n', '1', '0x1', 'xn--', 'a', 'example', 'com', 'ü'];
  const address = fc.oneof(
    fc.stringMatching(/^https?:\/\/[a-z0-9.:-]+(?:[/?#][ -~]*)?$/),
    fc.array(fc.constantFrom(...parts, ...odd), { maxLength: 8 }).map((words) => words.join('')),
    fc.webUrl(),
  );
  const isSafe = (text: string) => !/^(?:javascript|data|vbscript|file|blob):$/.test(new URL(text).protocol);
  fc.assert(
    fc.property(address, (text) => {
      const [decoded] = withWarnings((warn) => url(text, 'm', warn));
      expect(decoded).toBe(URL.canParse(text) && isSafe(text) ? text : undefined);
    }),
    { numRuns: 2_000 },
  );
});

test('a date-time is the same moment in whatever form it is written', () => {
  const pad = (value: number, length = 2) => String(value).padStart(length, '0');
  const form = fc.record({
    date: fc.date({ noInvalidDate: true, min: new Date('0001-01-02'), max: new Date('9999-12-30') }),
    basic: fc.boolean(),
    separator: fc.constantFrom('T', 't', ' '),
    mark: fc.constantFrom('.', ','),
    precision: fc.constantFrom('minutes', 'seconds', 'milliseconds', 'nanoseconds'),
    offsetMinutes: fc.integer({ min: -14 * 60, max: 14 * 60 }),
    offsetForm: fc.constantFrom('none', 'Z', 'hours', 'digits', 'colon'),
    space: fc.constantFrom('', ' '),
  });
  fc.assert(
    fc.property(form, ({ date, basic, separator, mark, precision, offsetForm, space, ...rest }) => {
      const isUtc = offsetForm === 'none' || offsetForm === 'Z';
      const offset = isUtc ? 0 : offsetForm === 'hours' ? Math.trunc(rest.offsetMinutes / 60) * 60 : rest.offsetMinutes;
      const local = new Date(date.getTime() + offset * 60_000).toISOString();
      const day = local.slice(0, 10);
      const cut = { minutes: 16, seconds: 19, milliseconds: 23, nanoseconds: 23 }[precision];
      const time = local.slice(11, cut).replace('.', mark) + (precision === 'nanoseconds' ? '999999' : '');
      const digits = pad(Math.floor(Math.abs(offset) / 60)) + pad(Math.abs(offset) % 60);
      const colon = `${digits.slice(0, 2)}:${digits.slice(2)}`;
      const shown = { none: '', Z: 'Z', hours: digits.slice(0, 2), digits, colon: basic ? digits : colon }[offsetForm];
      const sign = isUtc ? '' : offset < 0 ? '-' : '+';
      const [dayText, timeText] = basic ? [day.replaceAll('-', ''), time.replaceAll(':', '')] : [day, time];
      const text = space + dayText + separator + timeText + sign + shown + space;
      const expected = new Date(`${local.slice(0, cut)}${cut === 16 ? ':00' : ''}Z`).getTime() - offset * 60_000;
      expect([text, parseDateTime(text)]).toEqual([text, new Date(expected).toISOString()]);
      expect([text, parseDate(text)]).toEqual([text, day]);
    }),
    { numRuns: 3_000 },
  );
});

test('what parses as a date-time is canonical, and parses to itself', () => {
  const text = fc.stringMatching(
    /^\d{4}-?[01]\d-?[0-3]\d(?:[T ]\d{2}:?\d{2}(?::?\d{2}(?:[.,]\d{1,4})?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?$/,
  );
  fc.assert(
    fc.property(text, (written) => {
      const moment = parseDateTime(written);
      const day = parseDate(written);
      expect(moment === undefined).toBe(day === undefined);
      if (moment === undefined || day === undefined) return;
      expect(new Date(moment).toISOString()).toBe(moment);
      expect(new Date(`${day}T00:00:00.000Z`).toISOString()).toBe(`${day}T00:00:00.000Z`);
      expect([parseDateTime(moment), parseDate(day)]).toEqual([moment, day]);
    }),
    { numRuns: 3_000 },
  );
});

describe('dates', () => {
  test.each([
    ['2025-05-01T10:20:30.456Z', '2025-05-01T10:20:30.456Z'],
    ['2025-05-01T10:20:30Z', '2025-05-01T10:20:30.000Z'],
    ['2025-05-01T10:20Z', '2025-05-01T10:20:00.000Z'],
    ['2025-05-01T10:20:30', '2025-05-01T10:20:30.000Z'],
    ['2025-05-01 10:20:30', '2025-05-01T10:20:30.000Z'],
    ['2025-05-01', '2025-05-01T00:00:00.000Z'],
    ['2025-05-01t10:20:30z', '2025-05-01T10:20:30.000Z'],
    ['2025-05-01T10:20:30.1Z', '2025-05-01T10:20:30.100Z'],
    ['2025-05-01T10:20:30.1234567Z', '2025-05-01T10:20:30.123Z'],
    ['2025-05-01T00:30:00+02:00', '2025-04-30T22:30:00.000Z'],
    ['2025-05-01T00:30:00-0530', '2025-05-01T06:00:00.000Z'],
    ['2025-05-01T00:30:00+02', '2025-04-30T22:30:00.000Z'],
    ['2025-05-01T10:20:30,5Z', '2025-05-01T10:20:30.500Z'],
    ['20250501T100000Z', '2025-05-01T10:00:00.000Z'],
    ['20250501T1000+0200', '2025-05-01T08:00:00.000Z'],
    ['20250501', '2025-05-01T00:00:00.000Z'],
    ['2024-02-29T00:00:00.000Z', '2024-02-29T00:00:00.000Z'],
    ['2024-12-31T23:59:59.999Z', '2024-12-31T23:59:59.999Z'],
    [' 2025-05-01 ', '2025-05-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00', '0001-01-01T00:00:00.000Z'],
  ])('%j is %s', (value, expected) => {
    expect(withWarnings((warn) => dateTime(value, 'm', warn))).toEqual([expected]);
  });

  test.each([undefined, null, ''])('%j is nothing', (value) => {
    expect(withWarnings((warn) => dateTime(value, 'm', warn))).toEqual([undefined]);
  });

  test.each([
    'yesterday',
    '2025-02-30',
    '2025-02-29T00:00:00.000Z',
    '2025-02-30T00:00:00.000Z',
    '2025-13-01T00:00:00.000Z',
    '2025-05-01T25:00:00.000Z',
    '2025-05-01T10:20:60.000Z',
    '2025-0501',
    '20250230T100000Z',
    `2025-05-01T10:20:30.${'1'.repeat(100)}Z`,
    '2025-05-01T10:60:00.000Z',
    '2025-05-01T10:20:30.456X',
    '05/01/2025',
    '2025-05',
    1746057600000,
    true,
    {},
  ])('%j cannot be read, is left out and noticed', (value) => {
    expect(withWarnings((warn) => dateTime(value, 'm', warn))).toEqual([undefined, 'undecodable-date m']);
  });

  test.each([
    ['2025-05-01', '2025-05-01'],
    ['2025-05-01T23:30:00-05:00', '2025-05-01'],
    ['20250501T233000-0500', '2025-05-01'],
    ['2025-05-01T00:00:00.000Z', '2025-05-01'],
    [' 2025-05-01', '2025-05-01'],
  ])('the calendar date of %j is %s', (value, expected) => {
    expect(withWarnings((warn) => calendarDate(value, 'm', warn))).toEqual([expected]);
  });

  test('a calendar date that cannot be read is left out and noticed', () => {
    expect(withWarnings((warn) => calendarDate('soon', 'm', warn))).toEqual([undefined, 'undecodable-date m']);
  });
});

describe('members', () => {
  const wrong = 'wrong-type m';
  test.each<[string, typeof text | typeof number | typeof boolean, unknown, unknown, ...string[]]>([
    ['text', text, 'a', 'a'],
    ['text', text, '', ''],
    ['text', text, 12.5, '12.5'],
    ['text', text, null, undefined],
    ['text', text, true, undefined, wrong],
    ['text', text, ['a'], undefined, wrong],
    ['number', number, 12.5, 12.5],
    ['number', number, -0.5, -0.5],
    ['number', number, '12.50', 12.5],
    ['number', number, `1${'0'.repeat(30_000)}`, undefined, wrong],
    ['number', number, `1.${'0'.repeat(62)}`, 1],
    ['number', number, `1.${'0'.repeat(63)}`, undefined, wrong],
    ['number', number, ' 1e3 ', 1000],
    ['number', number, '', undefined],
    ['number', number, null, undefined],
    ['number', number, '0x10', undefined, wrong],
    ['number', number, 'Infinity', undefined, wrong],
    ['number', number, '12,5', undefined, wrong],
    ['number', number, '1e999', undefined, wrong],
    ['number', number, '9007199254740991', 9007199254740991],
    ['number', number, '9007199254740993', undefined, 'out-of-range m'],
    ['number', number, '-9007199254740993.0', undefined, 'out-of-range m'],
    ['number', number, '9e15', 9e15],
    ['number', number, 9007199254740992, 9007199254740992],
    ['number', number, false, undefined, wrong],
    ['int', int, 7, 7],
    ['int', int, '7', 7],
    ['int', int, 2147483647, 2147483647],
    ['int', int, -2147483648, -2147483648],
    ['int', int, 2147483648, undefined, 'out-of-range m'],
    ['int', int, 7.5, undefined, wrong],
    ['int', int, '9007199254740993', undefined, 'out-of-range m'],
    ['int', int, 9007199254740992, undefined, 'out-of-range m'],
    ['identifier', identifier, 5000000001, '5000000001'],
    ['identifier', identifier, 'a', 'a'],
    ['identifier', identifier, '9007199254740993', '9007199254740993'],
    ['identifier', identifier, JSON.parse('9007199254740993'), undefined, wrong],
    ['identifier', identifier, 1e21, undefined, wrong],
    ['identifier', identifier, 1.5, undefined, wrong],
    ['boolean', boolean, true, true],
    ['boolean', boolean, false, false],
    ['boolean', boolean, null, undefined],
    ['boolean', boolean, 'true', true],
    ['boolean', boolean, ' False ', false],
    ['boolean', boolean, '', undefined],
    ['boolean', boolean, 'yes', undefined, wrong],
    ['boolean', boolean, 1, undefined, wrong],
    ['address', url, 'https://a.example/x?y', 'https://a.example/x?y'],
    ['address', url, 'HTTP://a.example', 'HTTP://a.example'],
    ['address', url, 'myshop://invite/p1', 'myshop://invite/p1'],
    ['address', url, 'mailto:a@b.example', 'mailto:a@b.example'],
    ['address', url, '', undefined],
    ['address', url, null, undefined],
    ['address', url, 'javascript:alert(1)', undefined, 'bad-url m'],
    ['address', url, ' java\tscript:alert(1)', undefined, 'bad-url m'],
    ['address', url, 'DATA:text/html,x', undefined, 'bad-url m'],
    ['address', url, 'vbscript:x', undefined, 'bad-url m'],
    ['address', url, 'file:///etc/passwd', undefined, 'bad-url m'],
    ['address', url, 'blob:https://a.example/1', undefined, 'bad-url m'],
    ['address', url, '/relative', undefined, 'bad-url m'],
    ['address', url, '//a.example', undefined, 'bad-url m'],
    ['address', url, 'https://', undefined, 'bad-url m'],
    ['address', url, 7, undefined, 'bad-url m'],
  ])('%s: %p of %j is %j', (_kind, read, value, ...expected) => {
    expect(withWarnings((warn) => read(value, 'm', warn))).toEqual(expected);
  });
});
