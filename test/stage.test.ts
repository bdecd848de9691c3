import { expect, test } from '@jest/globals';
import { stage } from '../src/stage.ts';

/** The event loop is about to look at its sockets. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('what was given in one turn of the event loop is worked on together, in its order', async () => {
  const done: string[] = [];
  const first = stage((item: string) => done.push(`first ${item}`));
  const second = stage((item: string) => done.push(`second ${item}`));
  first('a');
  second('a');
  await null;
  process.nextTick(() => first('b'));
  expect(done).toEqual([]);
  await nextTurn();
  expect(done).toEqual(['first a', 'first b', 'second a']);
});

test('what is given while a stage works waits for the next turn', async () => {
  const done: number[] = [];
  const count = stage((number: number) => {
    done.push(number);
    if (number < 3) count(number + 1);
  });
  count(1);
  for (const expected of [[1], [1, 2], [1, 2, 3], [1, 2, 3]]) {
    await nextTurn();
    expect(done).toEqual(expected);
  }
});
