/* What attacks are made of: raw connections, requests as bytes, and a steady pace. All of it goes to the loopback. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/** The address of attackers: limits of the edge count addresses, and the victim has another. */
export const ATTACKER = '127.0.0.2';
/** Addresses of attackers who have several: phones do, and the edge allows each 100 connections. */
export const ATTACKERS = Array.from({ length: 10 }, (_, index) => `127.0.0.${index + 2}`);

/** The head of a POST request. */
export function head({ path = '/graphql', headers = [] } = {}) {
  const lines = [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', ...headers];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** A whole POST request to /graphql. */
export function request(authorization, body, length = Buffer.byteLength(body)) {
  return head({ headers: [`Authorization: ${authorization}`, `Content-Length: ${length}`] }) + body;
}

/** A connection of its own. Its failures and the status of its first response are counted. */
export function open({ port, count }) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: ATTACKER });
  socket.on('error', (error) => count(error.code ?? 'error'));
  socket.once('data', (chunk) => count(/^HTTP\/1\.1 (\d+)/.exec(chunk)?.[1] ?? 'bytes'));
  return socket;
}

/** Keeps `number` connections open that each do `use`; what is closed is opened again, at most so many a second. */
export async function keepOpen(target, number, use, perSecond = 1_000) {
  let openNow = 0;
  for (;;) {
    const missing = Math.min(number - openNow, Math.ceil(perSecond / 20));
    for (let index = 0; index < missing; index += 1) {
      openNow += 1;
      const socket = open(target);
      socket.once('close', () => {
        openNow -= 1;
      });
      socket.once('connect', () => use(socket));
    }
    await sleep(Math.max(50, 1_000 / perSecond));
  }
}

/** Does something so many times a second, without waiting for it. */
export async function pace(perSecond, act) {
  const began = performance.now();
  for (let number = 0; ; number += 1) {
    const early = began + (number * 1_000) / perSecond - performance.now();
    if (early > 1) await sleep(early);
    act(number);
  }
}

/** The same from all addresses of attackers in turn; `connections` is their sum. */
export function clients(target, connections) {
  const senders = ATTACKERS.map((from) => client({ ...target, from }, Math.ceil(connections / ATTACKERS.length)));
  let next = 0;
  return (body, more) => senders[next++ % senders.length](body, more);
}

/** Sends JSON bodies over kept connections and counts the statuses. Resolves to status, headers and text. */
export function client({ url, authorization, count = () => {}, from = ATTACKER }, connections = 50) {
  const pool = new Pool(url, { connections, pipelining: 1, localAddress: from });
  const own = { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) };
  return async (body, more = {}) => {
    try {
      const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      const response = await pool.request({
        ...{ method: 'POST', path: '/graphql', headers: { ...own, ...more }, body: text, headersTimeout: 10_000 },
      });
      const answer = await response.body.text();
      count(`${response.statusCode}`);
      return { status: response.statusCode, headers: response.headers, text: answer };
    } catch (error) {
      count(error.code ?? 'error');
      return { status: 0, headers: {}, text: '' };
    }
  };
}
