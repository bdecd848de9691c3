import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { until } from '../kit/until.ts';
import { bound, failure, operation, read, server, start, track } from './setup.ts';

const overloaded = { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000, status: undefined };

test('a call without a connection at the deadline of its operation is OVERLOADED, and the service did not fail', async () => {
  const { upstream, rest, seen } = await start({ connections: 2 });
  upstream.on('DELETE /player', { fault: 'hang' });
  const op = operation();
  const hanging = ['p1', 'p2'].map((id) => failure(rest.deletePlayer(id, op)));
  await upstream.received(2);
  const late = operation({ inMs: 300 });
  const calls = Array.from({ length: 30 }, (_, index) => failure(rest.deletePlayer(`q${index}`, late)));
  expect(await Promise.all(calls)).toEqual(Array(30).fill({ ...overloaded, outcome: 'NOT_DONE' }));
  expect(late.records[0]).toMatchObject({ attempts: 0, error: 'OVERLOADED' });
  expect(late.records[0]?.queueMs).toBeGreaterThan(200);
  expect([rest.health().active, upstream.calls().length, seen.breaker]).toEqual([2, 2, []]);
  op.abort();
  await Promise.all(hanging);
});

test('of 10,002 calls one is sent, 10,000 wait, and one is rejected at once; other endpoints are free', async () => {
  const { upstream, rest, seen } = await start({ connections: 1, timeoutMs: 60_000 });
  const held = upstream.hold('GET /player');
  const first = read(rest, 'p1', operation({ inMs: 60_000 }));
  await held.arrived;
  const leaving = Array.from({ length: 100 }, () => operation({ inMs: 60_000 }));
  // One server alone may have 8,750 of them.
  const by = (id: string, n: number) => (n < 87 ? server('shop') : bound(id));
  const waiting = leaving.flatMap((op, n) =>
    Array.from({ length: 100 }, (_, m) => failure(read(rest, `q${n}-${m}`, { ...op, caller: by(`q${n}-${m}`, n) }))),
  );
  const rejected = await failure(read(rest, 'p3', operation({ inMs: 60_000 })));
  expect(rejected).toEqual({ ...overloaded, outcome: undefined });
  expect(rest.health()).toMatchObject({ active: 1, queued: 10_000 });
  await track(rest);

  // Calls whose client left are not sent when their turn comes, and no connection is lost.
  for (const op of leaving) op.abort();
  expect(await Promise.all(waiting)).toEqual(Array(10_000).fill(expect.objectContaining({ code: 'CANCELLED' })));
  held.release();
  await first;
  await until(() => rest.health().queued === 0);
  await read(rest, 'p2');
  const reads = upstream.calls().filter((call) => call.startsWith('GET'));
  expect(reads).toEqual(['GET /integrations/player/p1', 'GET /integrations/player/p2']);
  expect(upstream.connections()).toBeLessThan(5);
  expect(seen.attempts).toEqual([200, 200, 200]);
});

test('a caller that opens and leaves operations, or has very many, leaves room in the queue for the others', async () => {
  const { upstream, rest } = await start({ connections: 1, timeoutMs: 60_000 });
  const held = upstream.hold('GET /player');
  const first = failure(read(rest, 'p1', operation({ inMs: 60_000 }))).catch(String);
  await held.arrived;
  let overloaded = 0;
  const many = (count: number) => {
    const op = operation({ caller: bound('greedy'), inMs: 60_000 });
    const note = ({ code }: { code: string }) => {
      if (code === 'OVERLOADED') overloaded += 1;
    };
    const calls = Array.from({ length: count }, (_, n) => read(rest, `many-${n}`, op).catch(note));
    return async () => {
      op.abort();
      await Promise.all(calls);
    };
  };
  for (let round = 0; round < 6; round += 1) {
    const leave = many(2_000);
    await until(() => rest.health().queued >= 2_000);
    await leave();
    expect(rest.health().queued).toBe(0);
  }
  expect(overloaded).toBe(0);
  const leave = many(4_000);
  await until(() => overloaded >= 1_500);
  const other = failure(read(rest, 'other', operation({ caller: bound('other'), inMs: 60_000 }))).catch(String);
  await until(() => rest.health().queued === 2_501);
  await leave();
  held.release();
  await Promise.all([first, other]);
  expect(overloaded).toBe(1_500);
  expect(upstream.calls()).toEqual(['GET /integrations/player/p1', 'GET /integrations/player/other']);
  expect(rest.health().queued).toBe(0);
});

test('a call that has waited longer than it has left is not sent: its response would come too late', async () => {
  const { upstream, rest } = await start({ connections: 1, timeoutMs: 400 });
  upstream.on('GET /player', { fault: 'hang' }, 'usual');
  const first = failure(read(rest));
  const second = failure(read(rest, 'p2', operation({ inMs: 700 })));
  expect(await second).toEqual({ ...overloaded, outcome: undefined });
  expect(await first).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  expect(upstream.calls()).toHaveLength(1);
});

