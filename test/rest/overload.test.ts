import { describe, expect, test } from '@jest/globals';
import { failure, operation, start } from './setup.ts';

const notTried = { code: 'UPSTREAM_UNAVAILABLE', retryable: true, status: undefined };

describe('connections and queue', () => {
  test('no more connections than allowed, and every call is answered', async () => {
    const { upstream, rest } = await start({ connections: 3 });
    const ids = Array.from({ length: 60 }, (_, index) => `p${index}`);
    const players = await Promise.all(ids.map((id) => rest.getPlayer(id, undefined, operation())));
    expect(players.map((player) => player?.id)).toEqual(ids);
    expect(upstream.connections()).toBeLessThanOrEqual(3);
  });

  test('past the queue a call fails at once and is not sent', async () => {
    const { upstream, rest } = await start({ connections: 2, maxQueued: 1 });
    upstream.on('GET /player', { fault: 'hang' });
    const op = operation();
    const waiting = ['p1', 'p2', 'p3'].map((id) => failure(rest.getPlayer(id, undefined, op)));
    await upstream.received(2);
    expect(rest.health()).toEqual({ breaker: 'closed', active: 2, queued: 1, pausedMs: 0 });

    const refused = operation();
    expect(await failure(rest.getPlayer('p4', undefined, refused))).toMatchObject(notTried);
    expect(refused.records).toMatchObject([{ attempts: 0, error: 'UPSTREAM_UNAVAILABLE' }]);
    expect(upstream.calls()).toHaveLength(2);
    op.abort();
    await Promise.all(waiting);
  });

  test('a call that nobody waits for any more is not sent when its turn comes', async () => {
    const { upstream, rest } = await start({ connections: 1 });
    const held = upstream.hold('GET /player');
    const first = rest.getPlayer('p1', undefined, operation());
    await held.arrived;
    const leaving = operation();
    const second = failure(rest.getPlayer('p2', undefined, leaving));
    const third = rest.getPlayer('p3', undefined, operation());
    leaving.abort();
    await second;
    held.release();
    await Promise.all([first, third]);
    expect(upstream.calls()).toEqual(['GET /integrations/player/p1', 'GET /integrations/player/p3']);
  });
});

describe('429', () => {
  test('with a long Retry-After: nobody calls until then', async () => {
    const { upstream, rest } = await start();
    upstream.on('GET /coupon', { status: 429, headers: { 'retry-after': '60' } });
    expect(await failure(rest.listCoupons('p1', operation()))).toMatchObject({ status: 429, retryAfterMs: 60_000 });
    const { retryAfterMs, ...error } = await failure(rest.getPlayer('p1', undefined, operation()));
    expect(error).toEqual(notTried);
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(rest.health().pausedMs).toBeGreaterThan(50_000);
    expect(upstream.calls()).toHaveLength(1);
  });

  test('without Retry-After: everyone waits a little, then goes on', async () => {
    const { upstream, rest } = await start();
    upstream.on('GET /coupon', { status: 429 }, 'usual');
    const op = operation();
    const coupons = rest.listCoupons('p1', op);
    await upstream.received(1);
    while (rest.health().pausedMs === 0) await new Promise(setImmediate);
    const player = operation();
    const [list] = await Promise.all([
      coupons,
      rest.getPlayer('p1', undefined, player),
      rest.trackEvents({ playerUniqueId: 'p1', events: {} }, player),
    ]);
    expect(list).toHaveLength(10);
    expect(op.records).toMatchObject([{ attempts: 2, status: 200 }]);
    expect(player.records).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
    expect(upstream.calls()).toHaveLength(4);
  });

  test('said again and again: those who wait do not all come at once', async () => {
    let calls = 0;
    const { upstream, another } = await start({}, {});
    const rest = another({ random: () => (calls++ % 10) / 10 });
    upstream.on('GET /player', { status: 429 });
    await failure(rest.getPlayer('p0', undefined, operation()));
    const ids = Array.from({ length: 30 }, (_, index) => `p${index}`);
    const results = await Promise.all(ids.map((id) => failure(rest.getPlayer(id, undefined, operation()))));
    // On a slow machine some of them run out of time while they wait.
    const code = expect.stringMatching(/^UPSTREAM_(?:UNAVAILABLE|TIMEOUT)$/);
    expect(results).toEqual(Array(30).fill(expect.objectContaining({ code, retryable: true })));
    expect(upstream.calls().length).toBeLessThan(30);
  });

  test('an event that was refused so is not sent again', async () => {
    const { upstream, rest } = await start();
    upstream.on('POST /event', { status: 429 }, 'usual');
    expect(await failure(rest.trackEvents({ playerUniqueId: 'p1', events: {} }, operation()))).toMatchObject({
      status: 429,
    });
    expect(upstream.calls()).toHaveLength(1);
  });
});
