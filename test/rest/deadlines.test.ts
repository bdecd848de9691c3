import { describe, expect, jest, test } from '@jest/globals';
import { atEnd } from '../kit/at-end.ts';
import type { Answer } from '../kit/upstream.ts';
import { CALLS, failure, operation, read, start } from './setup.ts';

const late = { code: 'UPSTREAM_TIMEOUT', retryable: true };
const cancelled = { code: 'CANCELLED', retryable: false };

describe.each<[string, Answer]>([
  ['never responds', { fault: 'hang' }],
  ['stalls in the middle of the body', { json: { a: 'b' }, fault: 'stall' }],
  ['drips without end', { fault: 'drip' }],
])('a service that %s', (_behaviour, answer) => {
  test.each([
    ['the deadline of the call', { timeoutMs: 250 }, 60_000],
    ['the deadline of the operation when that comes first', { timeoutMs: 60_000 }, 1_000],
  ])('is given up at %s, and the request ended', async (_deadline, options, inMs) => {
    const { upstream, rest } = await start(options);
    upstream.on('GET /player', answer);
    const op = operation({ inMs });
    const result = failure(read(rest, 'p1', op));
    await upstream.received(1);
    expect(await result).toMatchObject(late);
    await upstream.requests[0]?.gone;
    expect(upstream.calls()).toHaveLength(1);
    expect(op.records).toMatchObject([{ error: 'UPSTREAM_TIMEOUT', attempts: 1 }]);
  });

  test('is given up when the client goes away, on every read', async () => {
    const { upstream, rest } = await start({ timeoutMs: 60_000 });
    for (const endpoint of ['GET /player', 'GET /coupon'] as const) upstream.on(endpoint, answer);
    const op = operation({ inMs: 60_000 });
    const results = [read(rest, 'p1', op), read(rest, 'p2', op), rest.listCoupons('p1', op)].map(failure);
    await upstream.received(3);
    op.abort();
    expect(await Promise.all(results)).toEqual(Array(3).fill(expect.objectContaining(cancelled)));
    await Promise.all(upstream.requests.map(({ gone }) => gone));
  });
});

test('the retries of a call are within its deadline', async () => {
  const { upstream, rest } = await start({ timeoutMs: 2_000 });
  upstream.on('GET /player', { status: 500 }, { fault: 'hang' });
  const op = operation();
  expect(await failure(read(rest, 'p1', op))).toMatchObject(late);
  expect(op.records).toMatchObject([{ attempts: 2 }]);
});

test('a retry that waits for a connection until its time is over is refused for overload', async () => {
  const { upstream, rest } = await start({ timeoutMs: 400, connections: 1 });
  const limited = { status: 429, headers: { 'retry-after': '0' } };
  upstream.on('GET /player', ({ playerUniqueId }) => (playerUniqueId === 'limited' ? limited : { fault: 'hang' }));
  const op = operation();
  const [first] = await Promise.all([read(rest, 'limited', op), read(rest, 'slow')].map(failure));
  expect(first).toMatchObject({ code: 'OVERLOADED', retryable: true });
  expect(op.records).toMatchObject([{ attempts: 1 }]);
  expect(op.records[0]?.queueMs).toBeGreaterThan(200);
});

test('after the timer of a call, which can fire a little early, no attempt without one begins', async () => {
  const real = performance.now.bind(performance);
  let early = 0;
  const now = jest.spyOn(performance, 'now').mockImplementation(() => real() - early);
  atEnd(() => now.mockRestore());
  const random = () => {
    early = 50;
    return 1.6;
  };
  const { upstream, rest } = await start({ timeoutMs: 150, random });
  upstream.on('GET /player', { status: 503 }, { fault: 'hang' });
  expect(await failure(read(rest))).toMatchObject(late);
  expect(upstream.calls()).toHaveLength(1);
});

test.each(['POST /player', 'DELETE /player', 'POST /event'] as const)(
  'a %s that was sent is read to its end when the client goes away, and the next write is not sent',
  async (endpoint) => {
    const { upstream, rest } = await start();
    const held = upstream.hold(endpoint);
    const op = operation();
    const written = CALLS[endpoint](rest, 'p1', op);
    await held.arrived;
    op.abort();
    held.release();
    await written;
    expect(op.records).toMatchObject([{ status: 200, error: undefined }]);
    expect(await failure(CALLS[endpoint](rest, 'p1', op))).toMatchObject({ code: 'CANCELLED', outcome: 'NOT_DONE' });
    expect(upstream.calls()).toHaveLength(1);
  },
);

test('a write without a client ends at its own timeout, as UNKNOWN', async () => {
  const { upstream, rest } = await start({ timeoutMs: 100 });
  upstream.on('POST /player', { fault: 'hang' });
  const op = operation();
  const written = failure(CALLS['POST /player'](rest, 'p1', op));
  await upstream.received(1);
  op.abort();
  expect(await written).toMatchObject({ code: 'UPSTREAM_TIMEOUT', outcome: 'UNKNOWN' });
  await upstream.requests[0]?.gone;
});

test('a client that goes away while a retry waits ends the wait, and nothing more is sent', async () => {
  const op = operation();
  const { upstream, rest } = await start({ random: () => 1, observer: { retry: () => op.abort() } });
  upstream.on('GET /player', { status: 500 }, 'usual');
  expect(await failure(read(rest, 'p1', op))).toMatchObject(cancelled);
  expect(op.records).toMatchObject([{ error: 'CANCELLED', attempts: 1 }]);
  expect(upstream.calls()).toHaveLength(1);
});

test.each([
  ['is past', late],
  ['lost its client', cancelled],
])('an operation that %s sends nothing', async (_case, expected) => {
  const { upstream, rest } = await start();
  const op = operation({ inMs: expected === late ? -1 : 10_000 });
  if (expected === cancelled) op.abort();
  expect(await failure(read(rest, 'p1', op))).toMatchObject(expected);
  expect(await failure(CALLS['POST /player'](rest, 'p1', op))).toMatchObject({ ...expected, outcome: 'NOT_DONE' });
  expect(upstream.calls()).toEqual([]);
  expect(op.records).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
});

test.each([
  ['a call', { timeoutMs: 50 }, 10_000],
  ['an operation', {}, 50],
])(
  'a response that arrived while the process was held up counts, though the time of %s is over',
  async (_whose, options, inMs) => {
    const { upstream, rest } = await start(options);
    upstream.on('DELETE /player', () => {
      // After the response is written, and before the client reads it.
      setImmediate(() => {
        for (const end = performance.now() + 100; performance.now() < end; );
      });
      return 'usual';
    });
    await expect(rest.deletePlayer('p1', operation({ inMs }))).resolves.toBe('deleted');
  },
);

test('closing the client ends the calls under way, and those that come later fail', async () => {
  const { upstream, rest } = await start();
  upstream.on('GET /player', { fault: 'hang' });
  const under = failure(read(rest));
  await upstream.received(1);
  await rest.close();
  for (const result of [under, failure(read(rest)), failure(rest.listCoupons('p1', operation()))])
    expect(await result).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect(upstream.calls()).toHaveLength(1);
});
