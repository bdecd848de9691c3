import { beforeEach, expect, test } from '@jest/globals';
import { client, player, startWithCallers, type TestCaller } from '../kit/callers.ts';
import { startBoth } from '../kit/gateway.ts';
import { bearer, secretSigner } from '../kit/tokens.ts';

const ENTITIES = (selection: string) =>
  `query ($all: [_Any!]!) { _entities(representations: $all) { ... on Player { ${selection} } } }`;
const SERVICE = '{ _service { sdl } }';
const one = (id: unknown) => ({ __typename: 'Player', id });
const many = (count: number) => Array.from({ length: count }, (_, index) => one(`p${index}`));

const all = await startWithCallers({ FEDERATION: 'true' });
beforeEach(() => all.upstream.forget());

const everybody = client('players:read', 'any-player');
const own = player('p1', 'players:read', 'coupons:read');

async function entities(caller: TestCaller, representations: unknown[], selection = 'id') {
  const { status, data, errors } = await all.as(caller, ENTITIES(selection), { all: representations });
  expect(status).toBe(200);
  return { entities: data?._entities, errors: errors.map(({ path, extensions }) => [path, extensions['code']]) };
}
const at = (code: string, ...indexes: number[]) => indexes.map((index) => [['_entities', index], code]);

test('entities come in the order of the representations, and each player is read once, all together', async () => {
  const [p1, p2] = [{ id: 'p1' }, { id: 'p2' }];
  const found = await entities(everybody, [one('p2'), one('p1'), one('nobody'), one('p2')]);
  expect(found).toEqual({ entities: [p2, p1, null, p2], errors: [] });
  const calls = ['nobody', 'p1', 'p2'].map((id) => `GET /integrations/player/${id}`);
  expect(all.upstream.calls().sort()).toEqual(calls);
  expect(await all.gateway.metrics()).toMatch(/_sum\{loader="players"\} 3\n\S+_count\{loader="players"\} 1$/m);
});

test('entities of which only coupons are selected are not read themselves; others than the own player are refused', async () => {
  const found = await entities(own, [one('p2'), one('p1'), one('f1')], 'id coupons { code }');
  const p1 = { id: 'p1', coupons: expect.anything() };
  expect(found).toMatchObject({ entities: [null, p1, null], errors: at('FORBIDDEN', 0, 2) });
  expect(all.upstream.calls()).toEqual(['GET /integrations/transactions/p1/coupon']);
});

test.each([
  ['another type', { __typename: 'Coupon', id: 'p1' }],
  ['a number', one(1)],
  ['several keys', one(['p1', 'p2'])],
  ['an empty key', one('')],
  ['a text', 'p1'],
  ['a list', [one('p1')]],
])('a representation by %s is a mistake that leaves the others as they are', async (_what, representation) => {
  const { entities: found, errors } = await entities(everybody, [representation, one('p1')]);
  expect([found, errors]).toEqual([[null, { id: 'p1' }], at('BAD_USER_INPUT', 0)]);
  expect(all.upstream.calls()).toEqual(['GET /integrations/player/p1']);
  // One's own id beside it does not open the way to another.
  all.upstream.forget();
  expect((await entities(own, [representation])).entities).toEqual([null]);
  expect(all.upstream.calls()).toEqual([]);
});

test('a representation that is a list in 9,000 lists is nobody, and breaks nothing', async () => {
  const body = JSON.stringify({ query: ENTITIES('id'), variables: { all: ['LISTS'] } });
  const deep = body.replace('"LISTS"', `${'['.repeat(9_000)}${']'.repeat(9_000)}`);
  for (const { authorization = '', code } of [
    { ...own, code: 'FORBIDDEN' },
    { ...everybody, code: 'BAD_USER_INPUT' },
  ]) {
    const headers = { 'content-type': 'application/json', authorization };
    const response = await fetch(`${all.gateway.url}/graphql`, { method: 'POST', headers, body: deep });
    expect(await response.json()).toMatchObject({ data: { _entities: [null] }, errors: [{ extensions: { code } }] });
  }
  expect(all.upstream.calls()).toEqual([]);
});

test('entities are 200 at most, and no more than an operation may cause calls', async () => {
  expect((await entities(everybody, many(201))).errors).toEqual([[['_entities'], 'BAD_USER_INPUT']]);
  const { errors } = await entities(everybody, many(101), 'attributes { firstName } referralLink(lang: "fr")');
  expect(errors[0]?.[1]).toBe('OPERATION_TOO_COMPLEX');
  expect(all.upstream.calls()).toEqual([]);
});

test('_service is the schema of clients with the directives of federation', async () => {
  const { sdl } = (await all.as(client('coupons:read'), SERVICE)).data._service;
  expect(sdl).toContain('@link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])');
  for (const type of ['Player implements Node @key(fields: "id")', 'PageInfo @shareable', 'UserError @shareable']) {
    expect(sdl).toContain(`\ntype ${type} {\n`);
  }
  expect(sdl).toContain('Needs `coupons:read`.');
  expect(sdl).not.toMatch(/@access|@rest|@cost|@listSize/);
});

test('_service needs schema:read in production', async () => {
  const signer = secretSigner();
  const both = await startBoth({ FEDERATION: 'true', NODE_ENV: 'production', ...signer.env });
  for (const [scope, status] of Object.entries({ 'players:read': 403, 'schema:read': 200 }))
    expect((await both.gateway.query(SERVICE, {}, bearer(signer, { scope }))).status).toBe(status);
});

test('without FEDERATION there is neither', async () => {
  const both = await startBoth();
  const { errors } = await both.gateway.query('{ _service { sdl } _entities(representations: []) { __typename } }');
  expect(errors.map(({ message }) => message)).toEqual(Array(2).fill(expect.stringMatching(/^Cannot query field "_/)));
});
