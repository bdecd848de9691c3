import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { client, player, startWithCallers, type TestCaller } from '../kit/callers.ts';
import { startBoth } from '../kit/gateway.ts';
import { secretSigner, token } from '../kit/tokens.ts';

const ENTITIES = (selection: string) =>
  `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on Player { ${selection} } } }`;
const SERVICE = '{ _service { sdl } }';
const one = (id: unknown) => ({ __typename: 'Player', id });
const many = (count: number) => Array.from({ length: count }, (_, index) => one(`p${index}`));

const all = await startWithCallers({ FEDERATION: 'true' });
beforeEach(() => all.upstream.forget());
afterAll(() => all.close());

const everybody = client('players:read', 'any-player');
const own = player('p1', 'players:read', 'coupons:read');

async function entities(caller: TestCaller, representations: unknown[], selection = 'id referralLink') {
  const { status, data, errors } = await all.as(caller, ENTITIES(selection), { representations });
  expect(status).toBe(200);
  return { entities: data?._entities, errors: errors.map(({ path, extensions }) => [path, extensions['code']]) };
}
const at = (code: string, ...indexes: number[]) => indexes.map((index) => [['_entities', index], code]);

test('entities come in the order of the representations, and each player is read once, all together', async () => {
  const held = all.upstream.hold('GET /player');
  const answer = entities(everybody, [one('p2'), one('p1'), one('nobody'), one('p2')], 'id');
  await held.arrived;
  held.release();
  expect(await answer).toEqual({ entities: [{ id: 'p2' }, { id: 'p1' }, null, { id: 'p2' }], errors: [] });
  const calls = ['nobody', 'p1', 'p2'].map((id) => `GET /integrations/player/${id}`);
  expect(all.upstream.calls().sort()).toEqual(calls);
  expect(await all.gateway.metrics()).toMatch(/gateway_loader_batch_size_sum\{loader="players"\} 3$/m);
});

test('entities of which only coupons are selected are not read themselves; others than the own player are refused', async () => {
  expect(await entities(own, [one('p2'), one('p1'), one('f1')], 'id coupons { code }')).toMatchObject({
    entities: [null, { id: 'p1', coupons: expect.anything() }, null],
    errors: at('FORBIDDEN', 0, 2),
  });
  expect(all.upstream.calls()).toEqual(['GET /integrations/transactions/p1/coupon']);
});

test('entities are refused without the scope', async () => {
  const refused = { entities: [null, null], errors: at('FORBIDDEN', 0, 1) };
  expect(await entities(client('coupons:read', 'any-player'), many(2), 'coupons { code }')).toEqual(refused);
  expect(all.upstream.calls()).toEqual([]);
});

test.each([
  ['another type', { __typename: 'Coupon', id: 'p1' }],
  ['no type', { id: 'p1' }],
  ['another key', { __typename: 'Player', playerUniqueId: 'p1' }],
  ['a number', one(1)],
  ['several keys', one(['p1', 'p2'])],
  ['an empty key', one('')],
  ['a text', 'p1'],
  ['a list', [one('p1')]],
])('a representation by %s is a mistake that leaves the others as they are', async (_what, representation) => {
  const { entities: found, errors } = await entities(everybody, [representation, one('p1')], 'id');
  expect([found, errors]).toEqual([[null, { id: 'p1' }], at('BAD_USER_INPUT', 0)]);
  expect(all.upstream.calls()).toEqual(['GET /integrations/player/p1']);
  // One's own id beside it does not open the way to another.
  all.upstream.forget();
  expect((await entities(own, [representation])).entities).toEqual([null]);
  expect(all.upstream.calls()).toEqual([]);
});

test('entities are 200 at most, and no more than an operation may cause calls', async () => {
  expect((await entities(everybody, many(201))).errors).toEqual([[['_entities'], 'BAD_USER_INPUT']]);
  const { errors } = await entities(everybody, many(101), 'attributes { firstName } referralLink(lang: "fr")');
  expect(errors[0]?.[1]).toBe('OPERATION_TOO_COMPLEX');
  expect(all.upstream.calls()).toEqual([]);
});

test('entities may be written as literals, under an alias and in fragments', async () => {
  const query = `{ ...Q } fragment Q on Query { mine: _entities(representations: [{ __typename: "Player", id: "p1" }, { __typename: "Player", id: "p2" }]) { ...P } } fragment P on Player { id }`;
  const { data, errors } = await all.as(own, query);
  expect([data.mine, errors.map(({ path }) => path)]).toEqual([[{ id: 'p1' }, null], [['mine', 1]]]);
});

test('_service is the schema of clients with the directives of federation', async () => {
  const { data } = await all.as(client('coupons:read'), SERVICE);
  const { sdl } = data._service;
  expect(sdl).toContain('@link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])');
  expect(sdl).toMatch(/^type Player implements Node @key\(fields: "id"\) \{$/m);
  expect(sdl).toMatch(/^type PageInfo @shareable \{$/m);
  expect(sdl).toMatch(/^type UserError @shareable \{$/m);
  expect(sdl).toContain('Needs `coupons:read`.');
  expect(sdl).not.toMatch(/@access|@rest|@cost|@listSize/);
});

test('_service needs schema:read in production', async () => {
  const signer = secretSigner();
  const both = await startBoth({ FEDERATION: 'true', NODE_ENV: 'production', ...signer.env });
  const ask = async (query: string, scope: string) => {
    const headers = { authorization: `Bearer ${token(signer, { scope })}` };
    const { status, errors } = await both.gateway.query(query, {}, headers);
    return [status, errors[0]?.extensions['code']];
  };
  for (const query of [SERVICE, '{ ...Q } fragment Q on Query { s: _service { __typename } }']) {
    expect(await ask(query, 'players:read')).toEqual([403, 'FORBIDDEN']);
    expect(await ask(query, 'schema:read')).toEqual([200, undefined]);
  }
  await both.close();
});

test('without FEDERATION there is neither', async () => {
  const both = await startBoth();
  for (const query of [SERVICE, '{ _entities(representations: []) { __typename } }']) {
    expect((await both.gateway.query(query)).errors[0]?.message).toMatch(/^Cannot query field "_/);
  }
  await both.close();
});
