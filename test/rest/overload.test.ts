import { describe, expect, test } from '@jest/globals';
import { failure, operation, start } from './setup.ts';

const notSent = { code: 'UPSTREAM_UNAVAILABLE', retryable: true, status: undefined, outcome: undefined };

describe('connections and queue', () => {
  test('no more connections than allowed, and every call is answered', async () => {
    const { upstream, rest } = await start({ connections: 3 });
    const ids = Array.from({ length: 60 }, (_, index) => `p${index}`);
    const players = await Promise.all(ids.map((id) => rest.getPlayer(id, undefined, operation())));
    expect(players.map((player) => player?.id)).toEqual(ids);
    expect(upstream.connections()).toBeLessThanOrEqual(3);
  });

  test('a call that gets no connection in time fails with OVERLOADED, and nothing says that the service failed', async () => {
    const { upstream, rest, seen } = await start({ connections: 2, queueMs: 30 });
    upstream.on('GET /player', { fault: 'hang' });
    const op = operation();
    const hanging = ['p1', 'p2'].map((id) => failure(rest.getPlayer(id, undefined, op)));
    await upstream.received(2);
    const refused = operation();
    for (let call = 0; call < 30; call += 1) {
      expect(await failure(rest.deletePlayer(`q${call}`, refused))).toEqual({
        code: 'OVERLOADED',
        retryable: true,
        retryAfterMs: expect.any(Number),
        status: undefined,
        outcome: 'NOT_DONE',
      });
    }
    expect(refused.records[0]).toMatchObject({ attempts: 0, error: 'OVERLOADED', queueMs: expect.any(Number) });
    expect(rest.health()).toEqual({ breaker: 'closed', active: 2, queued: 0, pausedMs: 0 });
    expect(upstream.calls()).toHaveLength(2);
    expect(seen.breaker).toEqual([]);
    expect(Math.max(...seen.queueWaits)).toBeGreaterThanOrEqual(29);
    op.abort();
    await Promise.all(hanging);
  });

  test('the time of a call begins when it leaves the queue', async () => {
    const { upstream, rest, seen } = await start({ connections: 1, timeoutMs: 200 });
    upstream.on('GET /player', async () => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      return { raw: '' };
    });
    const ops = Array.from({ length: 8 }, () => operation());
    const players = await Promise.all(ops.map((op, index) => rest.getPlayer(`p${index}`, undefined, op)));
    expect(players.map((player) => player?.id)).toEqual(ops.map((_, index) => `p${index}`));
    const [last] = ops.at(-1)?.records ?? [];
    expect(last?.queueMs).toBeGreaterThan(200);
    expect(last?.ms).toBeGreaterThan(last?.queueMs ?? 0);
    expect(seen.breaker).toEqual([]);
  });

  test('a call that cannot be in time is refused at once', async () => {
    const { upstream, rest } = await start({ connections: 1 });
    upstream.on('GET /player', async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { raw: '' };
    });
    for (let call = 0; call < 20; call += 1) await rest.getPlayer('p1', undefined, operation());
    const held = upstream.hold('GET /player');
    const first = rest.getPlayer('p1', undefined, operation());
    await held.arrived;
    const waiting = Array.from({ length: 10 }, (_, index) => rest.getPlayer(`p${index + 2}`, undefined, operation()));
    const late = Array.from({ length: 200 }, (_, index) =>
      rest.getPlayer(`p${index + 100}`, undefined, operation({ inMs: 1_000 })),
    );
    const settled = Promise.allSettled(late);
    // While the only connection is in use: nothing but the estimate can have refused it.
    expect(await failure(late.at(-1) ?? first)).toMatchObject({
      code: 'OVERLOADED',
      retryable: true,
      status: undefined,
    });
    held.release();
    expect((await Promise.all([first, ...waiting])).every((player) => player !== null)).toBe(true);
    await settled;
  });

  test('an idle client does not take its idle time for slow responses', async () => {
    const { upstream, rest } = await start({ connections: 1, queueMs: 200 });
    await rest.getPlayer('p1', undefined, operation());
    await new Promise((resolve) => setTimeout(resolve, 300));
    const held = upstream.hold('GET /player');
    const first = rest.getPlayer('p2', undefined, operation());
    await held.arrived;
    const second = rest.getPlayer('p3', undefined, operation());
    held.release();
    expect(await Promise.all([first, second])).toMatchObject([{ id: 'p2' }, { id: 'p3' }]);
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

describe('while calls wait', () => {
  const never = { fault: 'hang' } as const;

  test('one caller holds at most a quarter of the connections', async () => {
    const { upstream, rest } = await start({ connections: 8 });
    let release = () => {};
    const after = new Promise<void>((resolve) => {
      release = resolve;
    });
    upstream.on('GET /player', { after, raw: '' });
    const greedy = operation({ callerKey: 'greedy' });
    const calls = Array.from({ length: 20 }, (_, index) => rest.getPlayer(`g${index}`, undefined, greedy));
    await upstream.received(8);
    calls.push(...['m1', 'm2'].map((id) => rest.getPlayer(id, undefined, operation({ callerKey: 'modest' }))));
    upstream.on('GET /player', never);
    upstream.forget();
    release();
    await upstream.received(4);
    // Of the eight connections that became free, the greedy caller gets two; the modest one, who came last, both it needs.
    expect(upstream.calls().map((call) => call.split('/').at(-1))).toEqual(
      expect.arrayContaining(['m1', 'm2', 'g8', 'g9']),
    );
    expect(rest.health()).toMatchObject({ active: 4, queued: 10 });
    const settled = Promise.allSettled(calls);
    await rest.close();
    await settled;
  });

  test('one endpoint holds at most three quarters of them', async () => {
    const { upstream, rest } = await start({ connections: 4 });
    let release = () => {};
    const after = new Promise<void>((resolve) => {
      release = resolve;
    });
    upstream.on('GET /coupon', { after, raw: '' });
    const op = operation();
    const coupons = Array.from({ length: 12 }, (_, index) => rest.listCoupons(`p${index}`, op));
    await upstream.received(4);
    upstream.on('GET /coupon', never);
    upstream.forget();
    release();
    await upstream.received(3);
    expect(rest.health()).toMatchObject({ active: 3, queued: 5 });
    expect(await rest.getPlayer('p1', undefined, operation())).toMatchObject({ id: 'p1' });
    op.abort();
    await Promise.allSettled(coupons);
  });

  test('calls beyond the share of a caller or an endpoint do not count in the estimate for others', async () => {
    const { upstream, rest } = await start({ connections: 8, queueMs: 2_000 });
    // Eight uses of a connection of about 100 ms each: 200 waiting calls on 8 connections would take 2.5 s.
    upstream.on('GET /player', async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { raw: '' };
    });
    await Promise.all(Array.from({ length: 16 }, (_, index) => rest.getPlayer(`p${index}`, undefined, operation())));
    const greedy = operation({ callerKey: 'greedy' });
    upstream.forget();
    const calls = Array.from({ length: 200 }, (_, index) =>
      failure(rest.getPlayer(`g${index}`, undefined, greedy)).catch(() => 'served'),
    );
    await upstream.received(8);
    const modest = operation({ callerKey: 'modest' });
    expect(await rest.getPlayer('m1', undefined, modest)).toMatchObject({ id: 'm1' });
    greedy.abort();
    await Promise.all(calls);
    expect(greedy.records.some(({ error, queueMs }) => error === 'OVERLOADED' && queueMs < 1)).toBe(true);
  });

  test('a caller does not wait for the share of another one that reads the same', async () => {
    const { upstream, rest } = await start({ connections: 8, queueMs: 10_000, timeoutMs: 20_000 });
    upstream.on('GET /coupon', never);
    const player = operation({ callerKey: 'player' });
    const hanging = ['a', 'b', 'c'].map((id) => failure(rest.listCoupons(id, player)));
    const own = failure(rest.getPlayer('p1', undefined, player));
    await upstream.received(4).catch(() => undefined);
    const others = ['d', 'e', 'f', 'g', 'h'].map((id) => rest.listCoupons(id, operation()).catch(() => undefined));
    const waiting = failure(rest.getPlayer('p2', undefined, player)).catch(() => 'read');
    const server = await rest.getPlayer('p2', undefined, operation({ callerKey: 'server' }));
    expect(server).toMatchObject({ id: 'p2' });
    await rest.close();
    player.abort();
    await Promise.all([...hanging, own.catch(() => 'read'), waiting, ...others]);
  });

  test('slow calls of one endpoint do not shorten the queue of another', async () => {
    const { upstream, rest } = await start({ connections: 4, queueMs: 1_000 });
    upstream.on('GET /coupon', async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return 'usual' as const;
    });
    await Promise.all(Array.from({ length: 8 }, (_, index) => rest.listCoupons(`p${index}`, operation())));
    const burst = Array.from({ length: 100 }, (_, index) => rest.getPlayer(`p${index}`, undefined, operation()));
    expect((await Promise.all(burst)).every((player) => player !== null)).toBe(true);
  });

  test('one that comes when nobody waits is not bound', async () => {
    const { upstream, rest } = await start({ connections: 8 });
    upstream.on('GET /player', never);
    const op = operation({ callerKey: 'alone' });
    const calls = Array.from({ length: 8 }, (_, index) => failure(rest.getPlayer(`p${index}`, undefined, op)));
    await upstream.received(8);
    expect(rest.health()).toMatchObject({ active: 8, queued: 0 });
    op.abort();
    await Promise.all(calls);
  });
});

