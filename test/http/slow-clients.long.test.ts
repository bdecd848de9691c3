import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';

/* Slow clients meet Node's own timeouts: 5 s for a head, 15 s for a request. */

const both = await startBoth({ KEEP_ALIVE_TIMEOUT_MS: '100' });

/** Sends a text, then one character after another without end. */
function drip(socket: Socket, start: string): void {
  socket.write(start);
  const timer = setInterval(() => socket.write('a'), 20);
  socket.once('close', () => clearInterval(timer));
}

const REQUEST = 'POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const GET = 'GET /graphql?query={__typename} HTTP/1.1\r\nHost: localhost\r\nApollo-Require-Preflight: 1\r\n\r\n';
const HEADERS = Array.from({ length: 3_000 }, (_, index) => `X-${index}: a\r\n`).join('');

/* What a hostile client sends, and what it reads before its connection is closed. None of these ends by itself. */
const rows: [name: string, send: (socket: Socket) => void, answer: RegExp][] = [
  ['a head that drips', (socket) => drip(socket, `${REQUEST}X-Slow: `), /^HTTP\/1\.1 408 /],
  ['a body that drips', (socket) => drip(socket, `${REQUEST}Content-Length: 100000\r\n\r\n{`), /^HTTP\/1\.1 408 /],
  [
    'a body without its last byte',
    (socket) => socket.write(`${REQUEST}Content-Length: 3\r\n\r\n{}`),
    /^HTTP\/1\.1 408 /,
  ],
  [
    'a refused body without its last byte',
    (socket) => socket.write('POST /nope HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n{}'),
    /^HTTP\/1\.1 404 .*\r\nconnection: close\r\n/is,
  ],
  ['nothing at all, as a proxy that connects in advance', () => {}, /^$/],
  ['a request, and then nothing', (socket) => socket.write(GET), /^HTTP\/1\.1 200 /],
  ['a head without end', (socket) => socket.write(`${REQUEST}X-Flood: ${'a'.repeat(20_000)}`), /^HTTP\/1\.1 431 /],
  [
    'a head without end after a request',
    (socket) => socket.once('data', () => socket.write(`${REQUEST}X: ${'a'.repeat(20_000)}`)).write(GET),
    /^HTTP\/1\.1 200 .*HTTP\/1\.1 431 /s,
  ],
  ['headers without number', (socket) => socket.write(`${REQUEST}${HEADERS}`), /^HTTP\/1\.1 431 /],
];

test.concurrent.each(rows)('closes the connection of a client that sends %s', async (_name, send, answer) => {
  const { hostname, port } = new URL(both.gateway.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  send(socket);
  await closed;
  expect(received).toMatch(answer);
  expect(both.upstream.requests).toEqual([]);
});
