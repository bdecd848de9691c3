import { describe, expect, test } from '@jest/globals';
import { decodeCoupons } from '../../src/rest/decode/coupon.ts';
import { parseDateTime } from '../../src/rest/decode/dates.ts';
import { checkPlayer, decodePlayer } from '../../src/rest/decode/player.ts';
import * as properties from '../../src/rest/decode/properties.ts';
import { decodeReferrals } from '../../src/rest/decode/referral.ts';
import { attributes, coupons, referrals } from '../kit/upstream-data.ts';

type Body = Record<string, unknown>;
const decoders = { ...properties };
type Decoder = 'boolean' | 'calendarDate' | 'dateTime' | 'identifier' | 'int' | 'number' | 'text' | 'url';

/** The decoded value, and then the warnings. */
function withWarnings<Decoded>(decode: (warn: properties.Warn) => Decoded): [Decoded, ...string[]] {
  const warnings: string[] = [];
  const value = decode((warning, member) => warnings.push(`${warning} ${member}`));
  return [value, ...warnings];
}

const LONGEST_URL = 'https://a.example/'.padEnd(2_048, 'x');

test.each<[Decoder, value: unknown, decoded: unknown]>([
  ['text', 12.5, '12.5'],
  ['text', 'Ada \ud83d', 'Ada \ufffd'],
  ['url', 'https://a.example/\ud83d', 'https://a.example/\ufffd'],
  ['number', '-12.50', -12.5],
  ['number', ' 1e3 ', 1000],
  ['number', '.25', 0.25],
  ['number', '2.5E-10', 2.5e-10],
  ['number', `1.${'0'.repeat(62)}`, 1],
  ['int', '-2147483648', -2147483648],
  ['identifier', 5000000001, '5000000001'],
  ['identifier', '9007199254740993', '9007199254740993'],
  ['boolean', 'true', true],
  ['boolean', ' False ', false],
  ['boolean', 1, true],
  ['boolean', '0', false],
  ['url', 'myshop://invite/p1', 'myshop://invite/p1'],
  ['url', LONGEST_URL, LONGEST_URL],
  ['dateTime', '2025-05-01 10:20', '2025-05-01T10:20:00.000Z'],
  ['dateTime', '2025-05-01T24:00', '2025-05-02T00:00:00.000Z'],
  ['dateTime', ' 2025-05-01 ', '2025-05-01T00:00:00.000Z'],
  ['dateTime', '2025-05-01t10:20:30,1z', '2025-05-01T10:20:30.100Z'],
  ['dateTime', '2025-05-01T00:30:00+02:00', '2025-04-30T22:30:00.000Z'],
  ['dateTime', '2025-05-01T00:30:00 -0530', '2025-05-01T06:00:00.000Z'],
  ['dateTime', '20250501T1000+02', '2025-05-01T08:00:00.000Z'],
  ['dateTime', '2024-11-30 18:45:09 UTC', '2024-11-30T18:45:09.000Z'],
  // Of ZonedDateTime, in Java and in JavaScript's Temporal.
  ['dateTime', '2025-05-01T00:30:00+02:00[Europe/Rome]', '2025-04-30T22:30:00.000Z'],
  ['dateTime', '2025-05-01T10:00Z[UTC][u-ca=iso8601]', '2025-05-01T10:00:00.000Z'],
  ['calendarDate', '2025-05-01T00:30:00+02:00[Europe/Rome]', '2025-05-01'],
  ['calendarDate', '2024-11-30 18:45:09 UTC', '2024-11-30'],
  ['calendarDate', '20250501T233000-0500', '2025-05-01'],
])('%s of %j is %j', (name, value, decoded) => {
  expect(withWarnings((warn) => decoders[name](value, 'm', warn))).toEqual([decoded]);
});

const SCRIPTS = ['javascript:alert(1)', ' java\tscript:0', 'DATA:text/html,x', 'vbscript:x'];
const UNSAFE = [...SCRIPTS, 'file:///x', 'blob:https://a.b/1'];
const NO_DAYS = ['yesterday', '05/01/2025', '2025-02-30', '2025-13-01T00:00:00.000Z', '2025-05'];
const NO_TIMES = [
  'T10:20[Europe/Rome]',
  'T25:00:00.000Z',
  'T10:60:00.000Z',
  'T10:20:60.000Z',
  `T10:20:30.${'1'.repeat(70)}Z`,
];

