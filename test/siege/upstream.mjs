/*
 * The REST service of the siege, a program of its own. It answers from memory; a message over IPC changes `delayMs`, the
 * time of every answer.
 */
import { createServer } from 'node:http';

const PREFIX = '/api/v3.0/integrations';

const state = { delayMs: 5 };
process.on('message', (message) => Object.assign(state, message));
process.on('disconnect', () => process.exit());

const attributes = { displayName: 'Grace "Hopper"', firstName: 'Grace', email: 'grace@shop.example', totalOrders: 12 };
/** Longer than the gateway accepts: what an older store holds. */
const LONG = 'x'.repeat(2_000);
const longTexts = { ...attributes, displayName: LONG, firstName: LONG, lastName: LONG, email: LONG };
const friend = (_, n) => ({
  playerUniqueId: `friend-${n}`,
  displayName: `Friend ${n}`,
  email: `friend${n}@shop.example`,
  joinDate: '2025-01-02T03:04:05.000Z',
  status: n % 4 ? 'active' : 'pending',
});
const coupon = (_, n) => ({
  code: n === 0 ? null : `SAVE-${n}`,
  isUsed: n % 3 === 0,
  value: 10 + n,
  currency: 'USD',
  couponType: ['free_shipping', 'percentage_discount', 'unheard_of'][n % 3],
  isExpired: n % 2 === 0,
  endAt: n === 1 ? 'no date' : '2027-01-01T00:00:00.000Z',
  group: n % 2 ? null : { handle: 'g', title: 'G', isActive: true },
  collections: [{ collectionId: 412_345_678_901, collectionName: 'Summer' }],
});

const answers = {
  player: (id) =>
    id === 'nobody'
      ? undefined
      : {
          playerUniqueId: id,
          playerAttributes:
            id === 'long-texts' ? { ...longTexts, mobile: LONG, city: LONG, country: LONG } : attributes,
          referralLink: `https://refer.example/r/${encodeURIComponent(id)}`,
        },
  event: () => ({}),
  transactions: () => ({ coupons: Array.from({ length: 6 }, coupon) }),
  players(_id, search) {
    const [page, limit] = ['page', 'limit'].map((name) => Number(search.get(name)));
    const rows = Math.max(0, Math.min(limit, 4_000 - (page - 1) * limit));
    return {
      referredFriends: Array.from({ length: rows }, friend),
      count: rows,
      total: 4_000,
      totalPending: 60,
      totalActive: 180,
    };
  },
};

/** The status and body of an answer. */
function answer(url) {
  const { pathname, searchParams } = new URL(url, 'http://upstream');
  const [noun, id] = pathname.slice(PREFIX.length + 1).split('/');
  if (id === 'down') return [500, { code: 1, message: 'an error' }];
  const body = answers[noun]?.(decodeURIComponent(id ?? ''), searchParams);
  return body ? [200, body] : [404, { code: 101, message: 'unknown player' }];
}

const server = createServer((request, response) => {
  request.resume();
  setTimeout(() => {
    const [status, value] = answer(request.url);
    const text = JSON.stringify(value);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    response.writeHead(status, headers).end(text);
  }, state.delayMs);
});
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
