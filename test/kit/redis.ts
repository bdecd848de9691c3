import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';

export const redisIsInstalled = spawnSync('redis-server', ['--version']).status === 0;

/** A Redis of a test's own, which keeps nothing on disk. */
export interface TestRedis {
  url: string;
  port: number;
  /** It stays connected and answers nothing, until `resume`. */
  hang(): void;
  resume(): void;
  kill(): Promise<void>;
}

/** Starts a Redis on a port, or on a free one. */
export async function startRedis(port?: number): Promise<TestRedis> {
  const own = port ?? (await freePort());
  const child = spawn('redis-server', ['--port', String(own), '--bind', '127.0.0.1', '--save', '', '--dir', tmpdir()]);
  await isReady(child);
  const ended = once(child, 'exit');
  return {
    url: `redis://127.0.0.1:${own}/0`,
    port: own,
    hang: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function isReady({ stdout, stderr }: ChildProcess): Promise<void> {
  if (!stdout || !stderr) throw new Error('redis-server has no output.');
  const errors = text(stderr);
  for await (const lines of stdout) {
    if (/ready to accept connections/i.test(String(lines))) return void stdout.resume();
  }
  throw new Error(`redis-server ended: ${await errors}`);
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
