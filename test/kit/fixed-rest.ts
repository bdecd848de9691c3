/*
 * A REST service without HTTP, whose answers depend on nothing but what is asked: the id of a player says what becomes of
 * its reads. Answers go through the gateway's own decoders, odd members included.
 */
import type { RestClient } from '../../src/rest/client.ts';
import { UpstreamError } from '../../src/rest/errors.ts';
import { decodeCoupons, decodePlayer, decodeReferrals } from '../../src/rest/wire.ts';
import { attributes, coupons, friend } from './upstream-data.ts';

/** Ids of players to whom something happens; whoever is none of these is there and well. */
export const IDS = [
  ...['p1', 'p2', 'odd', 'unknown', 'down', 'slow', 'faulty', 'synchronous'],
  ...['without-coupons', 'without-friends', 'empty', '', '..', 'a\u0000b', 7],
] as const;

const FRIENDS = 7;
const notice = () => undefined;

/** `calls` is what was asked for so far. */
export function createFixedRest(): RestClient & { readonly calls: string[] } {
  const calls: string[] = [];

  /** `fate` is the id that says what becomes of it. */
  function read<Result>(what: string, fate: string, make: () => Result): Promise<Result | null> {
    calls.push(what);
    if (fate === 'synchronous') throw new RangeError('This id cannot be sent.');
    return settle(fate, make, what.length % 4);
  }
  const nothingIsWritten = () => Promise.reject(new Error('Nothing is written here.'));

  return {
    calls,
    getPlayer: (id, lang) => read(`player ${id} ${lang}`, id, () => decodePlayer(playerBody(id, lang), id, notice)),
    listCoupons: (id) =>
      read(`coupons ${id}`, id === 'without-coupons' ? 'down' : id, () => decodeCoupons(couponsBody(id), notice)),
    listReferrals(id, page, limit) {
      const fate = id === 'without-friends' ? 'slow' : id;
      return read(`referrals ${id} ${page} ${limit}`, fate, () =>
        decodeReferrals(referralsBody(id, page, limit), notice),
      );
    },
    upsertPlayer: nothingIsWritten,
    deletePlayer: nothingIsWritten,
    trackEvents: nothingIsWritten,
    health: () => ({ breaker: 'closed', active: 0, queued: 0 }),
    close: () => Promise.resolve(),
  };
}

/** Settles after a few turns, so that reads do not end in the order in which they began. */
async function settle<Result>(id: string, make: () => Result, turns: number): Promise<Result | null> {
  for (let turn = 0; turn < turns; turn += 1) await undefined;
  switch (id) {
    case 'unknown':
      return null;
    case 'down':
      throw new UpstreamError('UPSTREAM_UNAVAILABLE', 'internal: down', { retryable: true, retryAfterMs: 100 });
    case 'slow':
      throw new UpstreamError('UPSTREAM_TIMEOUT', 'internal: slow', { retryable: true });
    case 'faulty':
      throw new TypeError('internal: a fault of ours');
    default:
      return make();
  }
}

function playerBody(id: string, lang: string | undefined): Record<string, unknown> {
  if (id === 'empty') return {};
  const link = `https://refer.example/r/${encodeURIComponent(id)}?lang=${lang}`;
  const playerAttributes = { ...attributes(id), ...(id === 'odd' && ODD_ATTRIBUTES) };
  return { playerUniqueId: id, playerAttributes, referralLink: id === 'odd' ? 'javascript:0' : link };
}

function couponsBody(id: string): Record<string, unknown> {
  if (id === 'empty') return {};
  const list = coupons(id).slice(0, 4);
  return { coupons: id === 'odd' ? list.map((coupon) => ({ ...coupon, ...ODD_COUPON })) : list };
}

/** Friends of every kind. The odd player's have no ids, and there are no totals. */
function referralsBody(id: string, page: number, limit: number): Record<string, unknown> {
  if (id === 'empty') return {};
  const first = (page - 1) * limit;
  const length = Math.max(0, Math.min(limit, FRIENDS - first));
  const referredFriends = Array.from({ length }, (_, index) => {
    const row = first + index;
    return id === 'odd' ? { status: 7 } : { ...friend(row + 1), playerUniqueId: IDS[row * 2] };
  });
  return id === 'odd' ? { referredFriends } : { referredFriends, count: length, total: FRIENDS, totalActive: 2 };
}

const ODD_ATTRIBUTES = {
  ...{
    displayName: 5,
    firstName: null,
    lastName: ['x'],
    email: '\ud800',
    dateOfBirth: 'yesterday',
    tags: ['a', null, 3],
  },
  ...{ totalSpent: '1e400', totalOrders: 2 ** 40, lastOrderDate: '2025-02-30', avgOrderAmount: -0 },
  custom: { __proto__x: 1, ['constructor']: 'c', nested: {} },
};
const ODD_COUPON = {
  ...{ code: null, isUsed: 'yes', value: '12.50', couponType: 'brand_new', group: null },
  collections: [{ collectionId: 2 ** 60 }, 'x', {}],
  options: { CombinesWith: {}, Platforms: 'web' },
};
