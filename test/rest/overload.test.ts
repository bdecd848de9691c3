import { expect, test } from '@jest/globals';
import { failure, operation, start } from './setup.ts';

const overloaded = { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000, status: undefined };

test('no more connections than allowed, and every call is answered', async () => {
  const { upstream, rest } = await start({ connections: 3 });
  const ids = Array.from({ length: 60 }, (_, index) => `p${index}`);
  const players = await Promise.all(ids.map((id) => rest.getPlayer(id, undefined, operation())));
  expect(players.map((player) => player?.id)).toEqual(ids);
  expect(upstream.connections()).toBeLessThanOrEqual(3);
});

test('a call without a connection at the deadline of its operation is OVERLOADED, and the service did not fail', async () => {
  const { upstream, rest, seen } = await start({ connections: 2 });
  upstream.on('DELETE /player', { fault: 'hang' });
  const op = operation();
  const hanging = ['p1', 'p2'].map((id) => failure(rest.deletePlayer(id, op)));
  await upstream.received(2);
  const late = operation({ inMs: 300 });
  const calls = Array.from({ length: 30 }, (_, index) => failure(rest.deletePlayer(`q${index}`, late)));
  expect(await Promise.all(calls)).toEqual(Array(30).fill({ ...overloaded, outcome: 'NOT_DONE' }));
  expect(late.records[0]).toMatchObject({ attempts: 0, error: 'OVERLOADED', queueMs: expect.any(Number) });
  expect(rest.health()).toMatchObject({ breaker: 'closed', active: 2 });
  expect(upstream.calls()).toHaveLength(2);
  expect(seen.breaker).toEqual([]);
  op.abort();
  await Promise.all(hanging);
});

test('a call is rejected at once when too many wait', async () => {
  const { upstream, rest } = await start({ connections: 1, maxQueued: 2 });
  const held = upstream.hold('GET /player');
  const first = rest.getPlayer('p1', undefined, operation());
  await held.arrived;
  const waiting = ['p2', 'p3'].map((id) => rest.getPlayer(id, undefined, operation()));
  expect(await failure(rest.getPlayer('p4', undefined, operation()))).toEqual({ ...overloaded, outcome: undefined });
  expect(rest.health()).toMatchObject({ active: 1, queued: 2 });
  held.release();
  await Promise.all([first, ...waiting]);
  expect(rest.health()).toMatchObject({ active: 0, queued: 0 });
});

test('a slow endpoint does not hold the connections of the others', async () => {
  const { upstream, rest } = await start({ connections: 1 });
  upstream.on('GET /coupon', { fault: 'hang' });
  const op = operation();
  const slow = ['p1', 'p2'].map((id) => failure(rest.listCoupons(id, op)));
  await upstream.received(1);
  expect(await rest.getPlayer('p1', undefined, operation())).toMatchObject({ id: 'p1' });
  await rest.trackEvents({ playerUniqueId: 'p1', events: {} }, operation());
  op.abort();
  await Promise.all(slow);
});

test('the time of a call begins when its request leaves the queue', async () => {
  const { upstream, rest, seen } = await start({ connections: 1, timeoutMs: 1_000 });
  const answered: (() => void)[] = [];
  upstream.on('GET /player', () => new Promise((resolve) => answered.push(() => resolve({ raw: '' }))));
  const op = operation();
  const first = failure(rest.getPlayer('p1', undefined, op));
  const second = rest.getPlayer('p2', undefined, op);
  await upstream.received(1);
  // The first uses all of its time, so the second waits for longer than the time of a call.
  expect(await first).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  await upstream.received(2);
  answered.at(-1)?.();
  expect(await second).toMatchObject({ id: 'p2' });
  expect(op.records[1]?.queueMs).toBeGreaterThan(900);
  expect(seen.breaker).toEqual([]);
});

test('a call that nobody waits for any more is not sent when its turn comes, and no connection is lost', async () => {
  const { upstream, rest } = await start({ connections: 1 });
  const held = upstream.hold('GET /player');
  const first = rest.getPlayer('p1', undefined, operation());
  await held.arrived;
  const leaving = operation();
  const second = failure(rest.getPlayer('p2', undefined, leaving));
  const third = rest.getPlayer('p3', undefined, operation());
  leaving.abort();
  expect(await second).toMatchObject({ code: 'CANCELLED' });
  held.release();
  await Promise.all([first, third]);
  expect(upstream.calls()).toEqual(['GET /integrations/player/p1', 'GET /integrations/player/p3']);
  expect(upstream.connections()).toBe(1);
});
