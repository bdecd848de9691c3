import { describe, expect, test } from '@jest/globals';
import { decodeCoupons, decodePlayer, decodeReferrals } from '../../src/rest/wire.ts';
import { attributes, coupons, referrals } from '../kit/upstream-data.ts';
import { withWarnings } from '../kit/with-warnings.ts';

describe('a player', () => {
  const player = (body: Record<string, unknown>) => withWarnings((warn) => decodePlayer(body, 'p1', warn));

  test('arrives with every attribute', () => {
    const body = { playerUniqueId: 'p1', playerAttributes: attributes('p1'), referralLink: 'https://r.example/1' };
    expect(player(body)).toEqual([
      {
        id: 'p1',
        playerUniqueId: 'p1',
        attributes: { ...attributes('p1'), tags: ['vip', 'early bird'] },
        referralLink: 'https://r.example/1',
      },
    ]);
  });

  test('of which nothing is known is a player all the same', () => {
    const bare = { id: 'p1', playerUniqueId: 'p1', attributes: undefined, referralLink: undefined };
    expect(player({})).toEqual([bare]);
    expect(player({ playerUniqueId: null, playerAttributes: null, referralLink: null })).toEqual([bare]);
    expect(player({ playerAttributes: 'none' })).toEqual([bare, 'wrong-type player.playerAttributes']);
  });

  test.each([
    ['a, b ,,c,', ['a', 'b', 'c']],
    ['', []],
    [
      ['a', ' b '],
      ['a', 'b'],
    ],
    [null, undefined],
  ])('tags %j are %j', (tags, expected) => {
    expect(player({ playerAttributes: { tags } })[0].attributes?.tags).toEqual(expected);
  });

  test('custom attributes are the strings and numbers among them, whatever their names', () => {
    const custom = JSON.parse('{"a":"x","b":2,"c":null,"d":true,"e":{"f":1},"__proto__":"p","constructor":"q"}');
    const [read, ...noticed] = player({ playerAttributes: { custom } });
    expect(JSON.stringify(read.attributes?.custom)).toBe('{"a":"x","b":2,"__proto__":"p","constructor":"q"}');
    expect(noticed).toEqual(['wrong-type playerAttributes.custom', 'wrong-type playerAttributes.custom']);
    expect(player({ playerAttributes: { custom: ['a'] } })[0].attributes?.custom).toBeUndefined();
    const fitting = JSON.parse('{"a":"x","__proto__":"p"}');
    expect(JSON.stringify(player({ playerAttributes: { custom: fitting } })[0].attributes?.custom)).toBe(
      '{"a":"x","__proto__":"p"}',
    );
  });

  test('has custom attributes of at most 16 KB of JSON: what does not fit is left out', () => {
    const read = (custom: Record<string, unknown>) => player({ playerAttributes: { custom } });
    const fitting = { '€': '€'.repeat(5_000), quotes: '"'.repeat(660), x: 'x'.repeat(35) };
    expect(Buffer.byteLength(JSON.stringify(fitting))).toBe(16_384);
    expect(read(fitting)).toMatchObject([{ attributes: { custom: fitting } }]);
    const { x, ...others } = fitting;
    expect(read({ ...others, x: `${x}x`, huge: 'h'.repeat(1_000_000), y: 1 })).toMatchObject([
      { attributes: { custom: { ...others, y: 1 } } },
      'too-long playerAttributes.custom',
    ]);
  });

  test('has custom attributes among the first 10,000 properties of the response', () => {
    const nulls = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`n${index}`, null]));
    const [read, ...noticed] = player({ playerAttributes: { custom: { ...nulls, last: 1 } } });
    expect(read.attributes?.custom).toEqual({});
    expect(noticed).toEqual(['too-long playerAttributes.custom']);
  });

  test('has tags of at most 1,024 characters together', () => {
    const tags = ['a'.repeat(1_000), 'b'.repeat(25), 'c'.repeat(24)];
    const [read, ...noticed] = player({ playerAttributes: { tags } });
    expect(read.attributes?.tags).toEqual([tags[0], tags[2]]);
    expect(noticed).toEqual(['too-long playerAttributes.tags']);
  });

  test('has texts of at most 1,024 characters: longer ones are cut, and no pair of surrogates is', () => {
    const long = { displayName: 'x'.repeat(1_025), city: `${'y'.repeat(1_023)}😀`, zip: 'z'.repeat(1_024) };
    const custom = { note: 'n'.repeat(5_000) };
    const [read, ...noticed] = player({ playerAttributes: { ...long, custom } });
    expect(read.attributes).toMatchObject({
      displayName: 'x'.repeat(1_024),
      city: 'y'.repeat(1_023),
      zip: long.zip,
      custom,
    });
    expect(noticed).toEqual(['too-long playerAttributes.displayName', 'too-long playerAttributes.city']);
  });

  test('that hostile names describe changes no prototype', () => {
    const body = JSON.parse(
      '{"__proto__":{"polluted":1},"playerAttributes":{"__proto__":{"polluted":1},"city":"Rome"}}',
    );
    expect(player(body)[0].attributes?.city).toBe('Rome');
    expect({}).not.toHaveProperty('polluted');
  });

  test.each([['p1'], [undefined], [null], ['']])('is taken when the answer names %j', (playerUniqueId) => {
    expect(player({ playerUniqueId })[0].playerUniqueId).toBe('p1');
  });

  test.each([
    ['12', 12],
    ['12345678901234567890', JSON.parse('12345678901234567890')],
  ])('with the id %s is taken when the answer names the number', (id, playerUniqueId) => {
    expect(decodePlayer({ playerUniqueId }, id, () => {}).playerUniqueId).toBe(id);
  });

  test.each([['p2'], ['P1'], [1], [{}]])('is refused when the answer names %j', (playerUniqueId) => {
    expect(() => player({ playerUniqueId })).toThrow('about another player');
  });
});

