import { expect, test } from '@jest/globals';
import { start, upstream } from './setup.ts';

/* The built program, whose client disconnects while a write is in flight. */

const input = 'input: { playerUniqueId: "p1" }';
const WRITES = [
  ['upsertPlayer', 'POST /player', `mutation { upsertPlayer(${input}) { userErrors { code } } }`],
  ['deletePlayer', 'DELETE /player', `mutation { deletePlayer(${input}) { deletedPlayerUniqueId } }`],
] as const;

test.each(WRITES)('%s is read to its end and logged, a read beside it is cancelled', async (name, endpoint, query) => {
  const gateway = await start();
  const leave = new AbortController();
  const send = (text: string) => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify({ query: text }), signal: leave.signal };
    return expect(fetch(`${gateway.url}/graphql`, init)).rejects.toThrow('aborted');
  };
  const held = upstream.hold(endpoint);
  upstream.on('GET /coupon', { fault: 'hang' });
  const left = [send(query), send('{ player(playerUniqueId: "p2") { coupons { code } } }')];
  await held.arrived;
  await upstream.received(2);
  leave.abort();
  await Promise.all(left);
  await upstream.requests.find((request) => request.endpoint === 'GET /coupon')?.gone;
  await gateway.pageWhen('/metrics', ({ text }) => text.includes('gateway_operations_active 1\n'));
  held.release();
  expect(await gateway.logged(({ type }) => type === 'mutation')).toMatchObject({ outcome: 'OK', upstreamCalls: 1 });
  if (name === 'deletePlayer') expect(await gateway.logged(({ audit }) => audit)).toMatchObject({ outcome: 'DELETED' });
  await gateway.pageWhen('/metrics', ({ text }) => text.includes('gateway_operations_active 0\n'));
});
