import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';

const LINES = 1_000;

/** The beginning of a program that has a log. */
const withLog = (shared: boolean) => `
  import fs from 'node:fs';
  import { createLog, stdout } from '../src/log.ts';
  const log = createLog('info', stdout(${shared}));`;

/** Writes long lines, many bytes to a character, and then some short ones, which wait for more. */
const WRITE_LINES = `
  for (let number = 0; number < ${LINES - 3}; number += 1) log.info({ number, pad: 'ü'.repeat(number % 300) }, 'line');
  for (let number = ${LINES - 3}; number < ${LINES}; number += 1) log.info({ number }, 'line');`;

/** Starts a program that stands in this directory, as it were. */
async function start(program: string) {
  const bundle = { bundle: true, packages: 'external', platform: 'node', format: 'esm' } as const;
  const { outputFiles } = await build({
    ...bundle,
    stdin: { contents: program, resolveDir: import.meta.dirname },
    write: false,
  });
  return spawn(process.execPath, ['--input-type=module', '--eval', outputFiles[0]?.text ?? '']);
}

/** Runs a program and resolves to what it wrote, however it ended. */
async function run(program: string): Promise<{ stdout: string; stderr: string }> {
  const child = await start(program);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr };
}

const numbersIn = (output: string) =>
  output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).number);

const all = Array.from({ length: LINES }, (_, number) => number);

describe.each([
  ['a stdout of its own', false, 32_768],
  ['a stdout that others write to', true, 4_096],
])('on %s', (_name, shared, most) => {
  it.each([
    ['ends by itself', ''],
    ['is ended', 'process.exit();'],
    ['waits for its log and is ended', 'log.flush(() => process.exit());'],
    ['throws', "throw new Error('uncaught');"],
    [
      'tells that it cannot go on, and is killed',
      `log.fatal({ number: ${LINES} }, 'end'); process.kill(process.pid, 'SIGKILL');`,
    ],
  ])('every line is written, whole and in order, when the process %s', async (_how, end) => {
    const { stdout } = await run(withLog(shared) + WRITE_LINES + end);
    expect(numbersIn(stdout)).toEqual(end.includes('fatal') ? [...all, LINES] : all);
  });

  it('every line is written, whole, when the process is ended while some are being written', async () => {
    // Those were handed to the system and may come after the ones that are written last.
    const { stdout } = await run(`${withLog(shared)}${WRITE_LINES}setImmediate(() => process.exit());`);
    expect(numbersIn(stdout).sort((a, b) => a - b)).toEqual(all);
  });

  it(`many lines go out in one write, of ${most} bytes at most`, async () => {
    const program = `${withLog(shared)}
      const { write } = fs;
      fs.write = (fd, data, ...rest) => {
        process.stderr.write(Buffer.byteLength(data) + ' ');
        return write(fd, data, ...rest);
      };
      ${WRITE_LINES}`;
    const { stdout, stderr } = await run(program);
    const sizes = stderr.trim().split(' ').map(Number);
    expect(numbersIn(stdout)).toEqual(all);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(most);
    expect(sizes.length).toBeLessThan((2 * Buffer.byteLength(stdout)) / most + 2);
  });
});

it('what waits for a reader is written when the process ends', async () => {
  // Once the program has used it, a pipe does not block: it takes nothing as long as it is full.
  const program = `${withLog(false)}
    process.stdout.write('first\\n');
    const full = Buffer.alloc(4_096, '.');
    try { for (;;) fs.writeSync(1, full); } catch {}
    fs.writeSync(2, 'full');
    ${WRITE_LINES}
    process.exit();`;
  const child = await start(program);
  await once(child.stderr, 'data');
  const stdout = await text(child.stdout);
  expect(numbersIn(stdout.slice(stdout.indexOf('{"level"')))).toEqual(all);
});

it('a line goes out soon, though no others come', async () => {
  const program = `${withLog(false)}
    log.info('alone');
    setTimeout(() => fs.writeSync(1, 'later'), 1_000);`;
  expect((await run(program)).stdout).toMatch(/alone.*later/s);
});
