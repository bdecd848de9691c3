import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const run = promisify(execFile);
const LOG = fileURLToPath(new URL('../dist/log.js', import.meta.url));
const LINES = 1_000;

/** Writes lines of many bytes to a log of a process of its own, which then ends in the way given. */
async function written(shared: boolean, end: string): Promise<string[]> {
  const program = `
    import { createLog, stdout } from ${JSON.stringify(LOG)};
    const log = createLog('info', stdout(${shared}));
    for (let number = 0; number < ${LINES}; number += 1) log.info({ number, pad: 'ü'.repeat(number % 300) }, 'line');
    ${end}`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], {
    maxBuffer: 8 * 1024 * 1024,
  });
  return stdout.trimEnd().split('\n');
}

describe.each([
  ['a stdout of its own', false],
  ['a stdout that others write to', true],
])('on %s', (_name, shared) => {
  it.each([
    ['ends by itself', ''],
    ['is ended', 'process.exit();'],
    ['waits for its log and is ended', 'log.flush(() => process.exit());'],
    ['throws', "process.on('uncaughtException', () => process.exit()); throw new Error('uncaught');"],
  ])('every line is written, whole and in order, when the process %s', async (_how, end) => {
    const numbers = (await written(shared, end)).map((line) => JSON.parse(line).number);
    expect(numbers).toEqual(Array.from({ length: LINES }, (_, number) => number));
  });
});

it('a line goes out soon, though no others come', async () => {
  const program = `
    import { createLog, stdout } from ${JSON.stringify(LOG)};
    createLog('info', stdout(false)).info('alone');
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [first] = await once(child.stdout, 'data');
  child.kill('SIGKILL');
  expect(JSON.parse(String(first)).msg).toBe('alone');
});
