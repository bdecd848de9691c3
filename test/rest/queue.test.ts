import { expect, test } from '@jest/globals';
import { getPlayer } from '../../src/rest/endpoints.ts';
import { Queue } from '../../src/rest/queue.ts';

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
