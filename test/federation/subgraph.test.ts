import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { client, player, startWithCallers, type TestCaller } from '../kit/callers.ts';
import { startBoth } from '../kit/gateway.ts';
import { secretSigner, token } from '../kit/tokens.ts';

const ENTITIES = (selection: string) =>
  `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on Player { ${selection} } } }`;
const SERVICE = '{ _service { sdl } }';
const one = (id: unknown) => ({ __typename: 'Player', id });

const all = await startWithCallers({ FEDERATION: 'true' });
beforeEach(() => all.upstream.forget());
afterAll(() => all.close());

const everybody = client('players:read', 'any-player');
const own = player('p1', 'players:read', 'coupons:read');
const app = client('coupons:read');

async function entities(caller: TestCaller, representations: unknown[], selection = 'id referralLink') {
  const { status, data, errors } = await all.as(caller, ENTITIES(selection), { representations });
  return { status, data, errors: errors.map(({ path, extensions }) => [path, extensions['code']]) };
}

describe('_entities', () => {
  test('come in the order of the representations, each player is read once, and all are read together', async () => {
    const held = all.upstream.hold('GET /player');
    const answer = entities(everybody, [one('p2'), one('p1'), one('nobody'), one('p2')]);
    await held.arrived;
    held.release();
    expect(await answer).toMatchObject({
      status: 200,
      data: { _entities: [{ id: 'p2' }, { id: 'p1' }, null, { id: 'p2' }] },
      errors: [],
    });
    expect(all.upstream.calls().sort()).toEqual([
      'GET /integrations/player/nobody',
      'GET /integrations/player/p1',
      'GET /integrations/player/p2',
    ]);
    expect(await all.gateway.metrics()).toMatch(/gateway_loader_batch_size_sum\{loader="players"\} 3$/m);
  });

  test('of which only coupons are selected are not read themselves: 20 players are 20 calls', async () => {
    const coupons = client('coupons:read', 'any-player');
    expect((await entities(coupons, [one('p1')], 'coupons { code }')).errors).toEqual([
      [['_entities', 0], 'FORBIDDEN'],
    ]);
    const both = await startBoth({ FEDERATION: 'true' });
    const representations = Array.from({ length: 20 }, (_, index) => one(`p${index + 1}`));
    const { data, errors } = await both.gateway.query(ENTITIES('coupons { code }'), { representations });
    expect([errors, data._entities.length, data._entities[19].coupons.length > 0]).toEqual([[], 20, true]);
    expect(both.upstream.calls().sort()).toEqual(
      representations.map(({ id }) => `GET /integrations/transactions/${id}/coupon`).sort(),
    );
    await both.close();
  });

  test('of others are refused one by one, and only the own player is read', async () => {
    expect(await entities(own, [one('p2'), one('p1'), one('f1')], 'id coupons { code }')).toMatchObject({
      status: 200,
      data: { _entities: [null, { id: 'p1' }, null] },
      errors: [
        [['_entities', 0], 'FORBIDDEN'],
        [['_entities', 2], 'FORBIDDEN'],
      ],
    });
    expect(all.upstream.calls()).toEqual(['GET /integrations/transactions/p1/coupon']);
  });

  test('are refused without the scope', async () => {
    const { data, errors } = await entities(app, [one('p1'), one('p2')]);
    expect({ data, errors }).toEqual({
      data: { _entities: [null, null] },
      errors: [
        [['_entities', 0], 'FORBIDDEN'],
        [['_entities', 1], 'FORBIDDEN'],
      ],
    });
    expect(all.upstream.calls()).toEqual([]);
  });

  test.each([
    ['another type', { __typename: 'Coupon', id: 'p1' }],
    ['no type', { id: 'p1' }],
    ['no key', { __typename: 'Player' }],
    ['another key', { __typename: 'Player', playerUniqueId: 'p1' }],
    ['a number', one(1)],
    ['several keys', one(['p1', 'p2'])],
    ['an object as key', one({ id: 'p1' })],
    ['an empty key', one('')],
    ['a text', 'p1'],
    ['a list', [one('p1')]],
  ])('by %s are a mistake that leaves the others as they are', async (_what, representation) => {
    const { data, errors } = await entities(everybody, [representation, one('p1')], 'id');
    expect(data).toEqual({ _entities: [null, { id: 'p1' }] });
    expect(errors).toEqual([[['_entities', 0], 'BAD_USER_INPUT']]);
    expect(all.upstream.calls()).toEqual(['GET /integrations/player/p1']);
    // One's own id beside it does not open the way to another.
    all.upstream.forget();
    expect((await entities(own, [representation])).data).toEqual({ _entities: [null] });
    expect(all.upstream.calls()).toEqual([]);
  });

  test('are 200 at most, and no more than an operation may cause calls', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => one(`p${index}`));
    expect(await entities(everybody, many(201))).toEqual({
      status: 200,
      data: null,
      errors: [[['_entities'], 'BAD_USER_INPUT']],
    });
    const { errors } = await entities(everybody, many(101), 'attributes { firstName } referralLink(lang: "fr")');
    expect(errors[0]?.[1]).toBe('OPERATION_TOO_COMPLEX');
    expect(all.upstream.calls()).toEqual([]);
  });

  test('may be written as literals, under an alias and in fragments', async () => {
    const query = `{ ...Q } fragment Q on Query { mine: _entities(representations: [{ __typename: "Player", id: "p1" }, { __typename: "Player", id: "p2" }]) { ...P } } fragment P on Player { id }`;
    const { data, errors } = await all.as(own, query);
    expect(data).toEqual({ mine: [{ id: 'p1' }, null] });
    expect(errors.map(({ path }) => path)).toEqual([['mine', 1]]);
  });
});

describe('_service', () => {
  test('is the schema of clients with the directives of federation', async () => {
    const { data } = await all.as(app, SERVICE);
    const { sdl } = data._service;
    expect(sdl).toContain('@link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])');
    expect(sdl).toMatch(/^type Player implements Node @key\(fields: "id"\) \{$/m);
    expect(sdl).toMatch(/^type PageInfo @shareable \{$/m);
    expect(sdl).toMatch(/^type UserError @shareable \{$/m);
    expect(sdl).toContain('Needs `coupons:read`.');
    expect(sdl).not.toMatch(/@access|@rest|@cost|@listSize/);
  });

  test.each([
    ['without schema:read', 'players:read', 403, 'FORBIDDEN'],
    ['with schema:read', 'schema:read', 200, undefined],
  ])('in production %s', async (_how, scope, status, code) => {
    const signer = secretSigner();
    const both = await startBoth({ FEDERATION: 'true', NODE_ENV: 'production', ...signer.env });
    const headers = { authorization: `Bearer ${token(signer, { scope })}` };
    for (const query of [
      SERVICE,
      '{ s: _service { __typename } }',
      '{ ...Q } fragment Q on Query { _service { sdl } }',
    ]) {
      const answer = await both.gateway.query(query, {}, headers);
      expect([query, answer.status, answer.errors[0]?.extensions['code']]).toEqual([query, status, code]);
    }
    await both.close();
  });
});

test('without FEDERATION there is neither', async () => {
  const both = await startBoth();
  for (const query of [SERVICE, '{ _entities(representations: []) { __typename } }']) {
    expect((await both.gateway.query(query)).errors[0]?.message).toMatch(/^Cannot query field "_/);
  }
  await both.close();
});
