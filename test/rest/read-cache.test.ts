import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ReadCache } from '../../src/rest/cache.ts';
import { failure, operation, start } from './setup.ts';

const TTL = 60_000;

/** Only the clock is ours; timers and everything else stay real. */
beforeEach(() => {
  jest.useFakeTimers({
    doNotFake: [
      'Date',
      'hrtime',
      'nextTick',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setInterval',
      'clearInterval',
      'setTimeout',
      'clearTimeout',
    ],
  });
});
afterEach(() => {
  jest.useRealTimers();
});

test('without a time to live nothing is kept', async () => {
  const { upstream, rest } = await start();
  for (let read = 0; read < 2; read += 1) await rest.getPlayer('p1', undefined, operation());
  expect(upstream.calls()).toHaveLength(2);
});

test('players and referrals are kept, coupons never', async () => {
  const { upstream, rest, seen } = await start({ readCacheTtlMs: TTL });
  const first = operation();
  const second = operation();
  for (const op of [first, second]) {
    await rest.getPlayer('p1', undefined, op);
    await rest.listReferrals('p1', 1, 50, op);
    await rest.listCoupons('p1', op);
  }
  expect(upstream.calls()).toHaveLength(4);
  expect([first.own, second.own]).toEqual([3, 1]);
  expect(second.records).toEqual([
    expect.objectContaining({
      template: '/integrations/player/{playerUniqueId}',
      cached: true,
      stale: false,
      attempts: 0,
    }),
    expect.objectContaining({
      template: '/integrations/players/{playerUniqueId}/referrals',
      cached: true,
      attempts: 0,
    }),
    expect.objectContaining({
      template: '/integrations/transactions/{playerUniqueId}/coupon',
      cached: false,
      attempts: 1,
    }),
  ]);
  expect(seen.calls).toHaveLength(6);
});

test('what selects the answer keeps answers apart', async () => {
  const { upstream, another } = await start({ readCacheTtlMs: TTL });
  const rest = another();
  for (const lang of [undefined, 'en', 'fr', 'en']) await rest.getPlayer('p1', lang, operation());
  for (const [page, limit] of [
    [1, 50],
    [2, 50],
    [1, 10],
    [2, 50],
  ] as const)
    await rest.listReferrals('p1', page, limit, operation());
  expect(upstream.calls()).toHaveLength(6);
});

test('a player that does not exist is not kept: it may be created elsewhere', async () => {
  const { upstream, rest } = await start({ readCacheTtlMs: TTL });
  for (let read = 0; read < 2; read += 1) expect(await rest.getPlayer('nobody', undefined, operation())).toBeNull();
  expect(upstream.calls()).toHaveLength(2);
});

test('a write drops what was kept about its player, and every list', async () => {
  const { upstream, rest } = await start({ readCacheTtlMs: TTL });
  const readAll = async () => {
    await rest.getPlayer('p1', undefined, operation());
    await rest.getPlayer('p2', undefined, operation());
    await rest.listReferrals('p2', 1, 50, operation());
  };
  await readAll();
  await rest.upsertPlayer({ playerUniqueId: 'p1', playerAttributes: { city: 'Rome' } }, operation());
  upstream.forget();
  expect(await rest.getPlayer('p1', undefined, operation())).toMatchObject({ attributes: { city: 'Rome' } });
  await readAll();
  expect(upstream.calls()).toEqual([
    'GET /integrations/player/p1',
    'GET /integrations/players/p2/referrals?page=1&limit=50',
  ]);
});

test('a write that failed drops it too', async () => {
  const { upstream, rest } = await start({ readCacheTtlMs: TTL });
  await rest.getPlayer('p1', undefined, operation());
  upstream.on('POST /event', { status: 500 });
  await failure(rest.trackEvents({ playerUniqueId: 'p1', events: {} }, operation()));
  upstream.forget();
  await rest.getPlayer('p1', undefined, operation());
  expect(upstream.calls()).toHaveLength(1);
});

test('a read that a write overtook is not kept', async () => {
  const { upstream, rest } = await start({ readCacheTtlMs: TTL });
  const held = upstream.hold('GET /player');
  const old = rest.getPlayer('p1', undefined, operation());
  await held.arrived;
  await rest.upsertPlayer({ playerUniqueId: 'p1', playerAttributes: { city: 'Rome' } }, operation());
  held.release();
  await old;
  expect(await rest.getPlayer('p1', undefined, operation())).toMatchObject({ attributes: { city: 'Rome' } });
});

