import { expect, test } from '@jest/globals';
import { createTurns } from '../../src/turns.ts';

/* The order in which large lists are completed. */

test('a caller with one list waits for one list of each other caller; each list has a turn of its own', async () => {
  const takeTurn = createTurns();
  const order: string[] = [];
  let turn = 0;
  const count = () => {
    turn += 1;
    if (order.length < 8) setImmediate(count);
  };
  setImmediate(count);
  const complete = (caller: string) => takeTurn(caller).then(() => void order.push(`${caller}${turn}`));
  const all = ['greedy', 'greedy', 'greedy', 'greedy', 'greedy', 'other', 'third', 'other'].map(complete);
  await Promise.all(all);
  expect(order.map((one) => one.replace(/\d+$/, ''))).toEqual([
    'greedy',
    'other',
    'third',
    'greedy',
    'other',
    'greedy',
    'greedy',
    'greedy',
  ]);
  expect(new Set(order.map((one) => one.replace(/^\D+/, ''))).size).toBe(8);
});

test('a server with many players waits as one caller, and its players take turns', async () => {
  const takeTurn = createTurns();
  const order: string[] = [];
  const complete = ([caller = '', player]: string[]) =>
    takeTurn(caller, player).then(() => void order.push([caller, player].join(' ').trim()));
  const all = [['job', 'p1'], ['job', 'p1'], ['job', 'p2'], ['job', 'p3'], ['other'], ['other']].map(complete);
  await Promise.all(all);
  expect(order).toEqual(['job p1', 'other', 'job p2', 'other', 'job p3', 'job p1']);
});

test('what comes while nothing waits has the next turn', async () => {
  const takeTurn = createTurns();
  for (const caller of ['a', 'b', 'a']) await takeTurn(caller);
  await expect(
    Promise.race([takeTurn('a').then(() => 'turn'), new Promise((end) => setTimeout(end, 5_000).unref())]),
  ).resolves.toBe('turn');
});

test('what arrives between two turns is answered before the second', async () => {
  const takeTurn = createTurns();
  const order: string[] = [];
  const large = ['first', 'second'].map((name) =>
    takeTurn('a').then(() => {
      order.push(name);
      // Runs when a request that arrived meanwhile would be continued.
      if (name === 'first') setImmediate(() => order.push('request'));
    }),
  );
  await Promise.all(large);
  expect(order).toEqual(['first', 'request', 'second']);
});
