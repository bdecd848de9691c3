import { describe, expect, test } from '@jest/globals';
import type { RestClient } from '../../src/rest/client.ts';
import type { Answer } from '../kit/upstream.ts';
import { failure, operation, start, type TestOperation } from './setup.ts';

const track = (rest: RestClient, playerUniqueId = 'p1', op: TestOperation = operation()) =>
  failure(rest.trackEvents({ playerUniqueId, events: {} }, op));

/** Calls of this many players fail; no retry makes more of them. */
async function fail(rest: RestClient, players = 10): Promise<void> {
  for (let player = 0; player < players; player += 1) await track(rest, `failing-${player}`);
}

/** A client with a clock that the test moves. */
async function startWithClock(options: Parameters<typeof start>[0] = {}) {
  const clock = { ms: 0 };
  return { ...(await start({ now: () => clock.ms, ...options })), clock };
}

const failed = { status: 500 };
const notSent = { code: 'UPSTREAM_UNAVAILABLE', retryable: true, status: undefined };

describe('the breaker opens after', () => {
  test.each<[string, Answer]>([
    ['5xx', { status: 503 }],
    ['lost connections', { fault: 'reset' }],
    ['timeouts', { fault: 'hang' }],
  ])('%s; then nothing is sent, and calls fail at once', async (_behaviour, answer) => {
    const { upstream, rest, seen } = await startWithClock(answer.fault === 'hang' ? { timeoutMs: 30 } : {});
    upstream.on('POST /event', answer);
    await fail(rest);
    expect(seen.breaker).toEqual(['open']);
    expect(await failure(rest.getPlayer('p1', undefined, operation()))).toMatchObject({
      ...notSent,
      retryAfterMs: 1_000,
      outcome: undefined,
    });
    expect(upstream.calls()).toHaveLength(10);
  });

  test('refused connections', async () => {
    const { upstream, rest } = await startWithClock();
    await upstream.stop();
    await fail(rest);
    expect(rest.health().breaker).toBe('open');
  });

  test('failures of twenty players in a row, though the service was well until then', async () => {
    const { upstream, rest, seen } = await startWithClock();
    await Promise.all(
      Array.from({ length: 100 }, () => rest.trackEvents({ playerUniqueId: 'p1', events: {} }, operation())),
    );
    upstream.on('POST /event', failed);
    await fail(rest, 30);
    expect(seen.breaker).toEqual(['open']);
    expect(upstream.calls()).toHaveLength(120);
  });
});

test('one player’s 500s do not open it', async () => {
  const { upstream, rest, seen } = await startWithClock();
  upstream.on('GET /player', failed);
  upstream.on('GET /coupon', failed);
  for (let call = 0; call < 50; call += 1) {
    await failure(rest.getPlayer('p1', undefined, operation()));
    await failure(rest.listCoupons('p1', operation()));
  }
  expect(seen.breaker).toEqual([]);
});

test('failures that are ten seconds apart do not open it', async () => {
  const { upstream, rest, seen, clock } = await startWithClock();
  upstream.on('POST /event', failed);
  await fail(rest, 9);
  clock.ms += 10_001;
  await track(rest, 'another');
  expect(seen.breaker).toEqual([]);
});

test('one endpoint that fails does not close the others down, though it is tried again and again', async () => {
  const { upstream, rest } = await start();
  upstream.on('GET /coupon', failed);
  for (let screen = 0; screen < 20; screen += 1) {
    const op = operation();
    const id = `p${screen}`;
    const coupons = failure(rest.listCoupons(id, op));
    await Promise.all([rest.getPlayer(id, undefined, op), rest.listReferrals(id, 1, 50, op), coupons]);
  }
  expect(rest.health().breaker).toBe('closed');
});

test.each<[string, Answer]>([
  ['refusals', { status: 400 }],
  ['429s', { status: 429 }],
  ['refused keys', { status: 403 }],
  ['unreadable answers', { raw: '<' }],
  ['bodies over the limit', { raw: ' '.repeat(5000) }],
])('%s do not open it: the service is there', async (_behaviour, answer) => {
  const { upstream, rest } = await start({ maxResponseBytes: 1000 });
  upstream.on('POST /event', answer);
  await fail(rest, 20);
  expect(upstream.calls()).toHaveLength(20);
  expect(rest.health().breaker).toBe('closed');
});

test('clients that go away do not open it', async () => {
  const { upstream, rest } = await start();
  upstream.on('POST /event', { fault: 'hang' });
  for (let call = 1; call <= 10; call += 1) {
    const op = operation();
    const result = track(rest, `p${call}`, op);
    await upstream.received(call);
    op.abort();
    await result;
  }
  expect(rest.health().breaker).toBe('closed');
});

