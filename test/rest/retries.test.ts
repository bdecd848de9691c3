import { describe, expect, test } from '@jest/globals';
import { createRetryBudget } from '../../src/rest/breaker.ts';
import { until } from '../kit/until.ts';
import type { Answer, EndpointName, Upstream } from '../kit/upstream.ts';
import { CALLS, failure, operation, read, server, start, startWithClock } from './setup.ts';

const unavailable = { code: 'UPSTREAM_UNAVAILABLE' };
/** The service is back as soon as a call is to be sent again. */
const back = (upstream: () => Upstream) => ({ random: () => 1, observer: { retry: () => void upstream().restart() } });

describe.each<[string, Answer]>([
  ['500', { status: 500 }],
  ['a cut connection', { fault: 'reset' }],
  ['a body that is cut', { json: { a: 1 }, fault: 'cut' }],
])('after %s', (_behaviour, answer) => {
  test('reads and deletes are sent again, twice if need be', async () => {
    const { upstream, rest, seen } = await start();
    for (const endpoint of ['GET /player', 'GET /coupon', 'GET /referrals', 'DELETE /player'] as EndpointName[]) {
      upstream.on(endpoint, answer, answer, 'usual');
      const op = operation();
      await CALLS[endpoint](rest, 'p1', op);
      expect(op.records).toMatchObject([{ attempts: 3, status: 200, error: undefined }]);
    }
    const methods = seen.retries.map((endpoint) => endpoint.split(' ')[0]);
    expect(methods).toEqual([...Array(6).fill('GET'), 'DELETE', 'DELETE']);
  });

  test('a player that is unknown to the next attempt of a delete was deleted', async () => {
    const { upstream, rest } = await start();
    upstream.on('DELETE /player', answer, { status: 404, json: { code: 101 } });
    expect(await rest.deletePlayer('p1', operation())).toBe('deleted');
    // That of a proxy says nothing.
    upstream.on('DELETE /player', answer, { status: 404 });
    const unknown = { code: 'UPSTREAM_REJECTED', outcome: 'UNKNOWN', retryable: false };
    expect(await failure(rest.deletePlayer('p1', operation()))).toMatchObject(unknown);
  });
});

test('a player that is unknown to the next attempt of a read is unknown, also to a service that sends no code', async () => {
  const { upstream, rest } = await start();
  upstream.on('GET /player', { status: 500 }, { status: 404 });
  expect(await read(rest)).toBeNull();
});

test('while nothing can be reached an upsert is sent again, since no byte was written, and a delete deletes nothing', async () => {
  const { upstream, rest } = await start(back(() => upstream));
  await upstream.stop();
  await CALLS['POST /player'](rest);
  upstream.on('DELETE /player', { status: 404 });
  await upstream.stop();
  expect(await rest.deletePlayer('p1', operation())).toBeNull();
  expect(upstream.calls()).toEqual(['POST /integrations/player', 'DELETE /integrations/player/p1']);
});

describe('Retry-After', () => {
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();

  test.each([
    [inSeconds(-60), 0],
    ['soon', 0],
    ['1', 1_000],
    ['0.9999', 1_000],
    ['1, 1', 1_000],
    ['-1', 200, 429],
  ])('of %j holds a retry back for %i ms', async (value, ms, status = 503) => {
    const { upstream, rest } = await start({ random: () => 0.1 });
    upstream.on('GET /player', { status, headers: { 'retry-after': value } }, 'usual');
    const op = operation();
    await read(rest, 'p1', op);
    expect(op.records).toMatchObject([{ attempts: 2 }]);
    expect(op.records[0]?.ms).toBeGreaterThanOrEqual(ms);
  });

  test.each([[inSeconds(120)], ['3600']])('of %j is past the deadline: told, at most 30 s', async (value) => {
    const { upstream, rest } = await start();
    upstream.on('GET /player', { status: 503, headers: { 'retry-after': value } });
    const { retryAfterMs } = await failure(read(rest));
    expect(retryAfterMs).toBeGreaterThan(20_000);
    expect(retryAfterMs).toBeLessThanOrEqual(30_000);
    expect(upstream.calls()).toHaveLength(1);
  });
});

