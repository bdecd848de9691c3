import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Pool } from 'undici';
import { startBoth } from '../kit/gateway.ts';
import { startProcess } from '../kit/process.ts';
import { raw, requestBytes } from '../kit/raw.ts';
import { secretSigner, token } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';

/* What becomes of the body of a request that was refused before its body was read, and what memory bodies take. */

const LONG = 65_536;
const PIECE = Buffer.alloc(LONG, 'x');
/** More than the buffers of two sockets hold. */
const ENDLESS = 1e9;
const HOST = 'Host: localhost';
const JSON_TYPE = 'Content-Type: application/json';
const head = (...lines: string[]) => `POST /nope HTTP/1.1\r\n${[HOST, ...lines].join('\r\n')}\r\n\r\n`;

const both = await startBoth();

/** Sends a body without end, after the response has begun if `later`. Resolves when the server closes. */
function flood(later: boolean, start: string): Promise<{ answer: string; taken: number }> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(both.gateway.url).port), '127.0.0.1');
    let answer = '';
    let taken = 0;
    const send = () => {
      socket.write(PIECE, (error) => {
        if (error) return;
        taken += PIECE.length;
        send();
      });
    };
    socket.write(start);
    if (!later) send();
    socket.on('data', (chunk) => {
      if (later && answer === '') send();
      answer += String(chunk);
    });
    socket.on('error', () => undefined).on('close', () => resolve({ answer, taken }));
  });
}

const chunked = head('Transfer-Encoding: chunked');
test.each([
  ['announced', head(`Content-Length: ${ENDLESS}`)],
  ['in one chunk', `${chunked}${ENDLESS.toString(16)}\r\n`],
  ['after many small chunks', `${chunked}${'1\r\nx\r\n'.repeat(1_000)}${ENDLESS.toString(16)}\r\n`],
])('the sender of a body without end, %s, is told why, and is not read on', async (_how, start) => {
  for (const { answer, taken } of await Promise.all([flood(false, start), flood(true, start)])) {
    expect(answer).toMatch(/^HTTP\/1\.1 404 .*\r\nconnection: close\r\n.*"There is nothing here; GraphQL is at/is);
    expect(taken).toBeLessThan(ENDLESS / 50);
  }
});

test('after a refused request whose body is not read, nothing on the connection is executed', async () => {
  const { gateway, upstream } = both;
  const body = JSON.stringify({ query: '{ me { referralLink } }' });
  const next = requestBytes({ headers: [HOST, JSON_TYPE], body });
  const rest = Buffer.alloc(1_100_000, 'x');
  const { statuses } = await raw(gateway.url, head(`Content-Length: ${rest.length}`), rest, next);
  expect(statuses).toEqual([404]);
  expect(upstream.calls()).toEqual([]);
});

test.each([2 * LONG, LONG / 2])('a refused body of %d bytes leaves earlier responses their time', async (length) => {
  const { gateway, upstream } = both;
  const held = upstream.hold('GET /player');
  const slow = requestBytes({
    headers: [HOST, 'Connection: keep-alive', JSON_TYPE],
    body: JSON.stringify({ query: '{ player(playerUniqueId: "slow") { attributes { displayName } } }' }),
  });
  const refused = head(`Content-Length: ${length}`, 'Connection: close');
  const answer = raw(gateway.url, slow, refused, Buffer.alloc(length, 'x'));
  await held.arrived;
  // Longer than the rest of a request that is not HTTP is read.
  setTimeout(() => held.release(), 2_200);
  expect((await answer).statuses).toEqual([200, 404]);
});

// Without the header `connection: close`, the client would reuse a connection that is not read.
test('a client whose long body is refused sends its next request on another connection', async () => {
  const pool = new Pool(both.gateway.url, { connections: 1, pipelining: 1 });
  const body = 'x'.repeat(5 * LONG);
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

/** Sends bodies in chunks of one byte without end on 20 connections; what is closed is opened again. */
function sendTinyChunks(url: string, head: string): () => void {
  const chunks = '1\r\nx\r\n'.repeat(10_000);
  const sockets = new Set<ReturnType<typeof connect>>();
  let over = false;
  const open = () => {
    if (over) return;
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(head));
    const send = () => socket.write(chunks, (error) => error || over || setImmediate(send));
    socket.once('connect', send).on('data', () => undefined);
    socket.on('error', () => undefined).once('close', () => setTimeout(open, 20));
    sockets.add(socket);
  };
  for (let left = 20; left > 0; left -= 1) open();
  return () => {
    over = true;
    for (const socket of sockets) socket.destroy();
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
  const lines = [HOST, JSON_TYPE, `Authorization: ${authorization}`, 'Transfer-Encoding: chunked'];
  const before = residentMb(gateway.child.pid);
  const stop = sendTinyChunks(gateway.url, `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  let most = before;
  for (let left = 100; left > 0; left -= 1) {
    await sleep(50);
    most = Math.max(most, residentMb(gateway.child.pid));
  }
  stop();
  // It may refuse requests until it has read what the sockets still hold.
  const headers = { authorization, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: '{"query":"{ __typename }"}' };
  await until(async () => (await fetch(`${gateway.url}/graphql`, init)).status === 200);
  expect(most - before).toBeLessThan(150);
});
