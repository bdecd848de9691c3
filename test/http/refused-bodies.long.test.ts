import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Pool } from 'undici';
import { startBoth } from '../kit/gateway.ts';
import { startProcess } from '../kit/process.ts';
import { raw, requestBytes } from '../kit/raw.ts';
import { secretSigner, token } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';

/* What becomes of the body of a request that was refused before its body was read, and what memory bodies take. */

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
const JSON_TYPE = 'Content-Type: application/json';
const head = (...lines: string[]) => `POST /nope HTTP/1.1\r\n${[localhost, ...lines].join('\r\n')}\r\n\r\n`;

/**
 * Sends a body without end, one piece after the other. Resolves when the server closes: to what it said and what it took.
 * @param when Whether the body begins with the head, or after the response.
 */
function flood(when: 'now' | 'later', ...parts: string[]): Promise<{ answer: string; taken: number }> {
  const { url } = both.gateway;
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
    if (when === 'now') send();
    socket.on('data', (chunk) => {
      if (when === 'later' && answer === '') send();
      answer += String(chunk);
    });
    socket.on('error', () => undefined).on('close', () => resolve({ answer, taken }));
  });
}

test('a body without end: its sender is told why, and is not read on', async () => {
  const announced = head(`Content-Length: ${ENDLESS}`);
  const chunked = head('Transfer-Encoding: chunked');
  const chunk = `${ENDLESS.toString(16)}\r\n`;
  const ends = await Promise.all([
    flood('now', announced),
    flood('later', announced),
    flood('now', chunked, chunk),
    flood('later', chunked, chunk),
    flood('now', chunked, '1\r\nx\r\n'.repeat(1_000), chunk),
  ]);
  for (const { answer, taken } of ends) {
    expect(answer).toMatch(
      /^HTTP\/1\.1 404 .*\r\nconnection: close\r\n.*"There is nothing here; GraphQL is at \/graphql\."/is,
    );
    expect(taken).toBeLessThan(ENDLESS / 50);
  }
});

test('after the response to a long body nothing is executed', async () => {
  const { gateway, upstream } = both;
  upstream.forget();
  const next = requestBytes({
    headers: [localhost, JSON_TYPE],
    body: JSON.stringify({ query: '{ me { referralLink } }' }),
  });
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      if (text === '') socket.write(`${'x'.repeat(2 * LIMIT)}${next}`);
      text += String(chunk);
    });
    socket.on('error', () => undefined).on('close', () => resolve(text));
    socket.write(head(`Content-Length: ${2 * LIMIT}`));
  });
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
  expect(upstream.calls()).toEqual([]);
});

test.each([
  ['long', 2 * LIMIT],
  ['short', LIMIT],
])('a refused %s body that is not finished leaves earlier responses their time', async (_name, length) => {
  const { gateway, upstream } = both;
  const held = upstream.hold('GET /player');
  const slow = requestBytes({
    headers: [localhost, 'Connection: keep-alive', JSON_TYPE],
    body: JSON.stringify({ query: '{ player(playerUniqueId: "slow") { attributes { displayName } } }' }),
  });
  const answer = raw(gateway.url, slow, head(`Content-Length: ${length}`), 'x');
  await held.arrived;
  // Longer than a refused connection is kept.
  setTimeout(() => held.release(), 2_200);
  expect((await answer).statuses).toEqual([200, 404]);
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

test('after a refused request whose body was not read, the connection is closed', async () => {
  const first = requestBytes({
    target: '/nope',
    headers: [localhost, 'Connection: keep-alive'],
    body: 'x'.repeat(LIMIT - 1_000),
  });
  const next = requestBytes({ method: 'GET', target: '/nope', headers: [localhost] });
  expect((await raw(both.gateway.url, first, next)).statuses).toEqual([404]);
});

/** Bodies in chunks of one byte without end, on `number` connections; what is closed is opened again. */
function sendTinyChunks(url: string, head: string, number: number): () => void {
  const chunks = '1\r\nx\r\n'.repeat(10_000);
  let over = false;
  const open = () => {
    if (over) return;
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(head));
    const send = () => socket.write(chunks, (error) => error || over || setImmediate(send));
    socket.once('connect', send).on('data', () => undefined);
    socket.on('error', () => undefined).once('close', () => setTimeout(open, 20));
    ends.push(() => socket.destroy());
  };
  const ends: (() => void)[] = [];
  for (let left = number; left > 0; left -= 1) open();
  return () => {
    over = true;
    for (const end of ends) end();
  };
}

/** Resident memory in megabytes; 0 where there is no /proc. */
function residentMb(pid: number | undefined): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
  } catch {
    return 0;
  }
}

// With a Buffer for each chunk, 20 such bodies ended a process with a heap of 256 MB. How soon it answers is in the siege.
test.each(['/nope', '/graphql'])('one-byte chunks to %s take little memory', async (path) => {
  const signer = secretSigner();
  const authorization = `Bearer ${token(signer)}`;
  const env = { ...signer.env, REST_BASE_URL: both.upstream.url };
  const gateway = await startProcess(env, ['--max-old-space-size=256']);
  const lines = [localhost, JSON_TYPE, `Authorization: ${authorization}`, 'Transfer-Encoding: chunked'];
  const before = residentMb(gateway.child.pid);
  const stop = sendTinyChunks(gateway.url, `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 20);
  let most = before;
  for (let left = 100; left > 0; left -= 1) {
    await sleep(50);
    most = Math.max(most, residentMb(gateway.child.pid));
  }
  stop();
  // It may refuse requests until it has read what the sockets still hold.
  await until(async () => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"query":"{ __typename }"}',
    });
    return response.status === 200;
  });
  expect(most - before).toBeLessThan(150);
  await gateway.kill();
});