test.each<[Decoder, warning: string, values: unknown[]]>([
  ['text', 'wrong-type', [true, ['a'], 2 ** 53, Number.POSITIVE_INFINITY]],
  [
    'number',
    'wrong-type',
    [false, ['5'], '0x10', 'Infinity', '12,5', '1e999', `1.${'0'.repeat(63)}`, '-9007199254740993.0'],
  ],
  ['int', 'wrong-type', [2147483648, '9007199254740993', 7.5]],
  ['identifier', 'wrong-type', [2 ** 53, 1.5, true, 'p1\udc00']],
  ['boolean', 'wrong-type', ['yes', 2, -1, '01', {}]],
  ['url', 'bad-url', [...UNSAFE, '/relative', '//a.example', 'https://', 7, ['https://a.example/'], `${LONGEST_URL}x`]],
  ['dateTime', 'undecodable-date', [1746057600000, '9999-12-31T23:59-01', ...NO_DAYS]],
  ['dateTime', 'undecodable-date', NO_TIMES.map((time) => `2025-05-01${time}`)],
  ['calendarDate', 'undecodable-date', ['soon']],
])('%s leaves out what it cannot read, with the warning %s', (name, warning, values) => {
  const decoded = values.map((value) => withWarnings((warn) => decoders[name](value, 'm', warn)));
  expect(decoded).toEqual(values.map(() => [undefined, `${warning} m`]));
});

test('a date-time in the usual form is decoded unchanged when it exists, and refused when it does not', () => {
  const texts = (length: number) => Array.from({ length }, (_, index) => String(index).padStart(2, '0'));
  const days = texts(15).flatMap((month) => texts(34).map((day) => `${month}-${day}T10:20:30.000Z`));
  const times = ['23:59', '24:01', '25:00', '10:60', '19:59', '20:00'].map((time) => `06-15T${time}:30.000Z`);
  const seconds = ['59.999', '60.000', '00.0'].map((second) => `06-15T10:20:${second}Z`);
  for (const year of ['2023', '2024', '2000', '1900']) {
    for (const rest of [...days, ...times]) {
      const text = `${year}-${rest}`;
      const moment = new Date(text);
      const exists = !Number.isNaN(moment.getTime()) && moment.toISOString() === text;
      expect([text, parseDateTime(text)]).toEqual([text, exists ? text : undefined]);
    }
  }
  expect(seconds.map((rest) => parseDateTime(`2024-${rest}`))).toEqual([
    '2024-06-15T10:20:59.999Z',
    undefined,
    '2024-06-15T10:20:00.000Z',
  ]);
  const usual = '2024-12-29T23:59:59.123Z';
  for (const one of [usual, '2024-11-15T15:05:05.055Z']) {
    for (let at = 0; at < one.length; at += 1) {
      const text = `${one.slice(0, at)}x${one.slice(at + 1)}`;
      expect([text, parseDateTime(text)]).toEqual([text, undefined]);
    }
  }
  for (const text of [
    `x${usual}`,
    `1${usual}`,
    `${usual}x`,
    '2-12-29T23:59:59.123Z',
    'abcd-12-29T23:59:59.123Z',
    '2024-12-29T23:59:59.xxxZ',
  ])
    expect([text, parseDateTime(text)]).toEqual([text, undefined]);
});

test('a date-time can have white space around it, a long fraction, and a zone, in at most 70 characters', () => {
  const inZone = (length: number) => `2025-05-01T10:00Z[${'z'.repeat(length - 19)}]`;
  expect([70, 71].map((length) => parseDateTime(inZone(length)))).toEqual(['2025-05-01T10:00:00.000Z', undefined]);
  expect(parseDateTime(` 2025-05-01T10:00:00.${'9'.repeat(30)} `)).toBe('2025-05-01T10:00:00.999Z');
});