test('a Retry-After that is a date counts from the Date of its response', async () => {
  const { upstream, rest } = await start();
  const headers = { date: 'Wed, 21 Oct 2015 07:28:00 GMT', 'retry-after': 'Wed, 21 Oct 2015 07:28:20 GMT' };
  upstream.on('GET /player', { status: 503, headers });
  expect(await failure(read(rest))).toMatchObject({ ...unavailable, status: 503, retryAfterMs: 20_000 });
  expect(upstream.calls()).toHaveLength(1);
});

test('a Retry-After that ends after the time of the call, which began with its first request, is told at once', async () => {
  const { upstream, rest } = await start({ timeoutMs: 1_800 });
  upstream.on('GET /player', { status: 503, headers: { 'retry-after': '1' } });
  expect(await failure(read(rest))).toMatchObject({ ...unavailable, status: 503, retryAfterMs: 1_000 });
  expect(upstream.calls()).toHaveLength(2);
});

test('retries wait for a random time: at most 100 ms before the first, and twice as long before the second', async () => {
  const { upstream, rest } = await start({ random: () => 0.5 });
  upstream.on('GET /player', { status: 503 }, { status: 503 }, 'usual');
  const op = operation();
  await read(rest, 'p1', op);
  // 50 ms and 100 ms; timers can end up to a millisecond early.
  expect(op.records[0]?.ms).toBeGreaterThan(148);
});

test('a read that its operation no longer needs is not sent again, and takes nothing from the budget', async () => {
  const { upstream, rest, seen } = await start();
  const held = upstream.hold('GET /player', { status: 503 });
  const op = operation();
  const unneeded = failure(read(rest, 'p1', op));
  await held.arrived;
  op.cancellation.end();
  held.release();
  expect([await unneeded, seen.retries]).toMatchObject([{ ...unavailable, status: 503 }, []]);
});

test('retries are at most a fifth of recent traffic', async () => {
  const { upstream, rest, seen } = await startWithClock();
  let request = 0;
  upstream.on('GET /player', () => ({ status: request++ % 3 === 0 ? 500 : 200, raw: '' }));
  for (let call = 0; call < 150; call += 1) await read(rest, `p${call}`).catch(() => {});
  expect(seen.retries.length).toBeGreaterThan(20);
  expect(seen.retries.length).toBeLessThanOrEqual(10 + 0.2 * 150);
});

test('a quiet gateway retries its first failing read, and one more each second after its budget is used up', async () => {
  const { upstream, rest, clock } = await startWithClock();
  const retriesOf = async () => {
    const op = operation();
    await read(rest, 'p1', op).catch(() => {});
    return (op.records[0]?.attempts ?? 0) - 1;
  };
  upstream.on('GET /player', { status: 500 }, 'usual');
  expect(await retriesOf()).toBe(1);
  upstream.on('GET /player', { status: 500 });
  await until(async () => (await retriesOf()) === 0);
  clock.ms += 1_000;
  expect([await retriesOf(), await retriesOf()]).toEqual([1, 0]);
});

test('reads that fail at once have ten retries in all', async () => {
  const { upstream, rest, seen } = await startWithClock();
  upstream.on('GET /player', { status: 500 });
  await Promise.all(Array.from({ length: 12 }, (_, n) => failure(read(rest, `p${n}`))));
  expect(seen.retries).toHaveLength(10);
});

