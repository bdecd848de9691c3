import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Pool } from 'undici';
import { startBoth } from './kit/gateway.ts';
import { raw, requestBytes } from './kit/raw.ts';

/* What becomes of the body of a request that was refused before its body was read. */

const LIMIT = 32_768;
const PIECE = Buffer.alloc(65_536, 'x');
/** More than the buffers of two sockets hold. */
const ENDLESS = 1e9;

let both: Awaited<ReturnType<typeof startBoth>>;
beforeAll(async () => {
  both = await startBoth();
});
afterAll(() => both.close());

const localhost = 'Host: localhost';
const head = (...lines: string[]) => `POST /nope HTTP/1.1\r\n${[localhost, ...lines].join('\r\n')}\r\n\r\n`;

/** Sends a body without end, one piece after the other. Resolves when the server closes: to what it said and what it took. */
function flood(url: string, ...parts: string[]): Promise<{ answer: string; taken: number }> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let answer = '';
    let taken = 0;
    const send = () => {
      socket.write(PIECE, (error) => {
        if (error) return;
        taken += PIECE.length;
        send();
      });
    };
    for (const part of parts) socket.write(part);
    send();
    socket.on('data', (chunk) => {
      answer += String(chunk);
    });
    socket.on('error', () => undefined).on('close', () => resolve({ answer, taken }));
  });
}

test('a body without end: its sender is told why, and is not read on', async () => {
  const { url } = both.gateway;
  const chunked = head('Transfer-Encoding: chunked');
  const ends = await Promise.all([
    flood(url, head(`Content-Length: ${ENDLESS}`)),
    flood(url, chunked, `${ENDLESS.toString(16)}\r\n`),
    flood(url, chunked, '1\r\nx\r\n'.repeat(1_000), `${ENDLESS.toString(16)}\r\n`),
  ]);
  for (const { answer, taken } of ends) {
    expect(answer).toMatch(
      /^HTTP\/1\.1 404 .*\r\nconnection: close\r\n.*"There is nothing here; GraphQL is at \/graphql\."/is,
    );
    expect(taken).toBeLessThan(ENDLESS / 20);
  }
});

// Without the header `connection: close`, the client would reuse a connection that is not read.
test('a client whose long body is refused sends its next request on another connection', async () => {
  const pool = new Pool(both.gateway.url, { connections: 1, pipelining: 1 });
  const body = 'x'.repeat(10 * LIMIT);
  const statuses: number[] = [];
  for (const path of ['/nope', '/graphql', '/nope']) {
    const headers = { 'content-type': 'application/json' };
    const response = await pool.request({ method: 'POST', path, headers, body });
    await response.body.text();
    statuses.push(response.statusCode);
  }
  await pool.close();
  expect(statuses).toEqual([404, 413, 404]);
});

test('after a body within the limit the connection is used again', async () => {
  const first = requestBytes({
    target: '/nope',
    headers: [localhost, 'Connection: keep-alive'],
    body: 'x'.repeat(LIMIT - 1_000),
  });
  const next = requestBytes({ method: 'GET', target: '/nope', headers: [localhost] });
  expect((await raw(both.gateway.url, first, next)).statuses).toEqual([404, 404]);
});
