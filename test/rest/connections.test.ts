import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { secretOf } from '../../src/config/secret.ts';
import { atEnd } from '../kit/at-end.ts';
import { until } from '../kit/until.ts';
import { bound, failure, operation, read, start, track } from './setup.ts';

/** How many connections there are, and how many calls are made at once. */
const LOADS = [
  [1, 1],
  [1, 3],
  [2, 4],
  [4, 16],
] as const;

test.each(LOADS)('of %i connections that grow old, calls of %i callers lose none', async (connections, callers) => {
  const { upstream, rest } = await start({ connections, maxAgeMs: 100, timeoutMs: 1_000 });
  const readAll = async () => {
    const reads = Array.from({ length: callers }, (_, n) => read(rest, `p${n}`, operation({ inMs: 3_000 })));
    return await Promise.all(reads);
  };
  await until(async () => (await readAll()) && upstream.connections() > 4 * connections);
  expect(rest.health()).toMatchObject({ active: 0, queued: 0 });
});

test('after a pause that is longer than the age of a connection, the only one is opened again', async () => {
  const { upstream, rest } = await start({ connections: 1, maxAgeMs: 50, idleMs: 60_000, timeoutMs: 1_000 });
  await read(rest);
  const since = performance.now();
  await until(() => performance.now() - since > 100);
  for (const id of ['a', 'b', 'c']) await read(rest, id);
  expect(upstream.connections()).toBeGreaterThan(1);
});

test('when calls that wait are given up, others get the connections that are theirs then', async () => {
  const { upstream, rest } = await start({ connections: 16 });
  upstream.on('GET /player', { fault: 'hang' });
  const readMany = (caller: string, count: number) => {
    const op = operation({ caller: bound(caller) });
    return { op, reads: Array.from({ length: count }, (_, n) => failure(read(rest, `${caller}-${n}`, op))) };
  };
  // Alone it has half of them, and others a quarter while it waits for more.
  const [ended, hanging, leaving] = [readMany('first', 4), readMany('first', 4), readMany('first', 2)];
  const staying = readMany('second', 8);
  await upstream.received(12);
  ended.op.abort();
  await Promise.all(ended.reads);
  expect(rest.health()).toMatchObject({ active: 8, queued: 6 });
  leaving.op.abort();
  await upstream.received(14);
  expect(rest.health()).toMatchObject({ active: 10, queued: 2 });
  for (const { op } of [hanging, staying]) op.abort();
  await Promise.all([leaving, hanging, staying].flatMap(({ reads }) => reads));
});

test('for the breaker, the time in the queue is none in which a connection was opened', async () => {
  // It never responds to a TLS handshake.
  const silent = createServer((socket) => atEnd(() => socket.destroy())).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  atEnd(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const options = { baseUrl: `https://127.0.0.1:${port}`, connections: 20, timeoutMs: 4_000 };
  const { rest, seen } = await start(options);
  const callers = Array.from({ length: 20 }, (_, n) => `caller-${n}`);
  // All about one player, so that they do not open the breaker.
  const first = callers.map((id) => failure(read(rest, 'p', operation({ caller: bound(id), inMs: 3_800 }))));
  const second = callers.map((id) => failure(read(rest, id, operation({ caller: bound(id), inMs: 5_500 }))));
  for (const result of await Promise.all([...first, ...second]))
    expect(result).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  expect(seen.breaker).toEqual([]);
});

test('tunnels of a proxy that grow old lose no event, also where the service closes each of them', async () => {
  let port = 0;
  let tunnels = 0;
  const proxy = createHttpServer().on('connect', (_request, socket) => {
    tunnels += 1;
    const target = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    target.pipe(socket).pipe(target);
    for (const [one, other] of [[socket, target] as const, [target, socket] as const])
      one.on('error', () => {}).on('close', () => other.destroy());
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => void proxy.close());
  const through = secretOf(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  const options = { connections: 8, maxAgeMs: 20, baseUrl: 'http://rewards.example' };
  const { upstream, rest } = await start({ ...options, proxy: { http: through, https: through, except: '' } });
  port = Number(new URL(upstream.url).port);
  upstream.on('POST /event', { headers: { connection: 'close' } });
  const trackAll = () => Promise.all(Array.from({ length: 24 }, (_, n) => track(rest, `p${n}`)));
  await until(async () => (await trackAll()) && tunnels > 3_000);
  expect(rest.health()).toMatchObject({ active: 0, queued: 0 });
});
