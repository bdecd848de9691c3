/* What the scripted REST service answers when nothing else is said: players p1, p2 …, their coupons and friends. */
import type { Answer, Received } from './upstream.ts';

const KNOWN_ID = /^(?:p|f)\d+$/;
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const referralLink = (id: string, lang?: unknown) =>
  `https://refer.example/r/${id}${lang === undefined ? '' : `?lang=${lang}`}`;

/** A small service with a memory: what is written can be read, what is deleted is unknown. */
export function createService(friends: number, apiKey: string, secretKey: string) {
  const written = new Map<string, Record<string, unknown> | null>();

  function read(id = ''): Record<string, unknown> | undefined {
    const known = written.get(id);
    return known === undefined && KNOWN_ID.test(id) ? attributes(id) : (known ?? undefined);
  }

  function write(body: unknown): Answer {
    if (!isObject(body) || typeof body['playerUniqueId'] !== 'string')
      return { status: 400, json: { code: 4, message: 'Bad' } };
    const { playerUniqueId: id, playerAttributes = {} } = body;
    written.set(id, { ...read(id), ...(isObject(playerAttributes) ? playerAttributes : {}) });
    return { json: { playerUniqueId: id, serviceId: `service-${id}`, referralLink: referralLink(id) } };
  }

  return {
    answer({ endpoint, playerUniqueId: id = '', query, headers, body }: Received): Answer {
      if (endpoint === undefined) return { status: 404, json: { code: 1, message: 'No such path' } };
      const needsSecret = endpoint === 'DELETE /player' || endpoint === 'GET /coupon';
      if (headers['apikey'] !== apiKey || (needsSecret && headers['secretkey'] !== secretKey))
        return { status: 401, json: { code: 2, message: 'Wrong key' } };
      if (endpoint === 'POST /player') return write(body);
      if (endpoint === 'POST /event') return { raw: '' };
      const playerAttributes = read(id);
      if (!playerAttributes) return { status: 404, json: { code: 101, message: 'Unknown player' } };
      switch (endpoint) {
        case 'GET /player':
          return { json: { playerUniqueId: id, playerAttributes, referralLink: referralLink(id, headers['lang']) } };
        case 'DELETE /player':
          written.set(id, null);
          return { raw: '' };
        case 'GET /coupon':
          return { json: { coupons: coupons(id) } };
        case 'GET /referrals':
          return { json: referrals(friends, Number(query['page'] ?? 1), Number(query['limit'] ?? 50)) };
      }
    },
  };
}

/** The attributes of a player nobody has written to. */
export function attributes(id: string) {
  return {
    ...{ displayName: `Player ${id}`, firstName: 'Ada', lastName: 'Lovelace', gender: 'F' },
    ...{ dateOfBirth: '1990-12-10T00:00:00.000Z', joinDate: '2024-02-03T04:05:06.007Z' },
    ...{ mobile: '+441234567890', email: `${id}@example.com`, country: 'GB', city: 'London', zip: 'W1' },
    ...{ totalSpent: 1234.5, totalOrders: 12, lastOrderDate: '2025-04-30', avgOrderAmount: 102.875 },
    ...{ tags: 'vip,early bird', custom: { tier: 'gold', score: 7 } },
  };
}

const TYPES = 'free_shipping percentage_discount fixed_discount free_product fixed_rate_discount custom'.split(' ');
const GROUP = {
  ...{ handle: 'welcome', title: 'Welcome', description: 'For new friends', maxPerPlayer: 3 },
  ...{ url: 'https://shop.example/groups/welcome', iconPath: '/icons/welcome.svg' },
  ...{ startDate: '2025-01-01T00:00:00.000Z', expiryDate: '2099-01-01T00:00:00.000Z' },
  ...{ isAvailable: true, isValid: true, isActive: true },
};
const OPTIONS = {
  ...{ ExpiryAfter: 30, UsageLimit: 1, Capping: 50, MinOrderValue: 20.5, Platforms: ['web', 'ios'] },
  CombinesWith: { ShippingDiscounts: true, ProductDiscounts: false, OrderDiscounts: false },
  ...{ ProductId: '5000000001', ProductName: 'mug', ProductDisplayName: 'Mug', HasCollections: true },
  ...{ VariantId: '7', VariantName: 'blue' },
};

/** Ten coupons, each type at least once; every second one is used, the last one has expired. */
export function coupons(id: string) {
  return Array.from({ length: 10 }, (_, index) => {
    const couponType = TYPES[index % TYPES.length];
    const names = { productName: 'mug', productDisplayName: ['Mug', 'Tasse'], variantName: 'blue' };
    return {
      ...{ code: `${id.toUpperCase()}-${index + 1}`, value: 10 + index, currency: 'USD', couponType },
      ...(couponType === 'free_product' && { product: { productId: 5_000_000_001, variantId: 7, ...names } }),
      ...{ creationDate: '2025-01-01T00:00:00.000Z', startAt: '2025-01-01T00:00:00.000Z' },
      endAt: index === 9 ? '2025-02-01T00:00:00.000Z' : '2099-01-01T00:00:00.000Z',
      ...{ isUsed: index % 2 === 1, isExpired: index === 9 },
      collections: [{ collectionId: 6_000_000_001, collectionName: 'summer' }],
      ...{ group: GROUP, options: OPTIONS },
    };
  });
}

/** One friend of the list, counted from 1; every third one is active. */
export function friend(position: number) {
  return {
    ...{ playerUniqueId: `f${position}`, displayName: `Friend ${position}`, email: `f${position}@example.com` },
    ...{ mobileNumber: `+1555${String(position).padStart(7, '0')}`, joinDate: '2025-03-04T05:06:07.008Z' },
    status: position % 3 === 0 ? 'active' : 'pending',
  };
}

/** One page of a list of `total` friends, with totals over all of it. */
export function referrals(total: number, page: number, limit: number) {
  const first = (page - 1) * limit;
  const length = Math.max(0, Math.min(limit, total - first));
  const totalActive = Math.floor(total / 3);
  const referredFriends = Array.from({ length }, (_, index) => friend(first + index + 1));
  return { referredFriends, count: length, total, totalPending: total - totalActive, totalActive };
}
