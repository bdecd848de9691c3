import { afterEach, expect, jest, test } from '@jest/globals';
import { getPlayer } from '../../src/rest/endpoints.ts';
import { Queue } from '../../src/rest/queue.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

test('a server that was evicted and calls again is counted as before, so its calls can wait', () => {
  const queue = new Queue(getPlayer, 4);
  const held = [1, 2, 3, 4].map((n) => queue.lease({ boundCaller: `own-${n}` }, `own-${n}`));
  expect(held.map(({ state }) => state)).toEqual(Array(4).fill('granted'));
  const giveUp = () => queue.lease({ server: 'shop' }, 'p1').release();
  giveUp();
  for (let n = 0; n < 1_000; n += 1) queue.lease({ server: `other-${n}` }, 'p1').release();
  for (let n = 0; n < 9_000; n += 1) giveUp();
  expect(queue.lease({ server: 'shop' }, 'p1')).toMatchObject({ state: 'pending', aborted: undefined });
  for (const lease of held) lease.release();
  expect([queue.leasedCount, queue.pendingCount]).toEqual([1, 0]);
});

test('while callers wait longer than a second, four of them may wait for each connection; otherwise all may', () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const queue = new Queue(getPlayer, 2);
  const ask = (id: string) => queue.lease({ boundCaller: id }, id);
  const states = (count: number, name: string) => Array.from({ length: count }, (_, n) => ask(`${name}-${n}`).state);
  const [first] = [ask('first'), ask('second')];
  expect(states(7, 'early')).toEqual(Array(7).fill('pending'));
  clock.mockReturnValue(1_001);
  // Seven have waited long; the eighth has not.
  expect(states(20, 'burst')).toEqual(Array(20).fill('pending'));
  clock.mockReturnValue(2_002);
  expect(ask('late')).toMatchObject({ state: 'released', aborted: { code: 'OVERLOADED', retryAfterMs: 1_000 } });
  // A server has a limit of its own.
  expect(queue.lease({ server: 'shop' }, 'p1').state).toBe('pending');
  first?.release();
  expect(queue.leasedCount).toBe(2);
});

test('of a full pool, players and a server that both always wait have about half each', () => {
  const queue = new Queue(getPlayer, 8);
  const counts = { own: 0, shop: 0 };
  const ask = (n: number) =>
    n % 2 ? queue.lease({ boundCaller: `own-${n}` }, `own-${n}`) : queue.lease({ server: 'shop' }, `p${n}`);
  let waiting = Array.from({ length: 48 }, (_, n) => ({ n, lease: ask(n) }));
  for (let step = 48; step < 1_048; step += 1) {
    const done = waiting.find(({ lease }) => lease.state === 'granted');
    if (!done) throw new Error('No call has a connection.');
    counts[done.n % 2 ? 'own' : 'shop'] += 1;
    done.lease.release();
    // The same kind of caller asks again.
    const n = 2 * step + (done.n % 2);
    waiting = [...waiting.filter((one) => one !== done), { n, lease: ask(n) }];
  }
  expect(counts.shop).toBeGreaterThan(400);
  expect(counts.own).toBeGreaterThan(400);
});
