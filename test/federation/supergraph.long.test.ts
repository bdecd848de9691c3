import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';
import { secretSigner, token } from '../kit/tokens.ts';

/* A subgraph of a federation gateway, @apollo/gateway, beside a second subgraph about orders. */

const signer = secretSigner();
const bearer = (scope: string) => `Bearer ${token(signer, { scope })}`;
const APP = bearer('players:read coupons:read');
const SERVER = bearer('players:read coupons:read any-player');
const { gateway, upstream, close } = await startBoth({ NODE_ENV: 'production', FEDERATION: 'true', ...signer.env });

/** Starts the federation gateway; its token for composition has this scope. */
async function startSupergraph(scope: string) {
  const program = fileURLToPath(new URL('supergraph.mjs', import.meta.url));
  const child = fork(program, { env: { SUBGRAPH_URL: gateway.url, COMPOSITION_TOKEN: bearer(scope) }, silent: true });
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

const supergraph = await startSupergraph('schema:read');
beforeEach(() => upstream.forget());
afterAll(async () => {
  await supergraph.close();
  await close();
});

test('without schema:read there is no composition in production', async () => {
  const refused = await startSupergraph('players:read');
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