describe('coupons', () => {
  const read = (value: unknown) => withWarnings((warn) => decodeCoupons({ coupons: value }, warn));

  test('arrive with every member, in camelCase, ids as text', () => {
    const [[, , , freeProduct], ...noticed] = read(coupons('p1'));
    expect(noticed).toEqual([]);
    expect(freeProduct).toEqual({
      code: 'P1-4',
      isUsed: true,
      value: 13,
      currency: 'USD',
      creationDate: '2025-01-01T00:00:00.000Z',
      couponType: 'FREE_PRODUCT',
      product: {
        productId: '5000000001',
        productName: 'mug',
        productDisplayName: ['Mug', 'Tasse'],
        variantId: '7',
        variantName: 'blue',
      },
      startAt: '2025-01-01T00:00:00.000Z',
      endAt: '2099-01-01T00:00:00.000Z',
      isExpired: false,
      collections: [{ collectionId: '6000000001', collectionName: 'summer' }],
      group: {
        handle: 'welcome',
        title: 'Welcome',
        url: 'https://shop.example/groups/welcome',
        iconPath: '/icons/welcome.svg',
        description: 'For new friends',
        maxPerPlayer: 3,
        startDate: '2025-01-01T00:00:00.000Z',
        expiryDate: '2099-01-01T00:00:00.000Z',
        isAvailable: true,
        isValid: true,
        isActive: true,
      },
      options: {
        expiryAfter: 30,
        usageLimit: 1,
        capping: 50,
        minOrderValue: 20.5,
        combinesWith: { shippingDiscounts: true, productDiscounts: false, orderDiscounts: false },
        productId: '5000000001',
        productName: 'mug',
        variantId: '7',
        variantName: 'blue',
        productDisplayName: 'Mug',
        hasCollections: true,
        platforms: ['web', 'ios'],
      },
    });
  });

  test.each([
    ['Fixed_Discount', 'FIXED_DISCOUNT'],
    [' CUSTOM ', 'CUSTOM'],
    ['free_shipping', 'FREE_SHIPPING'],
    [undefined, 'UNKNOWN'],
    [null, 'UNKNOWN'],
    ['cashback', 'UNKNOWN', 'unknown-enum-value coupon.couponType'],
    [7, 'UNKNOWN', 'unknown-enum-value coupon.couponType'],
  ])('of type %j are %j', (couponType, expected, ...noticed) => {
    const [[coupon], ...seen] = read([{ couponType }]);
    expect([coupon?.couponType, ...seen]).toEqual([expected, ...noticed]);
  });

  test.each([
    ['no list', undefined, 0],
    ['null', null, 0],
    ['something else', { 0: {} }, 0, 'wrong-type coupons'],
    ['a list with other things in it', [{}, null, 'x', [{}], {}], 2, ...Array(3).fill('wrong-type coupons')],
  ])('%s', (_case, value, count, ...noticed) => {
    const [list, ...seen] = read(value);
    expect([list.length, ...seen]).toEqual([count, ...noticed]);
  });

  test.each([
    [
      ['Mug', 'Tasse'],
      ['Mug', 'Tasse'],
    ],
    ['Mug', ['Mug']],
    ['', []],
    [null, undefined],
  ])('whose product is shown as %j have the names %j', (productDisplayName, expected) => {
    const [[coupon], ...warnings] = read([{ product: { productDisplayName } }]);
    expect([coupon?.product?.productDisplayName, ...warnings]).toEqual([expected]);
  });

  test('odd members of members are left out one by one', () => {
    const odd = {
      code: 7,
      isUsed: 'no',
      product: [],
      collections: [{ collectionName: 'a' }, 1],
      options: { Platforms: ['web', 1, {}] },
    };
    const [[coupon], ...noticed] = read([odd]);
    expect(coupon).toMatchObject({
      code: '7',
      collections: [{ collectionName: 'a' }],
      options: { platforms: ['web', '1'] },
    });
    expect(coupon).toMatchObject({ isUsed: undefined, product: undefined });
    expect(noticed).toEqual([
      'wrong-type coupon.isUsed',
      'wrong-type coupon.product',
      'wrong-type coupon.collections',
      'wrong-type options.Platforms',
    ]);
  });
});