describe('a player', () => {
  const player = (body: Body) => withWarnings((warn) => decodePlayer(body, 'p1', warn));
  const ofAttributes = (playerAttributes: Body) => {
    const [decoded, ...warnings] = player({ playerAttributes });
    const { playerUniqueId, ...rest } = { ...decoded.attributes };
    expect(playerUniqueId).toBe('p1');
    return { ...rest, warnings };
  };

  test('has every attribute', () => {
    const names = { id: 'p1', playerUniqueId: 'p1', referralLink: 'https://r.example/1' };
    const decoded = { ...attributes('p1'), playerUniqueId: 'p1', tags: ['vip', 'early bird'] };
    // The request says whose they are.
    const sent = { ...attributes('p1'), playerUniqueId: 'p2' };
    expect(player({ ...names, playerAttributes: sent })).toEqual([{ ...names, attributes: decoded }]);
  });

  test('has null, without a warning, for [], as PHP writes an object without properties', () => {
    expect(ofAttributes({ custom: [] })).toEqual({ custom: undefined, warnings: [] });
    expect(ofAttributes({ custom: ['a'] })).toEqual({
      custom: undefined,
      warnings: ['wrong-type playerAttributes.custom'],
    });
  });

  test('has null, without a warning, for an empty text', () => {
    const names = ['displayName', 'email', 'zip', 'tags', 'custom', 'totalSpent', 'dateOfBirth'];
    const decoded = ofAttributes(Object.fromEntries(names.map((name) => [name, ''])));
    expect(decoded).toEqual({ ...Object.fromEntries(names.map((name) => [name, undefined])), warnings: [] });
    expect(ofAttributes({ tags: [] })).toMatchObject({ tags: [], warnings: [] });
  });

  test('has its link decoded only when that is wanted', () => {
    const read = (wanted: string, referralLink: string) =>
      withWarnings((warn) => decodePlayer({ referralLink }, 'p1', warn, new Set([wanted])));
    const link = 'https://r.example/1';
    expect(read('referralLink', link)).toMatchObject([{ referralLink: link }]);
    expect(read('email', 'no link')).toEqual([{ id: 'p1', playerUniqueId: 'p1' }]);
    expect(read('referralLink', 'no link')).toEqual([expect.anything(), 'bad-url player.referralLink']);
  });

  test('has tags from a text, a number or a list', () => {
    expect(ofAttributes({ tags: 7 })).toMatchObject({ tags: ['7'], warnings: [] });
    expect(ofAttributes({ tags: 'a, b ,,c,' })).toMatchObject({ tags: ['a', 'b', 'c'], warnings: [] });
    expect(ofAttributes({ tags: ['a', ' b ', 3] })).toMatchObject({ tags: ['a', 'b', '3'], warnings: [] });
    expect(ofAttributes({ tags: { 1: 'new', 4: 'loyal' } })).toMatchObject({ tags: ['new', 'loyal'], warnings: [] });
    const named = { tags: undefined, warnings: ['wrong-type playerAttributes.tags'] };
    expect(ofAttributes({ tags: { first: 'new' } })).toMatchObject(named);
  });

  test('has texts and tags of at most 1,024 characters: longer ones are cut, not within a surrogate pair', () => {
    const fitting = { zip: 'z'.repeat(1_024), custom: { note: 'n'.repeat(5_000) } };
    const long = {
      displayName: `😀${'x'.repeat(1_023)}`,
      tags: Array(400).fill('tag'),
      city: `${'y'.repeat(1_023)}😀`,
    };
    const cut = { displayName: `😀${'x'.repeat(1_022)}`, tags: Array(256).fill('tag'), city: 'y'.repeat(1_023) };
    const warnings = Object.keys(long).map((name) => `too-long playerAttributes.${name}`);
    expect(ofAttributes({ ...fitting, ...long })).toMatchObject({ ...fitting, ...cut, warnings });
  });

  test('has the strings and numbers among its custom attributes, whatever their names', () => {
    const custom = JSON.parse('{"a":"x","b":2,"c":null,"d":true,"e":{"f":1},"__proto__":"p","constructor":"q"}');
    const decoded = ofAttributes({ custom });
    expect(JSON.stringify(decoded.custom)).toBe('{"a":"x","b":2,"__proto__":"p","constructor":"q"}');
    expect(decoded.warnings).toEqual(Array(2).fill('wrong-type playerAttributes.custom'));
  });

  test('has no half of a surrogate pair in its tags and custom attributes', () => {
    const decoded = ofAttributes({ tags: 'a\ud83d,b', custom: { 'c\ud83d': 'd\udc00' } });
    expect(decoded).toEqual({ tags: ['a\ufffd', 'b'], custom: { 'c\ufffd': 'd\ufffd' }, warnings: [] });
  });

  test('has custom attributes of at most 16 KB of JSON, of 10,000 properties: what does not fit is left out', () => {
    const fitting = { '€': '€'.repeat(5_000), quotes: '"'.repeat(660), x: 'x'.repeat(35) };
    expect(Buffer.byteLength(JSON.stringify(fitting))).toBe(16_384);
    expect(ofAttributes({ custom: fitting })).toEqual({ custom: fitting, warnings: [] });
    const { x, ...others } = fitting;
    const longer = ofAttributes({ custom: { ...others, x: `${x}x`, y: 1 } });
    expect(longer).toEqual({ custom: { ...others, y: 1 }, warnings: ['too-long playerAttributes.custom'] });
    const nulls = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`n${index}`, null]));
    expect(ofAttributes({ custom: nulls })).toEqual({ custom: {}, warnings: [] });
    const more = ofAttributes({ custom: { ...nulls, last: 1 } });
    expect(more).toEqual({ custom: {}, warnings: ['too-long playerAttributes.custom'] });
  });

  test.each<[id: string, accepted: unknown[], refused: unknown[]]>([
    ['p1', ['p1', '', null], ['p2', 'P1', 1, {}]],
    ['12', [12], [13, '012']],
    ['-7', [-7], [7]],
    ...['012', '1.2e1', '0xc', '12.0', '+12'].map((id): [string, unknown[], unknown[]] => [id, [id], [12, '12']]),
    ['12345678901234567890', [JSON.parse('12345678901234567890')], [12345]],
  ])('%s is accepted when the response names %j, refused when %j', (id, accepted, refused) => {
    for (const named of accepted) {
      checkPlayer({ playerUniqueId: named }, id);
      expect(decodePlayer({ playerUniqueId: named }, id, () => {}).id).toBe(id);
    }
    for (const named of refused) {
      expect(() => checkPlayer({ playerUniqueId: named }, id)).toThrow('about another player');
    }
  });
});

