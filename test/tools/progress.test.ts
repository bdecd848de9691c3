import { expect, test } from '@jest/globals';

const { startProgress } = await import(new URL('../../tools/progress.mjs', import.meta.url).href);

/** What three of four steps write that take 40, 20 and 200 seconds. */
function written(terminal: object): string {
  let [text, seconds] = ['', 0];
  const write = (part: string) => {
    text += part;
  };
  const progress = startProgress(4, { ...terminal, write }, () => seconds * 1_000);
  for (const [name, next] of [
    ['the first', 40],
    ['the second', 60],
    ['the third', 260],
  ] as const) {
    progress.step(name);
    seconds = next;
  }
  progress.step('the fourth');
  progress.end();
  return text;
}

test('without a terminal each step is a line', () => {
  expect(written({})).toBe(
    [
      'step 1 of 4: the first',
      'step 2 of 4, about 2 min left: the second',
      'step 3 of 4, about 60 s left: the third',
      'step 4 of 4, about 87 s left: the fourth',
      '',
    ].join('\n'),
  );
});

test('on a terminal one line moves, is not longer than the terminal, and is gone at the end', () => {
  const lines = written({ isTTY: true, columns: 30 }).split('\r\x1b[2K');
  expect(lines).toEqual([
    '',
    'step 1 of 4: the first',
    'step 2 of 4, about 2 min left',
    'step 3 of 4, about 60 s left:',
    'step 4 of 4, about 87 s left:',
    '',
  ]);
});
