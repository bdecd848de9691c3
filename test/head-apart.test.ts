import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { HeadApart } from '../src/gateway/http/head-apart.ts';
import { startBoth } from './kit/gateway.ts';

/* An answer has the same bytes, whether or not its head was sent apart. */
const LONG = 'Zoë and '.repeat(4_000);
const PIPELINED = 'GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const HEAD = 'HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const OLD = 'GET / HTTP/1.0\r\n\r\n';

/**
 * All that comes back for `request`; what the connection was given to write, with whether it waited for more; and whether
 * it still waited when each request came.
 */
async function exchange(Response: typeof ServerResponse, answer: RequestListener, request: string) {
  const written: { data: unknown; corked: boolean }[] = [];
  const corked: number[] = [];
  const server = createServer({ ServerResponse: Response }, (incoming, response) => {
    corked.push(incoming.socket.writableCorked);
    response.sendDate = false;
    answer(incoming, response);
  });
  server.on('connection', (socket) => {
    const write = socket.write.bind(socket);
    socket.write = (...args: unknown[]) => {
      written.push({ data: args[0], corked: socket.writableCorked > 0 });
      return write(...(args as Parameters<typeof write>));
    };
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.end(request);
  const bytes = await text(client);
  await once(server.close(), 'close');
  return { bytes, written, corked };
}

const withHead =
  (body: string): RequestListener =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  };

test.each<[string, RequestListener, string]>([
  ['a long body', withHead(LONG), PIPELINED],
  ['a short body', withHead('short'), PIPELINED],
  ['no body', withHead(''), PIPELINED],
  ['a head without a body', withHead(LONG), HEAD],
  ['a client of HTTP/1.0', withHead(LONG), OLD],
  [
    'an end after the end',
    (request, response) => {
      response.on('error', () => {});
      withHead(LONG)(request, response);
      response.end(LONG);
    },
    PIPELINED,
  ],
  ['a head that Node makes', (_request, response) => response.end(LONG), PIPELINED],
  ['bytes', (_request, response) => response.writeHead(200).end(Buffer.from(LONG)), PIPELINED],
  [
    'a body in pieces',
    (_request, response) => {
      response.writeHead(200);
      response.write('first ');
      response.end(LONG, 'utf8', () => {});
    },
    PIPELINED,
  ],
])('%s: the same bytes', async (_name, answer, request) => {
  const apart = await exchange(HeadApart, answer, request);
  const plain = await exchange(ServerResponse, answer, request);
  expect(apart.bytes).toBe(plain.bytes);
  expect(apart.bytes).toContain('HTTP/1.1 200 OK\r\n');
  expect(apart.corked).toEqual(plain.corked);
});

test('head and body of a long answer are never one text, and leave in one write', async () => {
  const { written } = await exchange(HeadApart, withHead(LONG), PIPELINED);
  const parts = written.filter(({ data }) => data !== '');
  expect(parts).toEqual([
    { data: expect.stringMatching(/^HTTP.*\r\n\r\n$/s), corked: true },
    { data: LONG, corked: true },
    { data: expect.stringMatching(/^HTTP.*\r\n\r\n$/s), corked: true },
    { data: LONG, corked: true },
  ]);
});

test('the gateway answers so', async () => {
  const both = await startBoth();
  const responses: unknown[] = [];
  const note = (message: unknown) => responses.push((message as { response: unknown }).response);
  subscribe('http.server.response.finish', note);
  await both.gateway.query('{ __typename }');
  unsubscribe('http.server.response.finish', note);
  await both.close();
  expect(responses).toEqual([expect.any(HeadApart)]);
});