describe('coupons', () => {
  const read = (list: unknown) => withWarnings((warn) => decodeCoupons({ coupons: list }, 'p1', warn));

  test('have no code that has half of a surrogate pair: two of them would be the same', () => {
    const [decoded, ...warnings] = read(['A\ud83d', 'A\ud83e', 'B'].map((code) => ({ code })));
    expect(decoded.map(({ code }) => code)).toEqual([undefined, undefined, 'B']);
    expect(warnings).toEqual(Array(2).fill('wrong-type coupon.code'));
  });

  test('have every property, in camelCase, ids as text', () => {
    const sent = coupons('p1')[3];
    const inCapitals = JSON.stringify(sent?.options);
    const options = JSON.parse(inCapitals.replace(/"[A-Z](?=\w*":)/g, (start) => start.toLowerCase()));
    const product = { ...sent?.product, productId: '5000000001', variantId: '7' };
    const collections = [{ collectionId: '6000000001', collectionName: 'summer' }];
    const decoded = { ...sent, owner: 'p1', couponType: 'FREE_PRODUCT', product, collections, options };
    expect(read([sent])).toEqual([[decoded]]);
  });

  test('have only the wanted properties, and those that identify them', () => {
    const wanted = new Set(['isUsed', 'group', 'handle', 'product']);
    const sent = { code: 'A', isUsed: 'odd', value: 'odd', group: { handle: 'h', title: 1 } };
    const decoded = withWarnings((warn) => decodeCoupons({ coupons: [sent] }, 'p1', warn, wanted));
    expect(decoded).toEqual([[{ owner: 'p1', code: 'A', group: { handle: 'h' } }], 'wrong-type coupon.isUsed']);
  });

  test('have a type in any case; UNKNOWN when it is another, with a warning, or absent', () => {
    const types = ['Free_Shipping', ' FIXED_DISCOUNT ', 'fixed_rate_discount', 'custom'];
    const known = types.map((type) => type.trim().toUpperCase());
    const [decoded, ...warnings] = read([...types, null, 'cashback', 7].map((couponType) => ({ couponType })));
    expect(decoded.map(({ couponType }) => couponType)).toEqual([...known, 'UNKNOWN', 'UNKNOWN', 'UNKNOWN']);
    expect(warnings).toEqual(Array(2).fill('unknown-enum-value coupon.couponType'));
  });

  test.each([
    [null, 0],
    [{}, 0],
    ...['none', 7, ...['first', 'a1', '1a'].map((name) => ({ 0: {}, [name]: {} }))].map(
      (list): [unknown, number, string] => [list, 0, 'wrong-type coupons'],
    ),
    [[{}, null, 'x', [{}], {}], 2, ...Array(2).fill('wrong-type coupons')],
  ])('%j: %i of them', (list, count, ...warnings) => {
    const [decoded, ...seen] = read(list);
    expect([decoded.length, ...seen]).toEqual([count, ...warnings]);
  });

  test('lose what cannot be read, part by part', () => {
    const product = { productDisplayName: 'Mug' };
    const options = { Platforms: ['web', 1, null, {}], ProductName: [] };
    const [decoded, ...warnings] = read([{ code: 7, isUsed: 'no', product, group: 'none', collections: [1], options }]);
    const readable = { product: { productDisplayName: ['Mug'] }, options: { platforms: ['web', '1'] } };
    expect(decoded).toMatchObject([{ code: '7', collections: [], ...readable }]);
    const places = ['coupon.isUsed', 'coupon.collections', 'coupon.group', 'options.ProductName', 'options.Platforms'];
    expect(warnings).toEqual(places.map((place) => `wrong-type ${place}`));
  });

  test('are read from lists by index, as PHP writes those with gaps', () => {
    const options = { Platforms: { 0: 'kiosk', 2: 'web' } };
    const collections = { 3: { collectionId: 31 }, 12: { collectionId: 122 } };
    const body = { coupons: { 1: { code: 'SPRING', options, collections }, 10: { code: 'AUTUMN' } } };
    const [[spring, autumn, ...more], ...warnings] = withWarnings((warn) => decodeCoupons(body, 'p1', warn));
    expect([spring?.options?.platforms, spring?.collections?.map((one) => one.collectionId)]).toEqual([
      ['kiosk', 'web'],
      ['31', '122'],
    ]);
    expect([spring?.code, autumn?.code, more, warnings]).toEqual(['SPRING', 'AUTUMN', [], []]);
  });

  test('of a longer list than 10,000 are cut', () => {
    const longest = Array(10_000).fill({});
    for (const [list, ...expected] of [[longest], [[...longest, {}], 'too-long coupons']]) {
      const [decoded, ...warnings] = read(list);
      expect([decoded.length, ...warnings]).toEqual([10_000, ...expected]);
    }
  });
});