describe('429', () => {
  test('with a long Retry-After: nobody calls until then', async () => {
    const { upstream, rest } = await start();
    upstream.on('GET /coupon', { status: 429, headers: { 'retry-after': '60' } });
    expect(await failure(rest.listCoupons('p1', operation()))).toMatchObject({ status: 429, retryAfterMs: 30_000 });
    const { retryAfterMs, ...error } = await failure(rest.getPlayer('p1', undefined, operation()));
    expect(error).toEqual(notSent);
    expect(retryAfterMs).toBeGreaterThan(20_000);
    expect(rest.health().pausedMs).toBeGreaterThan(20_000);
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

  test('a call whose client disconnects stops waiting for the end of the pause', async () => {
    const { upstream, rest } = await start({ queueMs: 10_000 });
    upstream.on('GET /coupon', { status: 429, headers: { 'retry-after': '5' } });
    await failure(rest.listCoupons('p1', operation({ inMs: 1_000 })));
    const op = operation();
    const waiting = ['p1', 'p2', 'p3'].map((id) => failure(rest.getPlayer(id, undefined, op)));
    await new Promise(setImmediate);
    expect(rest.health().queued).toBe(3);
    op.abort();
    expect((await Promise.all(waiting)).map(({ code }) => code)).toEqual(Array(3).fill('CANCELLED'));
    await new Promise(setImmediate);
    expect(rest.health().queued).toBe(0);
  });

  test('said again and again: those who wait do not all come at once', async () => {
    let calls = 0;
    const { upstream, another } = await start({}, {});
    const rest = another({ random: () => (calls++ % 10) / 10 });
    upstream.on('GET /player', { status: 429 });
    await failure(rest.getPlayer('p0', undefined, operation()));
    const ids = Array.from({ length: 30 }, (_, index) => `p${index}`);
    const results = await Promise.all(
      ids.map((id) => failure(rest.getPlayer(id, undefined, operation({ inMs: 3_000 })))),
    );
    // On a slow machine some of them run out of time while they wait.
    const code = expect.stringMatching(/^UPSTREAM_(?:UNAVAILABLE|TIMEOUT)$/);
    expect(results).toEqual(Array(30).fill(expect.objectContaining({ code, retryable: true })));
    // All at once, each of the 30 would be sent three times. On a busy machine more come before the next 429 stops the rest.
    expect(upstream.calls().length).toBeLessThan(45);
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