test('after an outage there are no more connections than allowed, and all are closed at the end', async () => {
  const { upstream, rest } = await start({ connections: 2 });
  upstream.on('GET /player', { fault: 'hang' });
  await upstream.stop();
  const reads = Array.from({ length: 200 }, () => failure(read(rest)));
  await reads[0];
  await upstream.restart();
  await upstream.received(2);
  await track(rest);
  const hanging = upstream.requests.filter(({ endpoint }) => endpoint === 'GET /player');
  expect(hanging).toHaveLength(2);
  await rest.close();
  await Promise.all([...reads, ...hanging.map(({ gone }) => gone)]);
  expect(rest.health()).toMatchObject({ active: 0, queued: 0 });
});

test('the time of a call begins when its request leaves the queue', async () => {
  const { upstream, rest, seen } = await start({ connections: 1, timeoutMs: 1_000 });
  upstream.on('GET /player', { fault: 'hang' }, { status: 503 }, 'usual');
  const op = operation();
  const first = failure(read(rest, 'p1', op));
  const second = read(rest, 'p2', op);
  // The first uses all of its time, so the second waits for longer than the time of a call.
  expect(await first).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  expect(await second).toMatchObject({ id: 'p2' });
  // Its retry did not wait, and is not all that is told.
  expect(op.records[1]).toMatchObject({ attempts: 2 });
  expect(op.records[1]?.queueMs).toBeGreaterThan(900);
  expect(seen.breaker).toEqual([]);
});

type Caller = ReturnType<typeof server>;
const FLOWS: [whose: string, playerOf: (n: number) => string, caller: Caller, connections: number][] = [
  ['of a caller that is bound to its player', (n) => `slow-${n}`, bound('caller'), 2],
  ['of servers about one player', () => 'slow', server('tests'), 3],
];

test.each(FLOWS)('hanging reads %s leave a connection to others', async (_whose, playerOf, caller, taken) => {
  const { upstream, rest } = await start({ connections: 4 });
  upstream.on('GET /player', ({ playerUniqueId: id }) => (id?.startsWith('slow') ? { fault: 'hang' } : 'usual'));
  const ops = Array.from({ length: 40 }, () => operation({ caller }));
  const slow = ops.map((op, n) => failure(read(rest, playerOf(n), op)));
  await upstream.received(taken);
  for (const id of ['one', 'two', 'three']) await read(rest, id);
  expect(upstream.calls().slice(taken)).toEqual(['one', 'two', 'three'].map((id) => `GET /integrations/player/${id}`));
  for (const op of ops) op.abort();
  await Promise.all(slow);
  // None of those that waited was sent when the first ones were given up.
  expect(upstream.calls().filter((call) => call.includes('slow'))).toHaveLength(taken);
});

test.each([
  ['of one caller that is bound to its player take half of the connections', bound('caller'), 2],
  ['of servers about many players take all, in their order', server('tests'), 4],
])('reads %s', async (_how, caller, taken) => {
  const { upstream, rest } = await start({ connections: 4 });
  const held = Array.from({ length: taken }, () => upstream.hold('GET /player'));
  const reads = Array.from({ length: 40 }, (_, n) => read(rest, `player-${n}`, operation({ caller })));
  await Promise.all(held.map(({ arrived }) => arrived));
  expect(rest.health()).toMatchObject({ active: taken, queued: 40 - taken });
  for (const { release } of held) release();
  await Promise.all(reads);
  const numbers = upstream.calls().map((call) => Number(call.split('-').at(-1)));
  expect(numbers.slice(-4).every((number) => number > 30)).toBe(true);
});

test('servers whose reads of many players hang leave connections, and places in the queue, to other callers', async () => {
  const { upstream, rest } = await start({ connections: 16, timeoutMs: 60_000 });
  upstream.on('GET /player', ({ playerUniqueId: id }) => (id?.startsWith('slow') ? { fault: 'hang' } : 'usual'));
  const jobs = ['job', 'export'].map((key) => operation({ caller: server(key), inMs: 60_000 }));
  const readAll = (by: (typeof jobs)[number] | undefined) =>
    Array.from({ length: 9_000 }, (_, n) => failure(read(rest, `slow-${n}`, by)));
  const slow = readAll(jobs[0]);
  await upstream.received(14);
  expect(rest.health()).toMatchObject({ active: 14, queued: 8_750 });
  slow.push(...readAll(jobs[1]));
  await upstream.received(15);
  expect(rest.health()).toMatchObject({ active: 15, queued: 8_750 + 1_093 });
  for (const who of [server('shop'), bound('own'), server('desk')]) {
    await Promise.all([1, 2, 3].map((n) => read(rest, `p${n}`, operation({ caller: who }))));
  }
  expect(upstream.calls().filter((call) => call.includes('/slow-'))).toHaveLength(15);
  for (const job of jobs) job.abort();
  await Promise.all(slow);
  expect(rest.health().queued).toBe(0);
});

