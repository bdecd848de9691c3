import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { atEnd, newFolder } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { ENDED, start } from './setup.ts';

/* What becomes of log lines when their reader is slow, gone or away, and when the process ends. */

const LINES = 1_000;

/** Writes lines of all lengths, many bytes to a character. */
const WRITE_LINES = `
  for (let number = 0; number < ${LINES}; number += 1) log.info({ number, pad: 'ü'.repeat(number % 300) }, 'line');`;

/** Starts a program that has a log, as if it stood in this directory. */
async function startProgram(program: string, stdout: number | 'pipe' = 'pipe') {
  const contents = `
    import fs from 'node:fs';
    import { createLog, flushed, openStdout } from '../../src/process/log.ts';
    const stdout = openStdout();
    const log = createLog('info', stdout);
    ${program}`;
  const { outputFiles } = await build({
    ...({ bundle: true, packages: 'external', platform: 'node', format: 'esm', write: false } as const),
    stdin: { contents, resolveDir: import.meta.dirname },
  });
  const args = ['--input-type=module', '--eval', outputFiles[0]?.text ?? ''];
  const child = spawn(process.execPath, args, { stdio: ['ignore', stdout, 'pipe'] });
  atEnd(() => child.kill('SIGKILL'));
  return child as ChildProcessByStdio<null, Readable, Readable>;
}

const numbersIn = (output: string) => Array.from(output.matchAll(/^\{.*\}$/gm), ([line]) => JSON.parse(line).number);
const all = Array.from({ length: LINES }, (_, number) => number);

test.each([
  ['ends by itself', 'await flushed(log);'],
  ['logs a fatal line and is ended', `log.fatal({ number: ${LINES} }, 'end'); await flushed(log); process.exit(1);`],
])('every line is written, whole and in order, when the process %s', async (_how, end) => {
  const { stdout } = await startProgram(WRITE_LINES + end);
  expect(numbersIn(await text(stdout))).toEqual(end.includes('fatal') ? [...all, LINES] : all);
});

test('a line goes out soon, though no others come; at an exit without waiting, what the reader takes at once', async () => {
  const program =
    "log.info('alone'); setTimeout(() => { fs.writeSync(1, 'later'); log.info('last'); process.exit(); }, 2_000);";
  const { stdout } = await startProgram(program);
  expect(await text(stdout)).toMatch(/alone.*later.*last/s);
});

/** Starts a program whose stdout is a pipe that is full and that nobody reads; `read` reads what comes after that. */
async function startUnread(program: string) {
  const pipe = join(newFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(pipe, 'w');
  const child = await startProgram(
    `const full = Buffer.alloc(4_096, '.');
    try { for (;;) fs.writeSync(1, full); } catch {}
    ${program}`,
    writer,
  );
  closeSync(writer);
  const read = async () => (await text(new Socket({ fd: reader }))).replace(/^\.*/, '');
  return { child, read, leave: () => closeSync(reader) };
}

describe('on a stdout that nobody reads for now', () => {
  test('the process goes on, and every line is written once somebody reads', async () => {
    const { child, read } = await startUnread(`${WRITE_LINES} fs.writeSync(2, '.'); await flushed(log);`);
    await once(child.stderr, 'data');
    expect(numbersIn(await read())).toEqual(all);
  });

  test('lines beyond 16 MB are dropped and counted, those of the audit last', async () => {
    const { child, read } = await startUnread(`
      for (let number = 0; number < 400; number += 1) {
        log.info({ number, pad: '"audit":'.repeat(8_000) }, 'line');
        if (number % 100 === 99) log.info({ audit: 'deletePlayer', number });
      }
      fs.writeSync(2, '.');
      await new Promise((done) => log.flush(() => log.flush(done)));
      fs.writeSync(2, String(stdout.dropped()));
      process.exit();`);
    await once(child.stderr, 'data');
    const [written, [dropped]] = await Promise.all([read(), once(child.stderr, 'data')]);
    const lines = Array.from(written.matchAll(/^\{.*\}$/gm), ([line]) => JSON.parse(line));
    const audits = lines.filter(({ audit }) => audit);
    expect(audits.map(({ number }) => number)).toEqual([99, 199, 299, 399]);
    expect(Number(dropped)).toBeGreaterThan(50);
    expect(Number(dropped) + lines.length).toBe(404);
  });

  const END = "log.fatal('end'); await flushed(log); process.exit(7);";

  test('a process that logs a fatal line and waits for its log ends all the same', async () => {
    const { child } = await startUnread(`${WRITE_LINES} ${END}`);
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  test('a reader that leaves does not stop the process', async () => {
    const { child, leave } = await startUnread(`
      fs.writeSync(2, '.');
      const attempts = setInterval(async () => {
        try { fs.writeSync(1, '.'); } catch (error) {
          if (error.code !== 'EPIPE') return;
          clearInterval(attempts);
          ${WRITE_LINES}
          ${END}
        }
      });`);
    await once(child.stderr, 'data');
    leave();
    expect(await once(child, 'exit')).toEqual([7, null]);
  });
});

test.each(['pause', 'destroy'] as const)(
  'a gateway whose reader does %s answers, and ends when told to',
  async (act) => {
    const gateway = await start({ LOG_LEVEL: 'debug', SHUTDOWN_GRACE_MS: '300' });
    const { child } = gateway;
    child.stdout?.[act]();
    // A megabyte of log: more than any buffer between the two holds.
    for (let i = 0; i < 20; i += 1) {
      const answers = Array.from({ length: 100 }, () => post(gateway.url, { query: '{ __typename }' }));
      for (const { data } of await Promise.all(answers)) expect(data).toEqual({ __typename: 'Query' });
    }
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([ENDED.code, ENDED.signal]);
    child.stdout?.destroy();
  },
);
