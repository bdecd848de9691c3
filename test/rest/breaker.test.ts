import { describe, expect, test } from '@jest/globals';
import type { RestClient } from '../../src/rest/client.ts';
import type { Answer } from '../kit/upstream.ts';
import { failure, operation, start, type TestOperation } from './setup.ts';

const track = (rest: RestClient, op: TestOperation = operation()) =>
  failure(rest.trackEvents({ playerUniqueId: 'p1', events: {} }, op));

/** Fails as many calls as it takes; no retry makes more of them. */
async function fail(rest: RestClient): Promise<void> {
  for (let call = 0; call < 10; call += 1) await track(rest);
}

/** Calls until it works. */
async function eventually<Result>(call: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await call();
    } catch {
      await new Promise(setImmediate);
    }
  }
}

describe('the breaker opens after', () => {
  test.each<[string, Answer]>([
    ['5xx', { status: 503 }],
    ['lost connections', { fault: 'reset' }],
    ['timeouts', { fault: 'hang' }],
  ])('%s; then nothing is sent, and calls fail at once', async (_behaviour, answer) => {
    const { upstream, rest, seen } = await start({ breakerIntervalMs: 60_000, timeoutMs: 30 });
    upstream.on('POST /event', answer);
    await fail(rest);
    while (rest.health().breaker !== 'open') await new Promise(setImmediate);
    expect(seen.breaker).toEqual(['open']);

    const { retryAfterMs, ...error } = await failure(rest.getPlayer('p1', undefined, operation()));
    expect(error).toEqual({ code: 'UPSTREAM_UNAVAILABLE', retryable: true, status: undefined, outcome: undefined });
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(upstream.calls()).toHaveLength(10);
  });

  test('refused connections', async () => {
    const { upstream, rest } = await start({ breakerIntervalMs: 60_000 });
    await upstream.stop();
    await fail(rest);
    expect(rest.health().breaker).toBe('open');
  });
});

test('a service that fails all of a sudden is noticed though it was well until then', async () => {
  const { upstream, rest, seen } = await start({ breakerIntervalMs: 60_000 });
  await Promise.all(
    Array.from({ length: 100 }, () => rest.trackEvents({ playerUniqueId: 'p1', events: {} }, operation())),
  );
  upstream.on('POST /event', { status: 500 });
  for (let call = 0; call < 30; call += 1) await track(rest);
  expect(seen.breaker).toEqual(['open']);
  expect(upstream.calls()).toHaveLength(120);
});

test('one endpoint that fails does not close the others down, though it is tried again and again', async () => {
  const { upstream, rest } = await start();
  upstream.on('GET /coupon', { status: 500 });
  for (let screen = 0; screen < 20; screen += 1) {
    const op = operation();
    const coupons = failure(rest.listCoupons('p1', op));
    await Promise.all([rest.getPlayer('p1', undefined, op), rest.listReferrals('p1', 1, 50, op), coupons]);
  }
  expect(rest.health().breaker).toBe('closed');
});

test.each<[string, Answer]>([
  ['refusals', { status: 400 }],
  ['refused keys', { status: 403 }],
  ['unreadable answers', { raw: '<' }],
  ['bodies over the limit', { raw: ' '.repeat(5000) }],
])('%s do not open it: the service is there', async (_behaviour, answer) => {
  const { upstream, rest } = await start({ maxResponseBytes: 1000 });
  upstream.on('POST /event', answer);
  for (let round = 0; round < 2; round += 1) await fail(rest);
  expect(upstream.calls()).toHaveLength(20);
  expect(rest.health().breaker).toBe('closed');
});

test('clients that go away do not open it', async () => {
  const { upstream, rest } = await start();
  upstream.on('POST /event', { fault: 'hang' });
  for (let call = 1; call <= 10; call += 1) {
    const op = operation();
    const result = track(rest, op);
    await upstream.received(call);
    op.abort();
    await result;
  }
  expect(rest.health().breaker).toBe('closed');
});

test('it lets one call through after a while, and closes when that succeeds', async () => {
  const { upstream, rest, seen } = await start({ breakerIntervalMs: 5 });
  upstream.on('POST /event', { status: 500 });
  await fail(rest);
  await eventually(() => rest.getPlayer('p1', undefined, operation()));
  expect(seen.breaker).toEqual(['open', 'half-open', 'closed']);
  expect(rest.health().breaker).toBe('closed');
});

