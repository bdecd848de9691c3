import { describe, expect, test } from '@jest/globals';
import type { RestClient } from '../../src/rest/client.ts';
import { until } from '../kit/until.ts';
import type { Answer } from '../kit/upstream.ts';
import { failure, operation, start, type TestOperation } from './setup.ts';

const reads: Record<string, (rest: RestClient, op: TestOperation) => Promise<unknown>> = {
  'GET /player': (rest, op) => rest.getPlayer('p1', undefined, op),
  'GET /coupon': (rest, op) => rest.listCoupons('p1', op),
  'GET /referrals': (rest, op) => rest.listReferrals('p1', 1, 50, op),
  'DELETE /player': (rest, op) => rest.deletePlayer('p1', op),
};
const writes: Record<string, (rest: RestClient, op: TestOperation) => Promise<unknown>> = {
  'POST /player': (rest, op) => rest.upsertPlayer({ playerUniqueId: 'p1' }, op),
  'POST /event': (rest, op) => rest.trackEvents({ playerUniqueId: 'p1', events: { order: {} } }, op),
};
const passing: [string, Answer][] = [
  ['500', { status: 500 }],
  ['503', { status: 503 }],
  ['a cut connection', { fault: 'reset' }],
  ['a body that is cut', { json: { a: 1 }, fault: 'cut' }],
];

describe.each(passing)('after %s', (_behaviour, answer) => {
  test.each(['GET /player', 'GET /coupon', 'GET /referrals', 'DELETE /player'] as const)(
    '%s is sent again, at most twice',
    async (endpoint) => {
      const { upstream, rest, seen } = await start();
      upstream.on(endpoint, answer, answer, 'usual');
      const op = operation();
      await reads[endpoint]?.(rest, op);
      expect(upstream.calls()).toHaveLength(3);
      expect(op.records).toMatchObject([{ attempts: 3, status: 200, error: undefined }]);
      expect(seen.retries).toHaveLength(2);

      upstream.on(endpoint, answer);
      expect(await failure(reads[endpoint]?.(rest, operation()) ?? Promise.resolve())).toMatchObject({
        code: 'UPSTREAM_UNAVAILABLE',
      });
      expect(upstream.calls()).toHaveLength(6);
    },
  );

  test.each(['POST /player', 'POST /event'] as const)('%s is not: it may have been carried out', async (endpoint) => {
    const { upstream, rest, seen } = await start();
    upstream.on(endpoint, answer, 'usual');
    expect(await failure(writes[endpoint]?.(rest, operation()) ?? Promise.resolve())).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
    expect(upstream.calls()).toHaveLength(1);
    expect(seen.retries).toEqual([]);
  });
});

test.each<[string, Answer]>([
  ['a refusal', { status: 400 }],
  ['refused keys', { status: 401 }],
  ['an answer that cannot be read', { raw: '<' }],
  ['a redirect', { status: 301, headers: { location: '/' } }],
])('%s is final', async (_behaviour, answer) => {
  const { upstream, rest } = await start();
  upstream.on('GET /player', answer, 'usual');
  await failure(rest.getPlayer('p1', undefined, operation()));
  expect(upstream.calls()).toHaveLength(1);
});

describe('while nothing can be reached', () => {
  test('an upsert is sent again, since not a byte of it was written', async () => {
    const { upstream, another } = await start();
    await upstream.stop();
    const rest = another({ random: () => 1, observer: { retry: () => void upstream.restart().catch(() => {}) } });
    const op = operation();
    await rest.upsertPlayer({ playerUniqueId: 'p1' }, op);
    expect(upstream.calls()).toEqual(['POST /integrations/player']);
    expect(op.records).toMatchObject([{ status: 200, error: undefined }]);
  });

  test('events are not, whatever happened', async () => {
    const { upstream, rest, seen } = await start();
    await upstream.stop();
    const op = operation();
    expect(await failure(rest.trackEvents({ playerUniqueId: 'p1', events: {} }, op))).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
    expect(op.records).toMatchObject([{ attempts: 1 }]);
    expect(seen.retries).toEqual([]);
  });
});

describe('a player that is unknown to a delete', () => {
  const unknown: Answer = { status: 404, json: { code: 101, message: 'unknown' } };

  test('is unknown when it was the first attempt', async () => {
    const { upstream, rest } = await start();
    upstream.on('DELETE /player', unknown);
    expect(await rest.deletePlayer('p1', operation())).toBe('unknown');
  });

  test.each(passing)('was deleted by an earlier attempt that ended in %s', async (_behaviour, answer) => {
    const { upstream, rest } = await start();
    upstream.on('DELETE /player', answer, unknown);
    expect(await rest.deletePlayer('p1', operation())).toBe('deleted');
  });

  test('is unknown when the earlier attempt cannot have reached the service', async () => {
    const { upstream, another } = await start();
    upstream.on('DELETE /player', unknown);
    await upstream.stop();
    const rest = another({ random: () => 1, observer: { retry: () => void upstream.restart().catch(() => {}) } });
    expect(await rest.deletePlayer('p1', operation())).toBe('unknown');
    expect(upstream.calls()).toHaveLength(1);
  });
});

