import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Secret } from '../../src/config/secret.ts';
import type { RestClient } from '../../src/rest/client.ts';
import { createRedisInvalidation } from '../../src/rest/redis-invalidation.ts';
import type { Upstream } from '../kit/upstream.ts';
import { operation, start } from './setup.ts';

const installed = spawnSync('redis-server', ['--version']).status === 0;
const named = `the read caches of two processes${installed ? '' : ' (skipped: redis-server is not installed)'}`;

let server: ChildProcessWithoutNullStreams | undefined;
let directory = '';
afterEach(async () => {
  await stopRedis();
  if (directory) await rm(directory, { recursive: true, force: true });
  directory = '';
});

async function startRedis(): Promise<string> {
  directory ||= await mkdtemp(join(tmpdir(), 'redis-'));
  const socket = join(directory, 'redis.sock');
  server = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', directory]);
  const { stdout } = server;
  await new Promise<void>((resolve, reject) => {
    server?.on('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
    stdout.on('data', (lines) => /ready to accept connections/i.test(String(lines)) && resolve());
  });
  return socket;
}

async function stopRedis(): Promise<void> {
  if (server === undefined) return;
  const exited = once(server, 'exit');
  server.kill('SIGKILL');
  await exited;
  server = undefined;
}

const read = (rest: RestClient, op = operation()) => rest.getPlayer('p1', undefined, op);

/** Reads until an answer comes from what the client kept. */
async function readUntilKept(rest: RestClient): Promise<void> {
  for (;;) {
    const op = operation();
    await read(rest, op);
    if (op.own === 0) return;
  }
}

/** Reads until an answer comes from the REST service. */
async function readUntilAsked(rest: RestClient): Promise<unknown> {
  for (;;) {
    const op = operation();
    const player = await read(rest, op);
    if (op.own === 1) return player;
    await new Promise(setImmediate);
  }
}

(installed ? describe : describe.skip)(named, () => {
  async function two(socket: string): Promise<{ upstream: Upstream; one: RestClient; other: RestClient }> {
    const { upstream, another } = await start({ readCacheTtlMs: 60_000 });
    const invalidation = () => createRedisInvalidation({ url: () => new Secret(socket) });
    const one = another({ invalidation: await invalidation() });
    const other = another({ invalidation: await invalidation() });
    return { upstream, one, other };
  }

  test('a write through one drops what the other kept', async () => {
    const { one, other } = await two(await startRedis());
    await Promise.all([readUntilKept(one), readUntilKept(other)]);
    await one.upsertPlayer({ playerUniqueId: 'p1', playerAttributes: { city: 'Rome' } }, operation());
    expect(await readUntilAsked(other)).toMatchObject({ attributes: { city: 'Rome' } });
    expect(await read(one)).toMatchObject({ attributes: { city: 'Rome' } });
  });

  test('without Redis nothing is kept and nothing fails; when it is back they keep again', async () => {
    const { upstream, one, other } = await two(await startRedis());
    await Promise.all([readUntilKept(one), readUntilKept(other)]);
    await stopRedis();
    await readUntilAsked(other);
    upstream.forget();
    await one.upsertPlayer({ playerUniqueId: 'p1', playerAttributes: { city: 'Rome' } }, operation());
    expect(await read(other)).toMatchObject({ attributes: { city: 'Rome' } });
    await read(other);
    expect(upstream.calls()).toHaveLength(3);

    await startRedis();
    await Promise.all([readUntilKept(one), readUntilKept(other)]);
  });

  test('a Redis that was never there is no obstacle', async () => {
    const { upstream, one } = await two('/nowhere/redis.sock');
    await read(one);
    await read(one);
    expect(upstream.calls()).toHaveLength(2);
  });
});
