/* What attacks are made of: raw connections, requests as bytes, and a steady pace. All of it goes to the loopback. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/** The head of a POST request. */
export function head({ path = '/graphql', headers = [] } = {}) {
  return [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', ...headers, '', ''].join(
    '\r\n',
  );
}

/** A connection of one's own. Its failures are counted; `onStatus` is told the first status. */
export function open({ port, count }) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', (error) => count(error.code ?? 'error'));
  socket.once('data', (chunk) => count(/^HTTP\/1\.1 (\d+)/.exec(chunk)?.[1] ?? 'bytes'));
  return socket;
}

/** Keeps `number` connections open that each do `use`; what is closed is opened again, at most so many a second. */
export async function keepOpen({ target, number, perSecond = 1_000, use }) {
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

/** Sends JSON bodies over kept connections and counts the statuses. */
export function client({ url, authorization, count }, connections = 50) {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const headers = { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) };
  return async (body, more = {}) => {
    try {
      const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      const response = await pool.request({
        method: 'POST',
        path: '/graphql',
        headers: { ...headers, ...more },
        body: text,
      });
      const answer = await response.body.text();
      count(`${response.statusCode}`);
      return { status: response.statusCode, text: answer };
    } catch (error) {
      count(error.code ?? 'error');
      return { status: 0, text: '' };
    }
  };
}