test('a player whose reads always fail leaves retries to the others', async () => {
  const { upstream, rest, seen, clock } = await startWithClock();
  const failed = new Set<string>();
  upstream.on('GET /player', ({ playerUniqueId: id = '' }) => {
    if (id !== 'broken' && failed.has(id)) return 'usual';
    failed.add(id);
    return { status: 502 };
  });
  for (let call = 0; call < 20; call += 1) await failure(read(rest, 'broken'));
  const { length } = seen.retries;
  expect(length).toBeGreaterThan(2);
  for (const id of ['p2', 'p3', 'p4']) expect(await read(rest, id)).toMatchObject({ id });
  expect(seen.retries).toHaveLength(length + 3);
  // It has its share again in the next window.
  clock.ms += 10_000;
  await failure(read(rest, 'broken'));
  expect(seen.retries.length).toBeGreaterThan(length + 3);
});

test('a server whose reads fail for some of its players leaves retries to players and to other servers', async () => {
  const { upstream, rest, seen } = await startWithClock();
  const failed = new Set<string>();
  upstream.on('GET /player', ({ playerUniqueId: id = '' }) => {
    if (Number(id.slice(1)) < 100 && failed.has(id)) return 'usual';
    failed.add(id);
    return Number(id.slice(1)) < 200 ? { status: 502 } : 'usual';
  });
  const job = operation({ caller: server('job') });
  // Two reads of players that are well for each one that fails, so no breaker opens.
  for (let id = 100; id < 130; id += 1) {
    await Promise.all([read(rest, `p${id + 100}`, job), read(rest, `p${id + 200}`, job)]);
    await failure(read(rest, `p${id}`, job));
  }
  expect([seen.breaker, seen.retries.length]).toEqual([[], 27]);
  for (const [n, op] of [operation(), operation({ caller: server('shop') })].entries())
    expect(await read(rest, `p${n + 1}`, op)).toMatchObject({ id: `p${n + 1}` });
});

test('the share of a player begins again ten seconds after its first retry, not after its last', () => {
  const clock = { ms: 0 };
  const budget = createRetryBudget(() => clock.ms);
  const takeAll = () => {
    while (budget.consume('p1'));
  };
  takeAll();
  for (let call = 0; call < 50; call += 1) budget.earn();
  takeAll();
  // Others still have retries, so it is the player's share that is over.
  expect(budget.consume('p2')).toBe(true);
  clock.ms = 9_999;
  expect(budget.consume('p1')).toBe(false);
  clock.ms = 10_000;
  expect(budget.consume('p1')).toBe(true);
});

test('reads that have no time for a retry take nothing from the budget', async () => {
  const { upstream, rest, seen } = await startWithClock();
  const later = { status: 503, headers: { 'retry-after': '30' } };
  upstream.on('GET /player', later, ...Array<Answer>(11).fill(later), { status: 503 }, 'usual');
  for (let call = 0; call < 12; call += 1) expect(await failure(read(rest))).toMatchObject({ status: 503 });
  await read(rest);
  expect([seen.retries.length, upstream.calls().length]).toEqual([1, 14]);
});

test.each([401, 403])(
  'keys that were refused with %i are not sent again by a call that has minutes left',
  async (status) => {
    const { upstream, rest } = await start({ timeoutMs: 300_000 });
    upstream.on('GET /player', { status });
    const error = await failure(read(rest, 'p1', operation({ inMs: 300_000 })));
    expect(error).toMatchObject({ code: 'UPSTREAM_MISCONFIGURED', status });
    expect(upstream.calls()).toHaveLength(1);
  },
);

test('a 429 of one player, with Retry-After: 30, fails no reads of others', async () => {
  const { upstream, rest } = await start();
  upstream.on('GET /player', { status: 429, headers: { 'retry-after': '30' } }, 'usual');
  expect(await failure(read(rest))).toMatchObject({ ...unavailable, status: 429, retryAfterMs: 30_000 });
  await Promise.all(Array.from({ length: 150 }, (_, index) => read(rest, `p${index}`)));
  expect(upstream.calls()).toHaveLength(151);
});
