import { setTimeout as elapsed } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { atEnd } from '../kit/at-end.ts';
import type { GatewayProcess } from '../kit/process.ts';
import { ask, ENDED, start } from './setup.ts';

/** A balancer that asks each gateway for its readiness every 200 ms, and takes turns between those that are ready. */
function startBalancer(gateways: GatewayProcess[]) {
  let ready = [...gateways];
  let turn = 0;
  const poll = setInterval(async () => {
    const asked = gateways.map(async (gateway) => {
      const page = await gateway.page('/readyz').catch(() => undefined);
      return page?.status === 200 ? [gateway] : [];
    });
    ready = (await Promise.all(asked)).flat();
  }, 200);
  atEnd(() => clearInterval(poll));
  return () => ready[turn++ % ready.length] ?? { url: 'none' };
}

/**
 * Sends an operation. Resolves to how it failed, or 'ok'. A machine that is busy with other tests makes the gateway refuse
 * requests with OVERLOADED, as it should; they are sent again after a second.
 */
async function send(next: () => { url: string }, retries = 0): Promise<string> {
  try {
    const { text, status } = await ask(next());
    if (text.includes('{"player":{"id":"p1"}}')) return 'ok';
    if (retries === 4 || !text.includes('"OVERLOADED"')) return `${status} ${text.slice(0, 150)}`;
    await elapsed(1_000);
    return await send(next, retries + 1);
  } catch (error) {
    return String(Object(error).cause ?? error);
  }
}

test('a rolling restart behind a balancer that polls readiness loses none of 1,600 operations', async () => {
  const env = { SHUTDOWN_DELAY_MS: '2500', MAX_SERVER_OPERATIONS_BURST: '100000' };
  const gateways = [await start(env), await start(env)];
  const next = startBalancer(gateways);
  const outcomes: string[] = [];
  let isOver = false;
  const clients = Array.from({ length: 10 }, async () => {
    while (!isOver || outcomes.length < 1_600) {
      outcomes.push(await send(next));
      await elapsed(40);
    }
  });
  for (const old of [...gateways]) {
    gateways.push(await start(env));
    old.child.kill('SIGTERM');
    expect(await old.ended).toEqual(ENDED);
    gateways.splice(gateways.indexOf(old), 1);
  }
  isOver = true;
  await Promise.all(clients);
  expect(outcomes.filter((outcome) => outcome !== 'ok')).toEqual([]);
});
