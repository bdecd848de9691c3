import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as elapsed } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { post } from '../kit/gateway.ts';
import type { GatewayProcess } from '../kit/process.ts';
import { ask, atEnd, ENDED, start } from './setup.ts';

/**
 * Sends an operation. Resolves to how it failed, or 'ok'. A machine that is busy with other tests makes the gateway refuse
 * requests with OVERLOADED, as it should; they are sent again after a second.
 */
async function send(url: string, retries = 0): Promise<string> {
  try {
    const { text, status } = await ask({ url });
    if (text.includes('{"player":{"id":"p1"}}')) return 'ok';
    if (retries === 4 || !text.includes('"OVERLOADED"')) return `${status} ${text.slice(0, 150)}`;
    await elapsed(1_000);
    return await send(url, retries + 1);
  } catch (error) {
    return String(Object(error).cause ?? error);
  }
}

/** A balancer that asks each gateway for its readiness every 200 ms, and takes turns between those that are ready. */
async function startBalancer(gateways: GatewayProcess[]) {
  let ready = [...gateways];
  let turn = 0;
  const poll = setInterval(async () => {
    const asked = gateways.map(async (gateway) => ({
      gateway,
      ...(await gateway.page('/readyz').catch(() => undefined)),
    }));
    ready = (await Promise.all(asked)).filter(({ status }) => status === 200).map(({ gateway }) => gateway);
  }, 200);
  const server = createServer(async (incoming, outgoing) => {
    const url = ready[turn++ % ready.length]?.url ?? 'none';
    const { status, text } = await post(url, await json(incoming)).catch((error) => ({
      ...{ status: 502, text: JSON.stringify({ data: String(error.cause ?? error) }) },
    }));
    outgoing.writeHead(status).end(text);
  });
  // What is tried is the gateway's connections, not the balancer's.
  server.keepAliveTimeout = 600_000;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => {
    clearInterval(poll);
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a rolling restart behind a balancer that polls readiness loses none of 1,600 operations', async () => {
  const env = { SHUTDOWN_DELAY_MS: '2500', MAX_SERVER_OPERATIONS_BURST: '100000' };
  const gateways = [await start(env), await start(env)];
  const url = await startBalancer(gateways);
  const sent: Promise<string>[] = [];
  const began = performance.now();
  const timer = setInterval(() => {
    while (sent.length < (performance.now() - began) / 5) sent.push(send(url));
  }, 5);
  for (const old of [...gateways]) {
    gateways.push(await start(env));
    old.child.kill('SIGTERM');
    expect(await old.ended).toEqual(ENDED);
    gateways.splice(gateways.indexOf(old), 1);
  }
  await elapsed(Math.max(0, began + 8_100 - performance.now()));
  clearInterval(timer);
  expect(sent.length).toBeGreaterThanOrEqual(1_600);
  expect((await Promise.all(sent)).filter((outcome) => outcome !== 'ok')).toEqual([]);
});
