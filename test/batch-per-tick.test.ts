import { expect, test } from '@jest/globals';
import { batchPerTick } from '../src/rest/batch-per-tick.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('what is given while sockets are read is worked on together, in its order', async () => {
  const done: string[] = [];
  const first = batchPerTick((item: string) => done.push(`first ${item}`), setImmediate);
  const second = batchPerTick((item: string) => done.push(`second ${item}`), setImmediate);
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
  const count = batchPerTick((number: number) => {
    done.push(number);
    if (number < 3) count(number + 1);
  }, setImmediate);
  count(1);
  for (const expected of [[1], [1, 2], [1, 2, 3], [1, 2, 3]]) {
    await nextTurn();
    expect(done).toEqual(expected);
  }
});

test('a stage that follows another works when all that the first set going has come to rest', async () => {
  const done: string[] = [];
  const answer = batchPerTick((item: string) => done.push(`answer ${item}`), process.nextTick);
  const take = batchPerTick(async (item: string) => {
    done.push(`take ${item}`);
    for (let i = 0; i < item.length * 10; i += 1) await null;
    answer(item);
  }, setImmediate);
  take('long');
  take('s');
  await nextTurn();
  await nextTurn();
  expect(done).toEqual(['take long', 'take s', 'answer s', 'answer long']);
});