test('a response of 2 MB with 299,000 items is read in 100 ms of CPU time', () => {
  const text = `{"coupons":[${Array(299_000).fill('{"":1}').join()}]}`;
  expect(text.length).toBeGreaterThan(2_000_000);
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    expect(decodeCoupons(JSON.parse(text), () => {})).toHaveLength(10_000);
    return process.cpuUsage(before).user / 1_000;
  });
  expect(Math.min(...times)).toBeLessThan(100);
});

test('a list of 300,000 items is cut, so that decoding does not block the event loop', () => {
  const body = { coupons: Array.from({ length: 300_000 }, () => ({})) };
  const [list, ...noticed] = withWarnings((warn) => decodeCoupons(body, warn));
  expect([list.length, ...noticed]).toEqual([10_000, 'too-long coupons']);
});

describe('referrals', () => {
  const read = (body: Record<string, unknown>) => withWarnings((warn) => decodeReferrals(body, warn));

  test('arrive with every member', () => {
    const body = referrals(60, 1, 2);
    const referredFriends = body.referredFriends.map((friend) => ({ ...friend, status: friend.status.toUpperCase() }));
    expect(read(body)).toEqual([{ ...body, referredFriends }]);
  });

  test.each([
    ['Active', 'ACTIVE'],
    ['PENDING', 'PENDING'],
    [undefined, 'UNKNOWN'],
    ['blocked', 'UNKNOWN', 'unknown-enum-value referredFriend.status'],
  ])('of status %j are %j', (status, expected, ...noticed) => {
    const [page, ...seen] = read({ referredFriends: [{ status }] });
    expect([page.referredFriends[0]?.status, ...seen]).toEqual([expected, ...noticed]);
  });

  test.each(['displayName', 'email', 'mobileNumber'] as const)('with a long %s of a friend are cut', (name) => {
    const [page, ...noticed] = read({ referredFriends: [{ [name]: 'e'.repeat(258_000) }] });
    expect(page.referredFriends[0]?.[name]).toHaveLength(1_024);
    expect(noticed).toEqual([`too-long referredFriend.${name}`]);
  });

  test('without anything are an empty page', () => {
    expect(read({})).toEqual([
      { referredFriends: [], count: undefined, total: undefined, totalPending: undefined, totalActive: undefined },
    ]);
  });

  test('with numbers as text, and friends whose ids are numbers', () => {
    const [page] = read({ referredFriends: [{ playerUniqueId: 12, mobileNumber: 4912345 }], total: '60', count: 1.5 });
    expect(page).toMatchObject({
      total: 60,
      count: undefined,
      referredFriends: [{ playerUniqueId: '12', mobileNumber: '4912345' }],
    });
  });
});
