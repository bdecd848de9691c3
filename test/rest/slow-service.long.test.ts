import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { post } from '../kit/gateway.ts';
import { type GatewayProcess, startProcess } from '../kit/process.ts';
import { secretSigner, token } from '../kit/tokens.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

/*
 * A REST service that is slow and healthy, behind the built program with its default settings. Waiting for one of the 128
 * connections is not the service's failure: nobody is refused, and the breaker stays closed.
 */

jest.setTimeout(60_000);
const signer = secretSigner();
let upstream: Upstream;
let gateway: GatewayProcess;
beforeEach(async () => {
  upstream = await startUpstream();
  gateway = await startProcess({ REST_BASE_URL: upstream.url, ...signer.env });
});
afterEach(async () => {
  await gateway.kill();
  await upstream.close();
});

/** Every player of the group reads itself, all at once, with a token of its own. Resolves to the outcomes and their numbers. */
async function readAtOnce(group: string, players: number): Promise<Record<string, number>> {
  const outcomes = await Promise.all(
    Array.from({ length: players }, async (_, index) => {
      const authorization = `Bearer ${token(signer, { sub: `${group}-${index}`, scope: 'players:read' })}`;
      const { status, data, errors } = await post(gateway.url, { query: '{ me { id } }' }, { authorization });
      return data?.me?.id === `${group}-${index}` ? 'data' : `${status} ${errors[0]?.extensions['code']}`;
    }),
  );
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

test('160 players and then 200 over a service of 1.4 s: the queue does not open the breaker', async () => {
  upstream.on('GET /player', ({ playerUniqueId }) => ({ json: { playerUniqueId }, after: sleep(1_400) }));
  expect(await readAtOnce('a', 160)).toEqual({ data: 160 });
  expect(await readAtOnce('b', 200)).toEqual({ data: 200 });
  const { text } = await gateway.page('/metrics');
  expect(text).toMatch(/^rest_breaker\{state="closed"\} 1$/m);
  expect(text).toMatch(/^rest_breaker_openings_total 0$/m);
});
