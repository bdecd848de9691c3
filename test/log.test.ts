import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';

const LINES = 1_000;

/** The beginning of a program that has a log. */
const withLog = (shared: boolean) => `
  import fs from 'node:fs';
  import { createLog, stdout } from '../src/process/log.ts';
  const log = createLog('info', stdout(${shared}));`;

/** Writes long lines, many bytes to a character, and then some short ones, which wait for more. */
const WRITE_LINES = `
  for (let number = 0; number < ${LINES - 3}; number += 1) log.info({ number, pad: 'ü'.repeat(number % 300) }, 'line');
  for (let number = ${LINES - 3}; number < ${LINES}; number += 1) log.info({ number }, 'line');`;

/** Starts a program that stands in this directory, as it were. */
async function start(program: string, stdout: number | 'pipe' = 'pipe') {
  const bundle = { bundle: true, packages: 'external', platform: 'node', format: 'esm' } as const;
  const { outputFiles } = await build({
    ...bundle,
    stdin: { contents: program, resolveDir: import.meta.dirname },
    write: false,
  });
  const child = spawn(process.execPath, ['--input-type=module', '--eval', outputFiles[0]?.text ?? ''], {
    stdio: ['ignore', stdout, 'pipe'],
  });
  return child as ChildProcessByStdio<null, Readable, Readable>;
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
    ['is ended soon', 'setImmediate(() => process.exit());'],
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

  it(`many lines go out in one write, of ${most} bytes at most`, async () => {
    const program = `${withLog(shared)}
      const { writeSync } = fs;
      fs.writeSync = (fd, data) => {
        process.stderr.write(data.length + ' ');
        // Waits for room: what is refused, whole or in part, would be one write more.
        for (let at = 0; at < data.length; ) try { at += writeSync(fd, data.subarray(at)); } catch {}
        return data.length;
      };
      ${WRITE_LINES}`;
    const { stdout, stderr } = await run(program);
    const sizes = stderr.trim().split(' ').map(Number);
    expect(numbersIn(stdout)).toEqual(all);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(most);
    expect(sizes.length).toBeLessThan((2 * Buffer.byteLength(stdout)) / most + 2);
  });
});

/** Starts a program whose stdout is a pipe that nobody reads and that is full; `read` reads what comes after that. */
async function startUnread(program: string) {
  const directory = await mkdtemp(join(tmpdir(), 'log-'));
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(pipe, 'w');
  await rm(directory, { recursive: true });
  const child = await start(
    `${withLog(false)}
    const full = Buffer.alloc(4_096, '.');
    // Once it is used by Node, a pipe does not block: it takes nothing as long as it is full.
    process.stdout;
    try { for (;;) fs.writeSync(1, full); } catch {}
    ${program}`,
    writer,
  );
  closeSync(writer);
  const read = async () => (await text(new Socket({ fd: reader }))).replace(/^\.*/, '');
  return { child, read, leave: () => closeSync(reader) };
}

describe('on a stdout that nobody reads for now', () => {
  it.each([
    ['before the process ends', ''],
    ['when the process is ended', "process.prependListener('exit', () => fs.writeSync(2, '.')); process.exit();"],
    [
      'when the process is ended soon',
      "process.prependListener('exit', () => fs.writeSync(2, '.')); setTimeout(() => process.exit(), 100);",
    ],
    ['when the process waits for its log', "log.flush(() => process.exit()); fs.writeSync(2, '.');"],
  ])('every line is written, whole and in order, %s', async (_when, end) => {
    const { child, read } = await startUnread(`${WRITE_LINES} ${end || "fs.writeSync(2, '.');"}`);
    await once(child.stderr, 'data');
    expect(numbersIn(await read())).toEqual(all);
  });

  it('the process goes on, and keeps as much as there is room for', async () => {
    const { child, read } = await startUnread(`
      const pad = '.'.repeat(1_000);
      for (let number = 0; number < 40_000; number += 1) log.info({ number, pad }, 'line');
      fs.writeSync(2, '.');`);
    await once(child.stderr, 'data');
    const lines = (await read()).trimEnd().split('\n');
    const lost = JSON.parse(lines.pop() ?? '');
    const numbers = numbersIn(lines.join('\n'));
    expect(numbers.length).toBeGreaterThan(14_000);
    expect(numbers.length).toBeLessThan(17_000);
    expect(numbers).toEqual(Array.from(numbers, (_, number) => number));
    expect(lost).toMatchObject({ level: 40, msg: expect.stringContaining('lost') });
    // Each line that is there has 80 to 120 bytes besides its padding; so had those that are not.
    expect(lost.lostBytes / (40_000 - numbers.length)).toBeGreaterThan(1_080);
    expect(lost.lostBytes / (40_000 - numbers.length)).toBeLessThan(1_120);
  });

  it('the process goes on when it has started others since', async () => {
    const { child, read } = await startUnread(`
      const { spawn } = await import('node:child_process');
      spawn('true', { stdio: 'inherit' }).on('exit', () => {
        ${WRITE_LINES}
        fs.writeSync(2, '.');
      });`);
    await once(child.stderr, 'data');
    expect(numbersIn(await read())).toEqual(all);
  });

  it('the process ends all the same, after two seconds', async () => {
    const { child, read } = await startUnread(`${WRITE_LINES} process.exit(7);`);
    expect(await once(child, 'exit')).toEqual([7, null]);
    // What the pipe had no room for is lost.
    expect(await read()).toBe('');
  });

  it('a reader that leaves takes along what it has not read; the process goes on and ends', async () => {
    const { child, leave } = await startUnread(`
      ${WRITE_LINES}
      fs.writeSync(2, 'lines');
      const attempts = setInterval(() => {
        try { fs.writeSync(1, '.'); } catch (error) {
          if (error.code !== 'EPIPE') return;
          clearInterval(attempts);
          log.info('to nobody');
          log.flush(() => fs.writeSync(2, ' flushed'));
        }
      });`);
    const told = text(child.stderr);
    await once(child.stderr, 'data');
    leave();
    expect(await told).toBe('lines flushed');
    expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(0);
  });
});

it('a line goes out soon, though no others come', async () => {
  const program = `${withLog(false)}
    log.info('alone');
    setTimeout(() => fs.writeSync(1, 'later'), 1_000);`;
  expect((await run(program)).stdout).toMatch(/alone.*later/s);
});