test('it is open no longer once a call may be sent, though none comes: who waits for that sees it', async () => {
  const { upstream, rest, seen } = await start({ breakerIntervalMs: 5 });
  upstream.on('POST /event', { status: 500 });
  await fail(rest);
  while (rest.health().breaker !== 'half-open') await new Promise(setImmediate);
  expect(seen.breaker).toEqual(['open']);
});

test('while that one call is on its way the others fail at once', async () => {
  const { upstream, rest, seen } = await start({ breakerIntervalMs: 500 });
  upstream.on('POST /event', { status: 500 });
  await fail(rest);
  const held = upstream.hold('GET /player');
  const probe = eventually(() => rest.getPlayer('p1', undefined, operation()));
  await held.arrived;
  expect(rest.health().breaker).toBe('half-open');
  expect(await failure(rest.listCoupons('p1', operation()))).toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    retryable: true,
  });
  held.release();
  await probe;
  expect(seen.breaker.at(-1)).toBe('closed');
  expect(upstream.calls().filter((call) => call.includes('coupon'))).toEqual([]);
});

test.each<[string, Answer]>([
  ['fails', { status: 500 }],
  ['is cut', { fault: 'reset' }],
])('it stays open when that one call %s', async (_behaviour, answer) => {
  const { upstream, rest, seen } = await start({ breakerIntervalMs: 5 });
  upstream.on('POST /event', answer);
  await fail(rest);
  upstream.forget();
  await eventually(async () => {
    await track(rest);
    if (upstream.calls().length === 0) throw new Error('not sent yet');
  });
  expect(seen.breaker).toEqual(['open', 'half-open', 'open']);
});

test('it stays open when the client of that one call goes away', async () => {
  const { upstream, rest, seen } = await start({ breakerIntervalMs: 5 });
  upstream.on('POST /event', { status: 500 });
  await fail(rest);
  upstream.on('POST /event', { fault: 'hang' });
  upstream.forget();
  const op = operation();
  const probe = eventually(async () => {
    if (op.cancellation.cancelled) return;
    await rest.trackEvents({ playerUniqueId: 'p1', events: {} }, op);
  });
  await upstream.received(1);
  op.abort();
  await probe;
  expect(seen.breaker).toEqual(['open', 'half-open', 'open']);
});

test('one call that hangs does not keep the service out of use: the next one is sent an interval later', async () => {
  const { upstream, rest, seen } = await start({ breakerIntervalMs: 5, timeoutMs: 60_000 });
  upstream.on('POST /event', { status: 500 });
  await fail(rest);
  upstream.on('POST /event', { fault: 'hang' });
  upstream.forget();
  const op = operation({ inMs: 60_000 });
  const hanging = eventually(async () => {
    if (op.cancellation.cancelled) return;
    await rest.trackEvents({ playerUniqueId: 'p1', events: {} }, op);
  });
  await upstream.received(1);
  await eventually(() => rest.getPlayer('p1', undefined, operation()));
  expect(seen.breaker).toEqual(['open', 'half-open', 'closed']);
  op.abort();
  await hanging;
  expect(rest.health().breaker).toBe('closed');
});

test('one call that is answered late closes it, though another has been sent since', async () => {
  const { upstream, rest, seen } = await start({ breakerIntervalMs: 5 });
  upstream.on('POST /event', { status: 500 });
  await fail(rest);
  const held = upstream.hold('GET /player');
  const late = eventually(() => rest.getPlayer('p1', undefined, operation()));
  await held.arrived;
  upstream.on('GET /coupon', { fault: 'hang' });
  const op = operation();
  const hanging = eventually(async () => {
    if (op.cancellation.cancelled) return;
    await rest.listCoupons('p1', op);
  });
  await upstream.received(12);
  held.release();
  await late;
  op.abort();
  await hanging;
  expect(seen.breaker).toEqual(['open', 'half-open', 'closed']);
});

test('what was sent before it opened says nothing once it is closed again', async () => {
  const { upstream, rest, seen } = await start({ breakerIntervalMs: 5 });
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream.on('POST /event', { after, status: 500 });
  const before = Array.from({ length: 30 }, () => track(rest));
  await upstream.received(30);
  upstream.on('POST /event', { status: 500 });
  await fail(rest);
  await eventually(() => rest.getPlayer('p1', undefined, operation()));
  release();
  await Promise.all(before);
  expect(seen.breaker).toEqual(['open', 'half-open', 'closed']);
});
