import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startBoth, type TestGateway } from '../kit/gateway.ts';

/* Slow clients meet Node's own timeouts: 5 s for a head, 15 s for a request. */

let both: Awaited<ReturnType<typeof startBoth>>;
beforeAll(async () => {
  both = await startBoth({ KEEP_ALIVE_TIMEOUT_MS: '100' });
});
afterAll(() => both.close());

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

/* What a hostile client sends, and what it reads before its connection is closed. None of these ends by itself. */
const rows: [name: string, send: (socket: Socket) => void, answer: RegExp][] = [
  ['a head that drips', (socket) => drip(socket, `${REQUEST}X-Slow: `), /^HTTP\/1\.1 408 /],
  [
    'a body that drips',
    (socket) => drip(socket, `${REQUEST}Content-Length: 100000\r\n\r\n{"query":"`),
    /^HTTP\/1\.1 408 /,
  ],
  [
    'a body that stops before its last byte',
    (socket) => socket.write(`${REQUEST}Content-Length: 3\r\n\r\n{}`),
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

test.concurrent.each(rows)('closes the connection of a client that sends %s', async (_name, send, answer) => {
  const socket = open(both.gateway);
  const received = untilClosed(socket);
  send(socket);
  expect(await received).toMatch(answer);
  expect(both.upstream.requests).toEqual([]);
});