describe('referrals', () => {
  const read = (body: Body) => withWarnings((warn) => decodeReferrals(body, 'p1', warn));

  test('are read from a list by index', () => {
    const body = { referredFriends: { 0: { playerUniqueId: 'gul' }, 5: { playerUniqueId: 'ivo' } }, total: 2 };
    const { referredFriends } = decodeReferrals(body, 'p1', () => undefined);
    expect(referredFriends.map(({ playerUniqueId }) => playerUniqueId)).toEqual(['gul', 'ivo']);
  });

  test('have every property', () => {
    const { count: _, ...body } = referrals(60, 1, 3);
    const decoded = body.referredFriends.map((one) => ({ ...one, owner: 'p1', status: one.status.toUpperCase() }));
    expect(read(body)).toEqual([{ ...body, referredFriends: decoded }]);
    expect(read({})).toEqual([{ referredFriends: [] }]);
  });

  test('have texts of at most 1,024 characters', () => {
    const long = { displayName: 'n'.repeat(2_000), email: 'e'.repeat(2_000), mobileNumber: '1'.repeat(2_000) };
    const [page, ...warnings] = read({ referredFriends: [long] });
    const cut = Object.fromEntries(Object.entries(long).map(([name, text]) => [name, text.slice(0, 1_024)]));
    expect(page.referredFriends).toMatchObject([cut]);
    expect(warnings).toEqual(Object.keys(long).map((name) => `too-long referredFriend.${name}`));
  });
});
