import { afterEach, expect, jest, test } from '@jest/globals';
import { Queue } from '../../src/rest/queue.ts';
import { bound, server } from './setup.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

/** Of a call about one player; undefined when it is refused. */
const leaseOf = (queue: Queue, caller: ReturnType<typeof server>, player = caller.key) =>
  queue.lease(caller, player, { queuedAt: performance.now(), granted: () => undefined });
const release = (queue: Queue, lease: ReturnType<typeof leaseOf>) => lease && queue.release(lease);

test('a server that was evicted and calls again is counted as before, so its calls can wait', () => {
  const queue = new Queue(4);
  const held = [1, 2, 3, 4].map((n) => leaseOf(queue, bound(`own-${n}`)));
  expect(held.map((lease) => lease?.state)).toEqual(Array(4).fill('granted'));
  const giveUp = () => release(queue, leaseOf(queue, server('shop')));
  giveUp();
  for (let n = 0; n < 1_000; n += 1) release(queue, leaseOf(queue, server(`other-${n}`)));
  for (let n = 0; n < 9_000; n += 1) giveUp();
  expect(leaseOf(queue, server('shop'))?.state).toBe('pending');
  for (const lease of held) release(queue, lease);
  expect([queue.leasedCount, queue.pendingCount]).toEqual([1, 0]);
});

test('while callers wait longer than a second, four of them may wait for each connection; otherwise all may', () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const queue = new Queue(2);
  const ask = (id: string) => leaseOf(queue, bound(id));
  const states = (count: number, name: string) => Array.from({ length: count }, (_, n) => ask(`${name}-${n}`)?.state);
  const [first] = [ask('first'), ask('second')];
  expect(states(7, 'early')).toEqual(Array(7).fill('pending'));
  clock.mockReturnValue(1_001);
  // Seven have waited long; the eighth has not.
  expect(states(20, 'burst')).toEqual(Array(20).fill('pending'));
  clock.mockReturnValue(2_002);
  expect(ask('late')).toBeUndefined();
  // A server has a limit of its own.
  expect(leaseOf(queue, server('shop'))?.state).toBe('pending');
  release(queue, first);
  expect(queue.leasedCount).toBe(2);
});

test('of a full pool, players and a server that both always wait have about half each', () => {
  const queue = new Queue(8);
  const counts = { own: 0, shop: 0 };
  const ask = (n: number) => (n % 2 ? leaseOf(queue, bound(`own-${n}`)) : leaseOf(queue, server('shop'), `p${n}`));
  let waiting = Array.from({ length: 48 }, (_, n) => ({ n, lease: ask(n) }));
  for (let step = 48; step < 1_048; step += 1) {
    const done = waiting.find(({ lease }) => lease?.state === 'granted');
    if (!done) throw new Error('No call has a connection.');
    counts[done.n % 2 ? 'own' : 'shop'] += 1;
    release(queue, done.lease);
    // The same kind of caller asks again.
    const n = 2 * step + (done.n % 2);
    waiting = [...waiting.filter((one) => one !== done), { n, lease: ask(n) }];
  }
  expect(counts.shop).toBeGreaterThan(400);
  expect(counts.own).toBeGreaterThan(400);
});