test('calls of a server about 10,000 players free no connection for a caller that has its share', async () => {
  const { upstream, rest } = await start({ connections: 4, timeoutMs: 60_000 });
  upstream.on('GET /player', ({ playerUniqueId: id }) => (id?.startsWith('slow') ? { fault: 'hang' } : 'usual'));
  const op = operation({ caller: bound('greedy'), inMs: 60_000 });
  const slow = ['slow-1', 'slow-2'].map((id) => failure(read(rest, id, op)));
  await upstream.received(2);
  const others = Array.from({ length: 50 }, (_, n) => n);
  for (let n = 0; n < 10_050; n += 50) await Promise.all(others.map((more) => read(rest, `p${n + more}`)));
  slow.push(failure(read(rest, 'slow-3', op)));
  await read(rest, 'last');
  expect(upstream.calls().filter((call) => call.includes('/slow-'))).toHaveLength(2);
  op.abort();
  await Promise.all(slow);
});

test('while another caller waits, none gets more than a quarter of the connections', async () => {
  const { upstream, rest } = await start({ connections: 16 });
  upstream.on('GET /player', ({ playerUniqueId: id }) => (id?.startsWith('slow') ? { fault: 'hang' } : 'usual'));
  const readSlow = async (name: string, taken: number) => {
    const op = operation({ caller: bound(name) });
    const reads = Array.from({ length: 20 }, (_, n) => failure(read(rest, `slow-${name}-${n}`, op)));
    await upstream.received(taken);
    return { op, reads };
  };
  const alone = await readSlow('alone', 8);
  const beside = await readSlow('beside', 8 + 4);
  await read(rest, 'third', operation({ caller: bound('third') }));
  expect(rest.health()).toMatchObject({ active: 12, queued: 28 });
  const callsOf = (name: string) => upstream.calls().filter((call) => call.includes(`/${name}`)).length;
  expect([callsOf('slow-alone'), callsOf('slow-beside'), callsOf('third')]).toEqual([8, 4, 1]);
  // Alone again, it has as many as are free.
  alone.op.abort();
  await Promise.all(alone.reads);
  await upstream.received(12 + 1 + 4);
  beside.op.abort();
  await Promise.all(beside.reads);
});

test('callers take turns, and calls that were given up take none', async () => {
  const { upstream, rest } = await start({ connections: 1 });
  const held = upstream.hold('GET /player');
  const first = read(rest, 'first', operation({ caller: bound('one') }));
  await held.arrived;
  const op = operation({ caller: bound('one') });
  const left = Array.from({ length: 5 }, (_, n) => failure(read(rest, `left-${n}`, op)));
  const calls = [1, 2, 3].flatMap((n) => [
    read(rest, `one-${n}`, operation({ caller: bound('one') })),
    read(rest, `other-${n}`, operation({ caller: bound('other') })),
  ]);
  await until(() => rest.health().queued === 11);
  op.abort();
  await Promise.all(left);
  held.release();
  await Promise.all([first, ...calls]);
  const order = upstream.calls().map((call) => call.split('/').at(-1));
  expect(order.toSorted()).toEqual(['first', 'one-1', 'one-2', 'one-3', 'other-1', 'other-2', 'other-3']);
  expect(order.indexOf('other-1')).toBeLessThan(order.indexOf('one-2'));
  expect(order.indexOf('other-2')).toBeLessThan(order.indexOf('one-3'));
  expect(rest.health()).toMatchObject({ active: 0, queued: 0 });
});

test('large responses that arrive together are read in turns of the event loop of their own', async () => {
  const { upstream, rest } = await start({ connections: 64 });
  const coupons = Array.from({ length: 2_000 }, (_, n) => ({ code: `code-${n}`, currency: 'EUR', value: n }));
  const raw = Buffer.from(JSON.stringify({ coupons }));
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream.on('GET /coupon', { raw, after });
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const reads = Array.from({ length: 30 }, async (_, n) => {
    expect(await rest.listCoupons(`p${n}`, operation())).toHaveLength(2_000);
    return turn;
  });
  await upstream.received(30);
  release();
  const turns = await Promise.all(reads);
  isOver = true;
  expect(new Set(turns).size).toBe(30);
});

test('the body of a large response is freed when it has been read, also while its operation goes on', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const { upstream, rest } = await start();
  upstream.on('GET /coupon', () => ({ json: { coupons: [{ code: ''.padEnd(1_500_000, '-') }] } }));
  const op = operation();
  await rest.listCoupons('p0', op);
  collect();
  const before = process.memoryUsage().arrayBuffers;
  for (let n = 1; n <= 20; n += 1) await rest.listCoupons(`p${n}`, op);
  // V8 frees buffers in a thread of its own. Those of the last response may still be in use.
  await until(() => {
    collect();
    return process.memoryUsage().arrayBuffers - before < 5_000_000;
  });
  op.abort();
});