describe('Retry-After', () => {
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();

  test.each([
    ['0 seconds', () => '0'],
    ['a date that has passed', () => inSeconds(-60)],
    ['something unreadable', () => 'soon'],
  ])('of %s does not hold a retry back', async (_case, value) => {
    const { upstream, rest } = await start();
    upstream.on('GET /player', { status: 503, headers: { 'retry-after': value() } }, 'usual');
    const op = operation();
    await rest.getPlayer('p1', undefined, op);
    expect(op.records).toMatchObject([{ attempts: 2 }]);
  });

  test.each([
    ['seconds', () => '30'],
    ['a date', () => inSeconds(30)],
    ['an hour, of which 30 s are believed', () => '3600'],
  ])('past the deadline, in %s, is told instead of waited for', async (_case, value) => {
    const { upstream, rest } = await start();
    upstream.on('GET /player', { status: 503, headers: { 'retry-after': value() } });
    const { retryAfterMs } = await failure(rest.getPlayer('p1', undefined, operation()));
    expect(retryAfterMs).toBeGreaterThan(20_000);
    expect(retryAfterMs).toBeLessThanOrEqual(30_000);
    expect(upstream.calls()).toHaveLength(1);
  });

  test('within the deadline is waited for', async () => {
    const { upstream, rest } = await start();
    upstream.on('GET /player', { status: 503, headers: { 'retry-after': '1' } }, 'usual');
    const op = operation();
    await rest.getPlayer('p1', undefined, op);
    expect(op.records[0]?.ms).toBeGreaterThanOrEqual(1000);
    expect(upstream.calls()).toHaveLength(2);
  });
});

test('retries wait for a random time: at most 100 ms before the first, and twice as long before the second', async () => {
  const { upstream, another } = await start();
  upstream.on('GET /player', { status: 503 }, { status: 503 }, 'usual');
  const op = operation();
  await another({ random: () => 0.5 }).getPlayer('p1', undefined, op);
  // 50 ms and 100 ms; timers can end up to a millisecond early.
  expect(op.records[0]?.ms).toBeGreaterThan(148);
});

test('retries are at most a fifth of recent traffic', async () => {
  const { upstream, another } = await start();
  const retries: string[] = [];
  const rest = another({ now: () => 0, observer: { retry: (method) => retries.push(method) } });
  let request = 0;
  upstream.on('GET /player', () => ({ status: request++ % 3 === 0 ? 500 : 200, raw: '' }));
  for (let call = 0; call < 150; call += 1) await rest.getPlayer('p1', undefined, operation()).catch(() => {});
  expect(retries.length).toBeGreaterThan(20);
  expect(retries.length).toBeLessThanOrEqual(10 + 0.2 * 150);
});

test('a quiet gateway retries its first failing read, and one more each second after its budget is used up', async () => {
  const { upstream, another } = await start();
  let now = 0;
  const rest = another({ now: () => now });
  const retriesOf = async () => {
    const op = operation();
    await rest.getPlayer('p1', undefined, op).catch(() => {});
    return (op.records[0]?.attempts ?? 0) - 1;
  };
  upstream.on('GET /player', { status: 500 }, 'usual');
  expect(await retriesOf()).toBe(1);
  upstream.on('GET /player', { status: 500 });
  await until(async () => (await retriesOf()) === 0);
  now += 1_000;
  expect(await retriesOf()).toBe(1);
});

describe('429', () => {
  test('of one player, with Retry-After: 30, fails no reads of others', async () => {
    const { upstream, rest } = await start();
    upstream.on('GET /player', ({ playerUniqueId }) =>
      playerUniqueId === 'throttled' ? { status: 429, headers: { 'retry-after': '30' } } : 'usual',
    );
    const throttled = failure(rest.getPlayer('throttled', undefined, operation()));
    expect(await throttled).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', status: 429, retryAfterMs: 30_000 });
    const others = Array.from({ length: 150 }, (_, index) => rest.getPlayer(`p${index}`, undefined, operation()));
    expect(await Promise.all(others)).toHaveLength(150);
    expect(upstream.calls()).toHaveLength(151);
    expect(rest.health().breaker).toBe('closed');
  });

  test.each<[string, Answer]>([
    ['429', { status: 429 }],
    ['422 of a busy player', { status: 422, json: { code: '2001' } }],
  ])('%s: an event was not done and may be sent again', async (_name, answer) => {
    const { upstream, rest } = await start();
    upstream.on('POST /event', answer, 'usual');
    const track = () => rest.trackEvents({ playerUniqueId: 'p1', events: {} }, operation());
    expect(await failure(track())).toMatchObject({ retryable: true, outcome: 'NOT_DONE', retryAfterMs: 200 });
    expect(upstream.calls()).toHaveLength(1);
  });
});
