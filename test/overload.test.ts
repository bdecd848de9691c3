import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Permit, Semaphore } from '../src/rest/semaphore.ts';
import type { ServeOptions } from '../src/serve.ts';
import { startBoth, type TestGateway } from './kit/gateway.ts';

let both: Awaited<ReturnType<typeof startBoth>> | undefined;
beforeEach(() => {
  both = undefined;
});
afterEach(() => both?.close());

async function start(env: Record<string, string>, fixed: ServeOptions['fixed'] = {}) {
  both = await startBoth(env, {}, { fixed });
  return both;
}

test('beyond MAX_CONCURRENT_OPERATIONS a request waits a little and is then answered 503; there is room again when others end', async () => {
  const { gateway, upstream } = await start({ MAX_CONCURRENT_OPERATIONS: '2' });
  const held = [upstream.hold('GET /player'), upstream.hold('GET /player')];
  const ask = (id: string) => gateway.query(`{ player(playerUniqueId: "${id}") { id } }`);
  const first = [ask('p1'), ask('p2')];
  await upstream.received(2);

  const { status, headers, data, errors, extensions } = await gateway.query(
    '{ player(playerUniqueId: "p3") { id } }',
    {},
    { origin: 'http://localhost:3000' },
  );
  expect(status).toBe(503);
  expect(headers.get('retry-after')).toBe('1');
  expect(headers.get('access-control-allow-origin')).toBe('http://localhost:3000');
  expect(headers.get('content-type')).toContain('application/json');
  expect({ data, errors }).toEqual({
    data: undefined,
    errors: [
      {
        message: expect.stringContaining('try again'),
        extensions: { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 },
      },
    ],
  });
  expect(extensions['requestId']).toBe(headers.get('x-request-id'));
  expect(upstream.requests).toHaveLength(2);
  expect(await gateway.metrics()).toContain('outcome="OVERLOADED"} 1');

  for (const { release } of held) release();
  expect((await Promise.all(first)).map((answer) => answer.status)).toEqual([200, 200]);
  expect((await ask('p3')).data).toEqual({ player: { id: 'p3' } });
});

test('a request that waits is served when another one ends', async () => {
  const { gateway, upstream } = await start({ MAX_CONCURRENT_OPERATIONS: '1' });
  const held = upstream.hold('GET /player');
  const ask = (id: string) => gateway.query(`{ player(playerUniqueId: "${id}") { id } }`);
  const first = ask('p1');
  await held.arrived;
  const second = ask('p2');
  held.release();
  expect((await Promise.all([first, second])).map(({ data }) => data)).toEqual([
    { player: { id: 'p1' } },
    { player: { id: 'p2' } },
  ]);
});

describe('the semaphore', () => {
  const NEVER = 2 ** 30;
  function open(limit: number, { maxWaiting = 2, maxWaitMs = NEVER } = {}) {
    const told: string[] = [];
    const semaphore = new Semaphore({ limit, maxWaiting, maxWaitMs, order: 'lifo' });
    const held: Permit<undefined>[] = [];
    const release = () => {
      const permit = held.shift();
      if (permit) semaphore.release(permit);
    };
    const acquire = async (name: string) => {
      const permit = semaphore.acquire(undefined);
      if (permit.state === 'waiting') await semaphore.wait(permit);
      if (permit.state === 'held') held.push(permit);
      told.push(permit.state === 'held' ? `${name} in` : `${name} refused`);
    };
    return { told, semaphore, acquire, release };
  }

  test('admits the newest first as permits are given back, and refuses when as many wait as may', async () => {
    const { acquire, release, told } = open(1);
    await acquire('a');
    const waiting = [acquire('b'), acquire('c')];
    await acquire('d');
    expect(told).toEqual(['a in', 'd refused']);
    release();
    await waiting[1];
    release();
    await waiting[0];
    expect(told).toEqual(['a in', 'd refused', 'c in', 'b in']);
  });

  test('a lower limit admits nobody until enough is given back, a higher one admits several at once', async () => {
    const { acquire, semaphore, release, told } = open(2);
    await Promise.all([acquire('a'), acquire('b')]);
    const waiting = [acquire('c'), acquire('d')];
    semaphore.setLimit(1);
    release();
    expect(semaphore.active).toBe(1);
    semaphore.setLimit(3);
    await Promise.all(waiting);
    expect(told).toEqual(['a in', 'b in', 'd in', 'c in']);
  });

  test('refuses what has waited too long', async () => {
    const { acquire, told } = open(0, { maxWaitMs: 1 });
    await acquire('a');
    expect(told).toEqual(['a refused']);
  });

  test('refuses each one when its own time is over', async () => {
    const { acquire, semaphore, release, told } = open(1, { maxWaiting: 3, maxWaitMs: 20 });
    await acquire('a');
    await acquire('b');
    expect(told).toEqual(['a in', 'b refused']);
    const waiting = [acquire('c'), acquire('d')];
    release();
    await Promise.all(waiting);
    expect(told).toEqual(['a in', 'b refused', 'd in', 'c refused']);
    expect([semaphore.active, semaphore.waiting]).toEqual([1, 0]);
  });
});

test('a client that goes away makes room', async () => {
  const { gateway, upstream } = await start({ MAX_CONCURRENT_OPERATIONS: '1' });
  upstream.on('GET /player', { fault: 'hang' }, 'usual');
  const client = new AbortController();
  const query = 'query={player(playerUniqueId:"p1"){id}}';
  const gone = fetch(`${gateway.url}/graphql?${query}`, {
    signal: client.signal,
    headers: { 'apollo-require-preflight': '1' },
  }).catch(() => {});
  await upstream.received(1);
  client.abort();
  await gone;
  await upstream.requests[0]?.gone;
  expect((await gateway.query('{ player(playerUniqueId: "p1") { id } }')).status).toBe(200);
});