describe('an answer past its time', () => {
  test('is asked for anew', async () => {
    const { upstream, rest } = await start({ readCacheTtlMs: TTL });
    await rest.getPlayer('p1', undefined, operation());
    jest.advanceTimersByTime(TTL + 1);
    const op = operation();
    await rest.getPlayer('p1', undefined, op);
    expect(upstream.calls()).toHaveLength(2);
    expect(op.records).toMatchObject([{ cached: false, stale: false }]);
  });

  test('stands in for a failure for as long again, and says so', async () => {
    const { upstream, rest } = await start({ readCacheTtlMs: TTL, timeoutMs: 50_000 });
    await rest.getPlayer('p1', undefined, operation());
    upstream.on('GET /player', { status: 500 });
    jest.advanceTimersByTime(TTL + 1);
    const op = operation();
    expect(await rest.getPlayer('p1', undefined, op)).toMatchObject({ id: 'p1' });
    expect(op.records).toMatchObject([{ cached: true, stale: true, status: 500, error: 'UPSTREAM_UNAVAILABLE' }]);

    jest.advanceTimersByTime(TTL);
    expect(await failure(rest.getPlayer('p1', undefined, operation()))).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });

  test.each([
    ['refused', { status: 400 }, 'UPSTREAM_REJECTED'],
    ['with refused keys', { status: 401 }, 'UPSTREAM_MISCONFIGURED'],
  ])('does not stand in for an answer that is final: %s', async (_case, answer, code) => {
    const { upstream, rest } = await start({ readCacheTtlMs: TTL });
    await rest.getPlayer('p1', undefined, operation());
    upstream.on('GET /player', answer);
    jest.advanceTimersByTime(TTL + 1);
    expect(await failure(rest.getPlayer('p1', undefined, operation()))).toMatchObject({ code });
  });

  test('does not come back after a write', async () => {
    const { upstream, rest } = await start({ readCacheTtlMs: TTL });
    await rest.getPlayer('p1', undefined, operation());
    await rest.deletePlayer('p1', operation());
    upstream.on('GET /player', { status: 500 });
    expect(await failure(rest.getPlayer('p1', undefined, operation()))).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });
});

describe('the bound', () => {
  const entry = 100 * 3 + 2 + 300;
  const about = (playerUniqueId: string, bytes: number) => ({ playerUniqueId, bytes });

  test('lets go of what was not asked for longest', () => {
    const cache = new ReadCache<string>({ ttlMs: TTL, maxBytes: 3 * entry });
    for (const id of ['a', 'b', 'c']) cache.put(id, id, about(id, 100));
    cache.fresh('a');
    cache.put('d', 'd', about('d', 100));
    expect(['a', 'b', 'c', 'd'].map((id) => cache.fresh(id))).toEqual(['a', undefined, 'c', 'd']);
  });

  test('refuses what is larger than all of it, and makes room for what is large', () => {
    const cache = new ReadCache<string>({ ttlMs: TTL, maxBytes: 3 * entry });
    cache.put('a', 'a', about('a', 100));
    cache.put('huge', 'huge', about('huge', 10_000));
    expect([cache.fresh('a'), cache.fresh('huge')]).toEqual(['a', undefined]);
    cache.put('large', 'large', about('large', 450));
    expect([cache.fresh('a'), cache.fresh('large')]).toEqual([undefined, 'large']);
  });

  test('counts what is put again once, and what is dropped no more', () => {
    const cache = new ReadCache<string>({ ttlMs: TTL, maxBytes: 2 * entry });
    for (let time = 0; time < 10; time += 1) cache.put('a', 'a', about('p1', 100));
    cache.put('b', 'b', about('p1', 100));
    expect([cache.fresh('a'), cache.fresh('b')]).toEqual(['a', 'b']);
    cache.invalidate('p1');
    cache.put('c', 'c', about('p2', 100));
    cache.put('d', 'd', about('p2', 100));
    expect(['a', 'b', 'c', 'd'].map((id) => cache.fresh(id))).toEqual([undefined, undefined, 'c', 'd']);
  });
});
