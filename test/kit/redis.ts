import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { atEnd } from './at-end.ts';

export const redisIsInstalled = spawnSync('redis-server', ['--version']).status === 0;

/** Whether it was built with TLS, which its client says. */
export const redisHasTls = /--tls/.test(
  spawnSync('redis-cli', ['--help'], { encoding: 'utf8' }).output?.join('') ?? '',
);

export type TestRedis = Awaited<ReturnType<typeof startRedis>>;

/** Starts a Redis of a test's own, which keeps nothing on disk, on a port or on a free one. */
export async function startRedis(wanted?: number, more: readonly string[] = []) {
  const port = wanted ?? (await freePort());
  const child = spawn('redis-server', [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--dir',
    tmpdir(),
    // Another one may have left its data there.
    '--dbfilename',
    `test-${port}.rdb`,
    '--enable-debug-command',
    'local',
    ...more,
  ]);
  const ended = once(child, 'exit');
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  while (!output.includes('eady to accept connections')) {
    const next = await Promise.race([once(child.stdout, 'data'), ended.then(() => undefined)]);
    if (!next) throw new Error(`redis-server ended: ${output}`);
  }
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  atEnd(kill);
  return {
    url: `redis://127.0.0.1:${port}/0`,
    port,
    /** It stays connected and answers nothing, until `resume`. */
    hang: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