/** As a request of its own, or one of several that are sent without waiting for an answer. */
const getPlayer = (id: string) =>
  `GET /graphql?query={player(playerUniqueId:"${id}"){id}} HTTP/1.1\r\nHost: localhost\r\nApollo-Require-Preflight: 1\r\n\r\n`;

test('a client that asked several times at once and goes away takes all of it along', async () => {
  const { gateway, upstream } = await start({
    MAX_CONCURRENT_OPERATIONS: '3',
    REST_TIMEOUT_MS: '60000',
    OPERATION_TIMEOUT_MS: '60000',
  });
  upstream.on('GET /player', { fault: 'hang' }, { fault: 'hang' }, { fault: 'hang' }, 'usual');
  const client = open(gateway);
  client.write(getPlayer('p1') + getPlayer('p2') + getPlayer('p3'));
  await upstream.received(3);
  client.resetAndDestroy();
  await Promise.all(upstream.requests.map(({ gone }) => gone));
  const again = await Promise.all([1, 2, 3].map((n) => gateway.query(`{ player(playerUniqueId: "q${n}") { id } }`)));
  expect(again.map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('clients that are gone before their requests begin take no place', async () => {
  const { gateway } = await start({ MAX_CONCURRENT_OPERATIONS: '2' });
  const clients = Array.from({ length: 20 }, () => open(gateway));
  await Promise.all(
    clients.map(async (client) => {
      await once(client, 'connect');
      client.write(getPlayer('p1').repeat(3));
      client.resetAndDestroy();
      await once(client, 'close');
    }),
  );
  const answers = await Promise.all(
    ['q1', 'q2'].map((id) => gateway.query(`{ player(playerUniqueId: "${id}") { id } }`)),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

/** Everything a connection received until the gateway closed it. */
async function untilClosed(socket: Socket): Promise<string> {
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    received += chunk;
  });
  socket.on('error', () => {});
  await once(socket, 'close');
  return received;
}

function open({ url }: TestGateway): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname);
}

/** Sends a text, then one character after another without end. */
function drip(socket: Socket, start: string): void {
  socket.write(start);
  const timer = setInterval(() => socket.write('a'), 20);
  socket.once('close', () => clearInterval(timer));
}

const REQUEST = 'POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const LIMITS = { headersTimeoutMs: 100, requestTimeoutMs: 200, keepAliveTimeoutMs: 100 };

/* What a hostile client sends, and what it reads before its connection is closed. None of these ends by itself. */
const rows: [name: string, send: (socket: Socket) => void, answer: RegExp][] = [
  ['a head that drips', (socket) => drip(socket, `${REQUEST}X-Slow: `), /^HTTP\/1\.1 408 /],
  [
    'a body that drips',
    (socket) => drip(socket, `${REQUEST}Content-Length: 100000\r\n\r\n{"query":"`),
    /^HTTP\/1\.1 408 /,
  ],
  ['nothing at all', () => {}, /^(?:HTTP\/1\.1 408 |$)/],
  [
    'a request, and then nothing',
    (socket) =>
      socket.write(
        'GET /graphql?query={__typename} HTTP/1.1\r\nHost: localhost\r\nApollo-Require-Preflight: 1\r\n\r\n',
      ),
    /^HTTP\/1\.1 200 /,
  ],
  ['a head without end', (socket) => socket.write(`${REQUEST}X-Flood: ${'a'.repeat(20_000)}`), /^HTTP\/1\.1 431 /],
  [
    'headers without number',
    (socket) => socket.write(`${REQUEST}${Array.from({ length: 3_000 }, (_, i) => `X-${i}: a\r\n`).join('')}`),
    /^HTTP\/1\.1 431 /,
  ],
];

test.each(rows)('a client that sends %s is cut off', async (_name, send, answer) => {
  const { gateway, upstream } = await start({}, { connections: LIMITS });
  const socket = open(gateway);
  const received = untilClosed(socket);
  send(socket);
  expect(await received).toMatch(answer);
  expect(upstream.requests).toEqual([]);
  expect((await gateway.query('{ player(playerUniqueId: "p1") { id } }')).status).toBe(200);
});

test('a connection beyond the limit closes the oldest without a request, or is closed itself', async () => {
  const { gateway } = await start({}, { connections: { max: 1 } });
  const silent = open(gateway);
  const silentClosed = untilClosed(silent);
  await once(silent, 'connect');
  const asking = open(gateway);
  const askingClosed = untilClosed(asking);
  expect(await silentClosed).toBe('');
  asking.write(getPlayer('p1'));
  await once(asking, 'data');
  expect(await untilClosed(open(gateway))).toBe('');
  asking.destroy();
  expect(await askingClosed).toMatch(/^HTTP\/1\.1 200 /);
});

test('a body in chunks of one byte is refused before it is read; larger chunks are accepted', async () => {
  const { gateway } = await start({});
  const head = `${REQUEST}Transfer-Encoding: chunked\r\n\r\n`;
  const tiny = open(gateway);
  tiny.write(`${head}${'1\r\n \r\n'.repeat(3_000)}`);
  expect(await untilClosed(tiny)).toMatch(/^HTTP\/1\.1 400 /);

  const body = JSON.stringify({ query: '{ player(playerUniqueId: "p1") { id } }' });
  const chunks = [...body].map((character) => `1\r\n${character}\r\n`).join('');
  const small = open(gateway);
  small.write(`${head}${chunks}0\r\n\r\n`);
  const [answer] = await once(small, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  small.destroy();
});