test.each([
  ['less than half of the timeout', 10_000, []],
  ['more than half of it', 1_000, ['open']],
])('requests that end with their operations after %s, of %i ms: %j', async (_part, timeoutMs, states) => {
  const { upstream, rest, seen } = await startWithClock({ timeoutMs });
  upstream.on('POST /event', { fault: 'hang' });
  const calls = Array.from({ length: 10 }, (_, index) => track(rest, `p${index}`, operation({ inMs: 900 })));
  await Promise.all(calls);
  expect(seen.breaker).toEqual(states);
});

test('half-open, it lets one of ten concurrent calls through, and closes when that succeeds', async () => {
  const { upstream, rest, seen, clock } = await startWithClock();
  upstream.on('POST /event', failed);
  await fail(rest);
  upstream.forget();
  clock.ms += 1_000;
  expect(rest.health().breaker).toBe('half-open');
  expect(seen.breaker).toEqual(['open']);
  const held = upstream.hold('GET /player');
  const calls = Array.from({ length: 10 }, (_, index) => rest.getPlayer(`p${index}`, undefined, operation()));
  const others = calls.slice(1).map((call) => failure(call));
  await held.arrived;
  expect(await Promise.all(others)).toEqual(Array(9).fill(expect.objectContaining(notSent)));
  expect(upstream.calls()).toEqual(['GET /integrations/player/p0']);
  held.release();
  expect(await calls[0]).toMatchObject({ id: 'p0' });
  expect(seen.breaker).toEqual(['open', 'half-open', 'closed']);
  await rest.listCoupons('p1', operation());
});

test.each<[string, Answer]>([
  ['fails', failed],
  ['is cut', { fault: 'reset' }],
  ['hangs until its timeout', { fault: 'hang' }],
])('it opens again when that one call %s: the call is not retried, and the back-off doubles', async (_name, answer) => {
  const { upstream, rest, seen, clock } = await startWithClock({ timeoutMs: 30 });
  upstream.on('POST /event', failed);
  await fail(rest);
  upstream.on('GET /player', answer);
  upstream.forget();
  for (const backOffMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    clock.ms += backOffMs - 1;
    expect(await failure(rest.getPlayer('p1', undefined, operation()))).toMatchObject(notSent);
    clock.ms += 1;
    await failure(rest.getPlayer('p1', undefined, operation()));
  }
  expect(upstream.calls()).toHaveLength(7);
  expect(seen.breaker.slice(0, 3)).toEqual(['open', 'half-open', 'open']);

  upstream.on('GET /player', 'usual');
  clock.ms += 30_000;
  await rest.getPlayer('p1', undefined, operation());
  await fail(rest);
  expect((await failure(rest.getPlayer('p1', undefined, operation())))['retryAfterMs']).toBe(1_000);
});

test('it stays open when the client of that one call goes away', async () => {
  const { upstream, rest, seen, clock } = await startWithClock();
  upstream.on('POST /event', failed);
  await fail(rest);
  upstream.on('POST /event', { fault: 'hang' });
  upstream.forget();
  clock.ms += 1_000;
  const op = operation();
  const trial = track(rest, 'p1', op);
  await upstream.received(1);
  op.abort();
  await trial;
  expect(seen.breaker).toEqual(['open', 'half-open', 'open']);
});

test('calls that wait for a connection when it opens are not sent', async () => {
  const { upstream, rest } = await startWithClock({ connections: 1 });
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream.on('GET /player', { after, raw: '' });
  const first = rest.getPlayer('p1', undefined, operation());
  await upstream.received(1);
  const waiting = ['p2', 'p3'].map((id) => failure(rest.getPlayer(id, undefined, operation())));
  upstream.on('POST /event', failed);
  await fail(rest);
  release();
  await first;
  expect(await Promise.all(waiting)).toEqual(Array(2).fill(expect.objectContaining(notSent)));
  expect(upstream.calls().filter((call) => call.startsWith('GET'))).toHaveLength(1);
});

test('what was sent before it opened says nothing once it is closed again', async () => {
  const { upstream, rest, seen, clock } = await startWithClock();
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream.on('POST /event', { after, status: 500 });
  const before = Array.from({ length: 30 }, (_, index) => track(rest, `before-${index}`));
  await upstream.received(30);
  upstream.on('POST /event', failed);
  await fail(rest);
  clock.ms += 1_000;
  await rest.getPlayer('p1', undefined, operation());
  release();
  await Promise.all(before);
  expect(seen.breaker).toEqual(['open', 'half-open', 'closed']);
});
