import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { startProcess } from '../kit/process.ts';
import { bearer, secretSigner } from '../kit/tokens.ts';
import { startUpstream } from '../kit/upstream.ts';

/* A subgraph of a federation gateway, @apollo/gateway, beside a second subgraph about orders. */

const signer = secretSigner();
const APP = bearer(signer, { scope: 'players:read coupons:read' });
const SERVER = bearer(signer, { scope: 'players:read coupons:read any-player' });
const upstream = await startUpstream();
const settings = { NODE_ENV: 'production', FEDERATION: 'true', REST_BASE_URL: upstream.url, ...signer.env };
const gateway = await startProcess(settings);

/** The federation gateway; its own token is for composition. */
const supergraph = fork(fileURLToPath(new URL('supergraph.mjs', import.meta.url)), {
  env: { SUBGRAPH_URL: gateway.url, COMPOSITION_TOKEN: bearer(signer, { scope: 'schema:read' }).authorization },
  silent: true,
});
const [{ url, error }] = await once(supergraph, 'message');
if (error) throw new Error(error);
beforeEach(() => upstream.forget());
afterAll(async () => {
  supergraph.disconnect();
  await once(supergraph, 'exit');
});

async function ask(query: string, caller: typeof APP) {
  const headers = { 'content-type': 'application/json', ...caller };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
  const { data, errors = [] } = await response.json();
  return { data, codes: errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code) };
}

test('players of the other subgraph are read together, each once', async () => {
  const player = 'player { id referralLink coupons { code } }';
  const query = `{ latestOrders { pageInfo { hasNextPage } orders { number ${player} } } }`;
  const { data, codes } = await ask(query, SERVER);
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

test('a player that does not exist is null itself where its playerUniqueId is selected', async () => {
  const { data, codes } = await ask('{ latestOrders { orders { player { playerUniqueId } } } }', SERVER);
  expect(codes).toEqual([]);
  const players = ['p1', 'p2', 'p1'].map((playerUniqueId) => ({ player: { playerUniqueId } }));
  expect(data.latestOrders.orders).toEqual([...players, { player: null }]);
});

test('a player is completed by the other subgraph', async () => {
  const me = { playerUniqueId: 'p1', orders: [{ number: 1 }, { number: 3 }] };
  expect(await ask('{ me { playerUniqueId orders { number } } }', APP)).toEqual({ data: { me }, codes: [] });
});

test("the caller's token decides what it sees of which player", async () => {
  const { data, codes } = await ask('{ latestOrders { orders { player { coupons { code } } } } }', APP);
  const coupons = data.latestOrders.orders.map(({ player }: { player: { coupons: unknown } }) => player.coupons);
  expect(coupons).toEqual([expect.any(Array), null, expect.any(Array), null]);
  expect(codes).toEqual(['FORBIDDEN', 'FORBIDDEN']);
  expect(upstream.calls()).toEqual(['GET /integrations/transactions/p1/coupon']);
});

/** What docs/federation.md says of names that another subgraph has too: the errors of composition. */
const COUPON_TYPE = `enum CouponType { CUSTOM FIXED_DISCOUNT FIXED_RATE_DISCOUNT FREE_PRODUCT FREE_SHIPPING PERCENTAGE_DISCOUNT UNKNOWN }`;
test.each([
  ['a scalar', 'type Query { day: Date now: DateTime shop: URL } scalar Date scalar DateTime scalar URL', []],
  ['Node', 'type Query { order: Order } interface Node { id: ID! } type Order implements Node { id: ID! }', []],
  ['an enum of output', 'type Query { status: ReferralStatus } enum ReferralStatus { ACTIVE LATE }', []],
  ['an equal enum of input', `type Query { value(type: CouponType): Float } ${COUPON_TYPE}`, []],
  ['another enum of input', 'type Query { type: CouponType } enum CouponType { CUSTOM MINE }', ['ENUM_VALUE_MISMATCH']],
  ['an object type', 'type Query { coupon: Coupon } type Coupon { code: String }', ['INVALID_FIELD_SHARING']],
  ['a root field', 'type Query { node(id: ID!): Node } interface Node { id: ID! }', ['INVALID_FIELD_SHARING']],
  [
    'an input type',
    'type Query { value(filter: CouponFilter): Float } input CouponFilter { shop: ID }',
    ['EMPTY_MERGED_INPUT_TYPE'],
  ],
])('another subgraph with %s of the same name', async (_what, typeDefs, codes) => {
  supergraph.send(typeDefs);
  const [composed] = await once(supergraph, 'message');
  expect(composed).toEqual({ codes });
});
