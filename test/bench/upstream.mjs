/*
 * The REST service as the benchmark needs it: answers from memory, next to nothing to do, players without end.
 * `DELAY_MS` is how long each answer takes.
 */
import { createServer } from 'node:http';
import { PREFIX } from './rest-paths.mjs';

const delayMs = Number(process.env.DELAY_MS ?? 0);
const day = (n) => new Date(Date.UTC(2025, 0, 1) + n * 86_400_000).toISOString();

const attributes = {
  displayName: 'Grace Hopper',
  firstName: 'Grace',
  lastName: 'Hopper',
  mobile: '+15550100',
  gender: 'F',
  email: 'grace@shop.example',
  dateOfBirth: '1986-12-09T00:00:00.000Z',
  joinDate: '2024-05-01T10:00:00.000Z',
  tags: 'vip,newsletter',
  country: 'US',
  city: 'New York',
  zip: '10001',
  totalSpent: 1520.5,
  totalOrders: 12,
  lastOrderDate: '2025-05-01',
  avgOrderAmount: 126.7,
  custom: { tier: 'gold', score: 7 },
};
const playerEnd = `","playerAttributes":${JSON.stringify(attributes)},"referralLink":"https://refer.example/r/x"}`;

const types = ['free_shipping', 'percentage_discount', 'fixed_discount', 'free_product'];
const coupon = (_, n) => ({
  code: `SAVE-${1000 + n}`,
  isUsed: n % 3 === 0,
  value: 10 + n * 2.5,
  currency: 'USD',
  creationDate: day(n),
  couponType: types[n % types.length],
  product: n % 4 === 3 ? { productId: 7_000_000_000_000 + n, productName: 'Mug', productDisplayName: ['Mug'] } : null,
  startAt: day(n),
  endAt: day(n + 90),
  isExpired: false,
  collections: [{ collectionId: 412_345_678_901, collectionName: 'Summer' }],
  group: {
    handle: `group-${n % 2}`,
    title: `Group ${n % 2}`,
    url: 'https://shop.example/groups',
    iconPath: '/icons/group.png',
    description: 'A group of coupons',
    maxPerPlayer: 3,
    startDate: day(0),
    expiryDate: day(400),
    isAvailable: true,
    isValid: true,
    isActive: true,
  },
  options: {
    ExpiryAfter: 90,
    UsageLimit: 1,
    Capping: 50.5,
    MinOrderValue: 20,
    CombinesWith: { ShippingDiscounts: true, ProductDiscounts: false, OrderDiscounts: false },
    ProductId: null,
    ProductName: null,
    VariantId: null,
    VariantName: null,
    ProductDisplayName: null,
    HasCollections: true,
    Platforms: ['web', 'mobile'],
  },
});
const coupons = Buffer.from(JSON.stringify({ coupons: Array.from({ length: 10 }, coupon) }));

/** Stands for the owner of a page in its text: every player has friends of its own, as in life. */
const OWNER = '{owner}';
const friend = (_, n) => ({
  playerUniqueId: `friend-${n}-of-${OWNER}`,
  displayName: `Friend Number ${n}`,
  email: `friend${n}@shop.example`,
  mobileNumber: `+1555${1000 + n}`,
  joinDate: day(n),
  status: n % 4 ? 'active' : 'pending',
});
const pages = new Map();
function page(owner, limit) {
  if (!pages.has(limit)) {
    const referredFriends = Array.from({ length: limit }, friend);
    const totals = { count: limit, total: 240, totalPending: 60, totalActive: 180 };
    pages.set(limit, JSON.stringify({ referredFriends, ...totals }).split(OWNER));
  }
  return pages.get(limit).join(owner);
}

/** By what a path begins with, its answer. */
const routes = {
  player: (rest) => `{"playerUniqueId":"${rest}${playerEnd}`,
  transactions: () => coupons,
  players: (rest) => page(rest.slice(0, rest.indexOf('/')), Number(/[?&]limit=(\d+)/.exec(rest)?.[1] ?? 50)),
};

const server = createServer((request, response) => {
  const [noun, rest] = request.url.slice(PREFIX.length + 1).split(/\/(.*)/s, 2);
  const body = routes[noun](rest);
  const answer = () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  };
  if (delayMs === 0) return answer();
  setTimeout(answer, delayMs);
});
server.keepAliveTimeout = 600_000;
server.listen(Number(process.env.PORT), '127.0.0.1');
