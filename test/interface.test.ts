import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startBoth } from './kit/gateway.ts';
import { API_KEY, SECRET_KEY } from './kit/upstream.ts';

/*
 * Every row of the interface document's tables, and where it arrives in GraphQL: what is read by the selection that shows
 * it, what is written by the body the REST service received. The values are those of test/kit/upstream-data.ts.
 */
let both: Awaited<ReturnType<typeof startBoth>>;
beforeAll(async () => {
  both = await startBoth();
});
beforeEach(() => both.upstream.forget());
afterAll(() => both.close());

const reads: [table: string, under: string, rows: Record<string, unknown>][] = [
  ['player', '', { playerUniqueId: 'p1', referralLink: 'https://refer.example/r/p1' }],
  [
    'playerAttributes',
    'attributes',
    {
      displayName: 'Player p1',
      firstName: 'Ada',
      lastName: 'Lovelace',
      mobile: '+441234567890',
      gender: 'F',
      email: 'p1@example.com',
      dateOfBirth: '1990-12-10T00:00:00.000Z',
      joinDate: '2024-02-03T04:05:06.007Z',
      tags: ['vip', 'early bird'],
      country: 'GB',
      city: 'London',
      zip: 'W1',
      totalSpent: 1234.5,
      totalOrders: 12,
      lastOrderDate: '2025-04-30',
      avgOrderAmount: 102.875,
      custom: { tier: 'gold', score: 7 },
    },
  ],
  [
    'coupon',
    'coupons(filter: { couponTypes: [FREE_PRODUCT], isUsed: true })',
    {
      code: 'P1-4',
      isUsed: true,
      value: 13,
      currency: 'USD',
      creationDate: '2025-01-01T00:00:00.000Z',
      couponType: 'FREE_PRODUCT',
      startAt: '2025-01-01T00:00:00.000Z',
      endAt: '2099-01-01T00:00:00.000Z',
      isExpired: false,
    },
  ],
  [
    'product',
    'coupons(filter: { couponTypes: [FREE_PRODUCT], isUsed: true }) { product',
    {
      productId: '5000000001',
      productName: 'mug',
      productDisplayName: ['Mug', 'Tasse'],
      variantId: '7',
      variantName: 'blue',
    },
  ],
  [
    'collection',
    'coupons(filter: { isExpired: true }) { collections',
    { collectionId: '6000000001', collectionName: 'summer' },
  ],
  [
    'group',
    'coupons(filter: { isExpired: true }) { group',
    {
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
  ],
  [
    'options',
    'coupons(filter: { isExpired: true }) { options',
    {
      expiryAfter: 30,
      usageLimit: 1,
      capping: 50,
      minOrderValue: 20.5,
      productId: '5000000001',
      productName: 'mug',
      variantId: '7',
      variantName: 'blue',
      productDisplayName: 'Mug',
      hasCollections: true,
      platforms: ['web', 'ios'],
    },
  ],
  [
    'options.CombinesWith',
    'coupons(filter: { isExpired: true }) { options { combinesWith',
    { shippingDiscounts: true, productDiscounts: false, orderDiscounts: false },
  ],
  [
    'referrals',
    'referredFriends(page: 2, limit: 20)',
    { count: 20, total: 60, totalPending: 40, totalActive: 20, page: 2, limit: 20, hasNextPage: true },
  ],
  [
    'referredFriend',
    'referredFriends(page: 3, limit: 1) { nodes',
    {
      playerUniqueId: 'f3',
      displayName: 'Friend 3',
      email: 'f3@example.com',
      mobileNumber: '+15550000003',
      joinDate: '2025-03-04T05:06:07.008Z',
      status: 'ACTIVE',
    },
  ],
];

test.each(reads)('every row of %s is read', async (_table, under, rows) => {
  const names = Object.keys(rows).join(' ');
  const opened =
    under === '' ? names : `${under} { ${names} }${' }'.repeat(under.split('{').length - under.split('}').length)}`;
  const { data, errors } = await both.gateway.query(`{ player(playerUniqueId: "p1") { ${opened} } }`);
  expect(errors).toEqual([]);
  expect(innermost(data.player)).toEqual(rows);
});

/** Follows single members and single-member lists down to the object the selection was about. */
function innermost(value: Record<string, unknown>): unknown {
  const [only, ...more] = Object.values(value);
  const inner = Array.isArray(only) ? only[0] : only;
  return more.length === 0 && typeof inner === 'object' ? innermost(inner) : value;
}

test('every member of the create request is written, and every member of its response read', async () => {
  const { data, errors } = await both.gateway.query(
    `mutation ($input: UpsertPlayerInput!) {
      upsertPlayer(input: $input) { serviceId player { playerUniqueId referralLink } userErrors { code } }
    }`,
    {
      input: {
        playerUniqueId: 'new player/1',
        device: { token: 'fcm-token', osType: 'android' },
        attributes: {
          displayName: 'Ada',
          firstName: 'Ada',
          lastName: 'L',
          mobile: '+44',
          gender: 'Female',
          email: 'ada@example.com',
          dateOfBirth: '1990-12-10T01:00:00+01:00',
          joinDate: '2025-01-02',
          tags: [' vip ', 'early bird'],
          country: 'GB',
          city: null,
          zip: 'W1',
          totalSpent: 1.5,
          totalOrders: 2,
          lastOrderDate: '2025-04-30',
          avgOrderAmount: 0.75,
          custom: { tier: 'gold', score: 7 },
        },
      },
    },
  );
  expect(errors).toEqual([]);
  expect(data.upsertPlayer).toEqual({
    serviceId: 'service-new player/1',
    player: { playerUniqueId: 'new player/1', referralLink: 'https://refer.example/r/new player/1' },
    userErrors: [],
  });
  expect(both.upstream.requests[0]?.body).toEqual({
    playerUniqueId: 'new player/1',
    deviceToken: 'fcm-token',
    osType: 'android',
    playerAttributes: {
      displayName: 'Ada',
      firstName: 'Ada',
      lastName: 'L',
      mobile: '+44',
      gender: 'Female',
      email: 'ada@example.com',
      dateOfBirth: '1990-12-10T00:00:00.000Z',
      joinDate: '2025-01-02T00:00:00.000Z',
      tags: 'vip,early bird',
      country: 'GB',
      zip: 'W1',
      totalSpent: 1.5,
      totalOrders: 2,
      lastOrderDate: '2025-04-30',
      avgOrderAmount: 0.75,
      custom: { tier: 'gold', score: 7 },
    },
  });
});

test('events travel as a map from name to metadata, in both ways of writing them', async () => {
  const { data, errors } = await both.gateway.query(
    `mutation ($amount: EventMetadata, $category: String) {
      trackEvents(input: { playerUniqueId: "p1", events: [
        { name: "place_order", metadata: { amount: 49.9, categories: ["toys", $category], note: "gift" } }
        { name: "visit", metadata: $amount }
        { name: "login" }
      ] }) { eventNames userErrors { code } player { playerUniqueId } }
    }`,
    { amount: { pages: [1, 2], from: 'mail' }, category: 'books' },
  );
  expect(errors).toEqual([]);
  expect(data.trackEvents).toEqual({
    eventNames: ['place_order', 'visit', 'login'],
    userErrors: [],
    player: { playerUniqueId: 'p1' },
  });
  expect(both.upstream.requests[0]?.body).toEqual({
    playerUniqueId: 'p1',
    events: {
      place_order: { amount: 49.9, categories: ['toys', 'books'], note: 'gift' },
      visit: { pages: [1, 2], from: 'mail' },
      login: {},
    },
  });
});

test('variables inside metadata arrive, and those that are absent are left out', async () => {
  const { errors } = await both.gateway.query(
    `mutation ($amount: Float, $note: String) {
      trackEvents(input: { playerUniqueId: "p1", events: [{ name: "pay", metadata: { amount: $amount, note: $note } }] }) {
        eventNames
      }
    }`,
    { amount: 12.5 },
  );
  expect(errors).toEqual([]);
  expect(both.upstream.requests[0]?.body).toEqual({ playerUniqueId: 'p1', events: { pay: { amount: 12.5 } } });
});

/* Headers: the API key on every call, the secret key on exactly two, the language on one and only when it is given. */
const headers: [operation: string, endpoint: string, secret: boolean, lang: string | undefined][] = [
  ['{ player(playerUniqueId: "p1") { id } }', 'GET /player', false, undefined],
  ['{ player(playerUniqueId: "p1", lang: "fr") { id } }', 'GET /player', false, 'fr'],
  ['{ player(playerUniqueId: "p1", lang: "fr") { coupons { code } } }', 'GET /coupon', true, undefined],
  ['{ player(playerUniqueId: "p1", lang: "fr") { referredFriends { total } } }', 'GET /referrals', false, undefined],
  ['mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { serviceId } }', 'POST /player', false, undefined],
  [
    'mutation { deletePlayer(input: { playerUniqueId: "p9" }) { deletedPlayerUniqueId } }',
    'DELETE /player',
    true,
    undefined,
  ],
  [
    'mutation { trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a" }] }) { eventNames } }',
    'POST /event',
    false,
    undefined,
  ],
];

test.each(headers)('%s sends the right keys, whatever the client sends', async (operation, endpoint, secret, lang) => {
  await both.gateway.query(
    operation,
    { APIKey: 'evil', secretKey: 'evil' },
    {
      APIKey: 'evil-api-key',
      secretKey: 'evil-secret-key',
      Lang: 'de',
      'x-api-key': 'evil',
    },
  );
  const request = both.upstream.requests.find((one) => one.endpoint === endpoint);
  expect(request?.headers['apikey']).toBe(API_KEY);
  expect(request?.headers['secretkey']).toBe(secret ? SECRET_KEY : undefined);
  expect(request?.headers['lang']).toBe(lang);
  expect(JSON.stringify(both.upstream.requests)).not.toContain('evil');
});
