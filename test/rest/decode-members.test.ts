import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { calendarDate, dateTime } from '../../src/rest/decode/dates.ts';
import { boolean, identifier, int, number, text, url } from '../../src/rest/decode/members.ts';
import { withWarnings } from '../kit/with-warnings.ts';

test('an address is taken exactly when it is http(s) and can be parsed', () => {
  const parts = [
    'http',
    'https',
    'ftp',
    '://',
    ':',
    '/',
    '.',
    '-',
    '--',
    '@',
    '?',
    '#',
    '%',
    '[',
    ' ',
    '1',
    '0x1',
    'xn--',
    'a',
    'example',
    'com',
    'ü',
  ];
  const address = fc.oneof(
    fc.stringMatching(/^https?:\/\/[a-z0-9.:-]+(?:[/?#][ -~]*)?$/),
    fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((words) => `https://${words.join('')}`),
    fc.webUrl(),
  );
  fc.assert(
    fc.property(address, (text) => {
      const [read] = withWarnings((warn) => url(text, 'm', warn));
      expect(read).toBe(URL.canParse(text) ? text : undefined);
    }),
    { numRuns: 2_000 },
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
    ['number', number, ' 1e3 ', 1000],
    ['number', number, '', undefined],
    ['number', number, null, undefined],
    ['number', number, '0x10', undefined, wrong],
    ['number', number, 'Infinity', undefined, wrong],
    ['number', number, '12,5', undefined, wrong],
    ['number', number, '1e999', undefined, wrong],
    ['number', number, false, undefined, wrong],
    ['int', int, 7, 7],
    ['int', int, '7', 7],
    ['int', int, 2147483647, 2147483647],
    ['int', int, -2147483648, -2147483648],
    ['int', int, 2147483648, undefined, 'out-of-range m'],
    ['int', int, 7.5, undefined, wrong],
    ['identifier', identifier, 5000000001, '5000000001'],
    ['identifier', identifier, 'a', 'a'],
    ['identifier', identifier, 1e21, undefined, wrong],
    ['identifier', identifier, 1.5, undefined, wrong],
    ['boolean', boolean, true, true],
    ['boolean', boolean, false, false],
    ['boolean', boolean, null, undefined],
    ['boolean', boolean, 'yes', undefined, wrong],
    ['boolean', boolean, 1, undefined, wrong],
    ['address', url, 'https://a.example/x?y', 'https://a.example/x?y'],
    ['address', url, 'HTTP://a.example', 'HTTP://a.example'],
    ['address', url, '', undefined],
    ['address', url, null, undefined],
    ['address', url, 'javascript:alert(1)', undefined, 'bad-url m'],
    ['address', url, '/relative', undefined, 'bad-url m'],
    ['address', url, '//a.example', undefined, 'bad-url m'],
    ['address', url, 'https://', undefined, 'bad-url m'],
    ['address', url, 7, undefined, 'bad-url m'],
  ])('%s: %p of %j is %j', (_kind, read, value, ...expected) => {
    expect(withWarnings((warn) => read(value, 'm', warn))).toEqual(expected);
  });
});
