import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type GatewayProcess, startProcess } from '../kit/process.ts';
import { secretSigner, token } from '../kit/tokens.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

/* The built program as a subgraph of a federation gateway, @apollo/gateway, beside a second subgraph about orders. */

const signer = secretSigner();
const bearer = (scope: string) => `Bearer ${token(signer, { scope })}`;
const APP = bearer('players:read coupons:read');
const SERVER = bearer('players:read coupons:read any-player');

/** Starts the federation gateway; its token for composition is `authorization`. */
async function startSupergraph(url: string, authorization: string) {
  const program = fileURLToPath(new URL('supergraph.mjs', import.meta.url));
  const child = fork(program, { env: { SUBGRAPH_URL: url, COMPOSITION_TOKEN: authorization }, silent: true });
  const [message] = await once(child, 'message');
  return {
    message,
    async query(query: string, caller: string) {
      const headers = { 'content-type': 'application/json', authorization: caller };
      const response = await fetch(message.url, { method: 'POST', headers, body: JSON.stringify({ query }) });
      const { data, errors = [] } = await response.json();
      return { data, codes: errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code) };
    },
    async close() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

let upstream: Upstream;
let subgraph: GatewayProcess;
let supergraph: Awaited<ReturnType<typeof startSupergraph>>;
beforeAll(async () => {
  upstream = await startUpstream();
  const env = { NODE_ENV: 'production', FEDERATION: 'true', REST_BASE_URL: upstream.url };
  subgraph = await startProcess({ ...signer.env, ...env });
  supergraph = await startSupergraph(subgraph.url, bearer('schema:read'));
  expect(supergraph.message).toEqual({ url: expect.any(String) });
});
beforeEach(() => upstream.forget());
afterAll(async () => {
  await supergraph?.close();
  await subgraph?.kill();
  await upstream?.close();
});

test('without schema:read there is no composition in production', async () => {
  const refused = await startSupergraph(subgraph.url, bearer('players:read'));
  expect(refused.message).toEqual({ error: expect.stringMatching(/Introspection needs the scope|403/) });
  await refused.close();
});

test('players of the other subgraph are read together, each once', async () => {
  const { data, codes } = await supergraph.query(
    '{ latestOrders { pageInfo { hasNextPage } orders { number player { id referralLink coupons { code } } } } }',
    SERVER,
  );
  const { orders } = data.latestOrders;
  expect([codes, orders.map(({ number }: { number: number }) => number)]).toEqual([[], [1, 2, 3, 4]]);
  expect(orders[0].player).toEqual(orders[2].player);
  expect(orders[0].player.coupons.length).toBeGreaterThan(0);
  // The other subgraph knows the player by its key; here it does not exist.
  expect(orders[3].player).toEqual({ id: 'nobody', referralLink: null, coupons: null });
  const paths = ['player/nobody', 'player/p1', 'player/p2'];
  const coupons = ['nobody', 'p1', 'p2'].map((id) => `transactions/${id}/coupon`);
  expect(upstream.calls().sort()).toEqual([...paths, ...coupons].map((path) => `GET /integrations/${path}`));
});

test('a player is completed by the other subgraph', async () => {
  expect(await supergraph.query('{ me { playerUniqueId orders { number } } }', APP)).toEqual({
    data: { me: { playerUniqueId: 'p1', orders: [{ number: 1 }, { number: 3 }] } },
    codes: [],
  });
});

test("the caller's token decides what it sees of which player", async () => {
  const { data, codes } = await supergraph.query('{ latestOrders { orders { player { coupons { code } } } } }', APP);
  const coupons = data.latestOrders.orders.map(({ player }: { player: { coupons: unknown } }) => player.coupons);
  expect(coupons).toEqual([expect.any(Array), null, expect.any(Array), null]);
  expect(codes).toEqual(['FORBIDDEN', 'FORBIDDEN']);
  expect(upstream.calls()).toEqual(['GET /integrations/transactions/p1/coupon']);
});

test('the REST service is never asked for what an unknown token wants', async () => {
  expect((await supergraph.query('{ me { playerUniqueId } }', 'Bearer nothing')).codes).toEqual(['UNAUTHENTICATED']);
  expect(upstream.calls()).toEqual([]);
});
