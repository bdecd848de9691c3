/* What the REST services of the benchmarks and of the siege answer, and where they are asked for it. */
export const PREFIX = '/api/v3.0/integrations';

export const paths = {
  player: (id) => `${PREFIX}/player/${encodeURIComponent(id)}`,
  coupons: (id) => `${PREFIX}/transactions/${encodeURIComponent(id)}/coupon`,
  referrals: (id, page, limit) => `${PREFIX}/players/${encodeURIComponent(id)}/referrals?page=${page}&limit=${limit}`,
};

const day = (n) => new Date(Date.UTC(2025, 0, 1) + n * 86_400_000).toISOString();
export const attributes = {
  ...{ displayName: 'Grace Hopper', firstName: 'Grace', lastName: 'Hopper', gender: 'F', email: 'grace@shop.example' },
  ...{ mobile: '+15550100', dateOfBirth: '1986-12-09T00:00:00.000Z', joinDate: '2024-05-01T10:00:00.000Z' },
  ...{ tags: 'vip,newsletter', country: 'US', city: 'New York', zip: '10001', totalSpent: 1520.5, totalOrders: 12 },
  ...{ lastOrderDate: '2025-05-01', avgOrderAmount: 126.7, custom: { tier: 'gold', score: 7 } },
};
const group = {
  ...{ handle: 'welcome', title: 'Welcome', url: 'https://shop.example/groups', iconPath: '/icons/group.png' },
  ...{ description: 'A group of coupons', maxPerPlayer: 3, startDate: day(0), expiryDate: day(400) },
  ...{ isAvailable: true, isValid: true, isActive: true },
};
const options = {
  ...{ ExpiryAfter: 90, UsageLimit: 1, Capping: 50.5, MinOrderValue: 20, HasCollections: true, Platforms: ['web'] },
  ...{ CombinesWith: { ShippingDiscounts: true, ProductDiscounts: false, OrderDiscounts: false } },
  ...{ ProductId: null, ProductName: null, VariantId: null, VariantName: null, ProductDisplayName: null },
};
const types = ['free_shipping', 'percentage_discount', 'fixed_discount', 'free_product'];
const coupon = (_, n) => ({
  ...{ code: `SAVE-${1000 + n}`, isUsed: n % 3 === 0, value: 10 + n * 2.5, currency: 'USD', creationDate: day(n) },
  couponType: types[n % types.length],
  product: n % 4 === 3 ? { productId: 7_000_000_000_000 + n, productName: 'Mug', productDisplayName: ['Mug'] } : null,
  ...{ startAt: day(n), endAt: day(n + 90), isExpired: false, group, options },
  collections: [{ collectionId: 412_345_678_901, collectionName: 'Summer' }],
});
export const coupons = (length) => Array.from({ length }, coupon);
const list = (length, item) => Array.from({ length }, (_, n) => item(n));
/** A coupon with so many collections and platforms. */
export const wideCoupon = (length) => ({
  ...coupon(undefined, 0),
  collections: list(length, (n) => ({ collectionId: 412_345_678_901 + n, collectionName: `Collection ${n}` })),
  options: { ...options, Platforms: list(length, (n) => `platform-${n}`) },
});
export const tags = (length) => list(length, (n) => `t${n}`).join();

const friend = (_, n) => ({
  ...{ playerUniqueId: `OWNER-f${n}`, displayName: `Friend Number ${n}`, email: `friend${n}@shop.example` },
  ...{ mobileNumber: `+1555${1000 + n}`, joinDate: day(n), status: n % 4 ? 'active' : 'pending' },
});
/** A page of some friends of many. */
export const referrals = (length, total) => ({
  referredFriends: Array.from({ length }, friend),
  ...{ count: length, total, totalPending: total / 4, totalActive: (total * 3) / 4 },
});
