import { describe, expect, test } from '@jest/globals';
import type { Answer } from '../kit/upstream.ts';
import { failure, operation, start } from './setup.ts';

const late = { code: 'UPSTREAM_TIMEOUT', retryable: true };
const cancelled = { code: 'CANCELLED', retryable: false };
const endless: [string, Answer][] = [
  ['never answers', { fault: 'hang' }],
  ['stalls in the middle of the body', { json: { a: 'b' }, fault: 'stall' }],
  ['drips without end', { fault: 'drip' }],
];

describe.each(endless)('a service that %s', (_behaviour, answer) => {
  test('is given up at the deadline of the call, and the request ended', async () => {
    const { upstream, rest } = await start({ timeoutMs: 250 });
    upstream.on('GET /player', answer);
    const op = operation();
    const result = failure(rest.getPlayer('p1', undefined, op));
    await upstream.received(1);
    expect(await result).toMatchObject(late);
    await upstream.requests[0]?.gone;
    expect(upstream.calls()).toHaveLength(1);
    expect(op.records).toMatchObject([{ error: 'UPSTREAM_TIMEOUT', attempts: 1 }]);
  });

  test('is given up at the deadline of the operation when that comes first', async () => {
    const { upstream, rest } = await start({ timeoutMs: 60_000 });
    upstream.on('GET /player', answer);
    expect(await failure(rest.getPlayer('p1', undefined, operation({ inMs: 40 })))).toMatchObject(late);
    await upstream.requests[0]?.gone;
  });

  test('is given up when the client goes away', async () => {
    const { upstream, rest } = await start({ timeoutMs: 60_000 });
    upstream.on('DELETE /player', answer);
    const op = operation({ inMs: 60_000 });
    const result = failure(rest.deletePlayer('p1', op));
    await upstream.received(1);
    op.abort();
    expect(await result).toMatchObject(cancelled);
    await upstream.requests[0]?.gone;
    expect(op.records).toMatchObject([{ error: 'CANCELLED' }]);
  });
});

test('the retries of a call are within its deadline', async () => {
  const { upstream, rest } = await start({ timeoutMs: 500 });
  upstream.on('GET /player', { status: 500 }, { fault: 'hang' });
  const op = operation();
  expect(await failure(rest.getPlayer('p1', undefined, op))).toMatchObject(late);
  expect(op.records).toMatchObject([{ attempts: 2 }]);
});

test('a client that goes away while a retry waits ends the wait, and nothing more is sent', async () => {
  const { upstream, another } = await start();
  const op = operation();
  const rest = another({ random: () => 1, observer: { retry: () => op.abort() } });
  upstream.on('GET /player', { status: 500 }, 'usual');
  expect(await failure(rest.getPlayer('p1', undefined, op))).toMatchObject(cancelled);
  expect(op.records).toMatchObject([{ error: 'CANCELLED', attempts: 1 }]);
  expect(upstream.calls()).toHaveLength(1);
});

function gone() {
  const op = operation();
  op.abort();
  return op;
}

describe('an operation whose time is over before', () => {
  test.each([
    ['its deadline', () => operation({ inMs: -1 }), late],
    ['its client went away', gone, cancelled],
  ])('because of %s sends nothing', async (_case, prepare, told) => {
    const { upstream, rest } = await start();
    const op = prepare();
    expect(await failure(rest.getPlayer('p1', undefined, op))).toMatchObject(told);
    expect(await failure(rest.upsertPlayer({ playerUniqueId: 'p1' }, op))).toMatchObject(told);
    expect(upstream.calls()).toEqual([]);
    expect(op.records.every(({ attempts }) => attempts === 0)).toBe(true);
  });
});

test('one abort ends every call of the operation', async () => {
  const { upstream, rest } = await start();
  upstream.on('GET /player', { fault: 'hang' });
  const op = operation();
  const calls = Array.from({ length: 20 }, (_, index) => failure(rest.getPlayer(`p${index}`, undefined, op)));
  await upstream.received(20);
  op.abort();
  expect(await Promise.all(calls)).toEqual(Array(20).fill(expect.objectContaining(cancelled)));
  await Promise.all(upstream.requests.map((request) => request.gone));
});

test('closing the client ends the calls under way, and those that come later fail', async () => {
  const { upstream, rest } = await start();
  upstream.on('GET /player', { fault: 'hang' });
  const under = failure(rest.getPlayer('p1', undefined, operation()));
  await upstream.received(1);
  await rest.close();
  expect(await under).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect(await failure(rest.getPlayer('p1', undefined, operation()))).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect(upstream.calls()).toHaveLength(1);
});
