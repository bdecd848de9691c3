/*
 * graphql-js is the reference: a gateway that compiles each operation at its first request gives the same responses, to the
 * byte, and makes the same REST calls, as a gateway that compiles none.
 */
import { expect, test } from '@jest/globals';
import { getOperationAST, Kind, parse, validate } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { loadConfig } from '../../src/config/config.ts';
import { secretOf } from '../../src/config/secret.ts';
import { createCompile } from '../../src/engine/compiler.ts';
import { createOperationLimiter } from '../../src/engine/operation-limits.ts';
import { createFriendHash } from '../../src/graphql/loaders/connection.ts';
import { player, signer, WHAT } from '../kit/callers.ts';
import { startBoth, startGateway, type TestGateway } from '../kit/gateway.ts';
import { generateOperation } from '../kit/generate.ts';
import { examples, schema } from '../kit/schema.ts';
import { UNLIMITED } from '../kit/tokens.ts';
import { type Answer, API_KEY } from '../kit/upstream.ts';

/** How many generated operations are compared. */
const COUNT = process.env['TEST_TIER'] === 'long' ? 300 : 25;
/** Another one makes other operations. */
const SEED = Number(process.env['ORACLE_SEED'] ?? 20_250_501);

const env = { NODE_ENV: 'production', ...signer.env, ...UNLIMITED, MAX_DEPTH: '20' };
const both = await startBoth(env, { friends: 7 }, { compileAfter: 1 });
const reference = await startGateway(both.upstream.url, env, { compileAfter: Number.POSITIVE_INFINITY });

const IDS = ['p1', 'p1', 'p2', 'p3', 'odd', 'nobody', 'down', 'no JSON', 'empty', '', '..'];
const ATTRIBUTES = { displayName: 5, firstName: null, email: '\ud800', tags: ['a', null, 3], totalOrders: 2 ** 40 };
const COUPON = { code: null, isUsed: 'yes', couponType: 'new', collections: [{ collectionId: 2 ** 60 }, 'x', {}] };
const FRIENDS = ['odd', 'down', 'nobody', 'p1', undefined].map((playerUniqueId) => ({ playerUniqueId, status: 7 }));
type Variables = Record<string, unknown>;

/** What becomes of the reads of a player; those of all others are answered. */
const FATES: Record<string, Answer> = {
  down: { status: 400 },
  'no JSON': { raw: 'no JSON' },
  empty: { json: {} },
  'p2 GET /coupon': { status: 400 },
  'p3 GET /referrals': { raw: 'no JSON' },
  'odd GET /player': { json: { playerAttributes: ATTRIBUTES, referralLink: 'javascript:0' } },
  'odd GET /coupon': { json: { coupons: [COUPON, COUPON] } },
  'odd GET /referrals': { json: { referredFriends: FRIENDS } },
};
for (const endpoint of ['GET /player', 'GET /coupon', 'GET /referrals'] as const) {
  both.upstream.on(endpoint, ({ playerUniqueId: id = '' }) => FATES[`${id} ${endpoint}`] ?? FATES[id] ?? 'usual');
}

const server = player('p1', ...WHAT, 'any-player');
const CALLERS = [
  server,
  player('p1', ...WHAT),
  player('p1', 'players:read', 'referrals:read', 'any-player'),
  player('p1', 'players:read', 'coupons:read'),
];

/**
 * A response with its errors in the order of their paths, since two reads can end in any order, and the REST calls. Not those
 * for players that turn out to be unknown: the response does not wait for them.
 */
async function ask({ query }: TestGateway, source: string, variables: Variables, { authorization = '' } = server) {
  both.upstream.forget();
  const { status, headers, text } = await query(source, variables, { authorization });
  const body = JSON.parse(text.replace(/"requestId":"[^"]*"/, '"requestId":"…"'));
  body.errors?.sort((a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const calls = both.upstream.calls().filter((call) => /\/(?:[pf]\d|odd)\b/.test(call));
  return { status, type: headers.get('content-type'), body: JSON.stringify(body), calls: calls.sort() };
}

/** Expects the same response to an operation from both gateways, once it is compiled. */
async function compare(source: string, variables: Variables, caller = server) {
  for (const gateway of [both.gateway, reference]) await ask(gateway, source, variables);
  const compiled = await ask(both.gateway, source, variables, caller);
  const interpreted = await ask(reference, source, variables, caller);
  expect({ source, variables, ...compiled }).toEqual({ source, variables, ...interpreted });
  return interpreted.body;
}

const [compileFor, limiter] = [createCompile(schema), createOperationLimiter(schema, loadConfig({}))];
/** The first operation of a document, compiled; undefined for one that must not be. */
function compile(source: string) {
  const document = parse(source);
  const operation = document.definitions.find((part) => part.kind === Kind.OPERATION_DEFINITION);
  const compiled = operation && compileFor(document, operation, limiter.measure(document, operation).fields);
  return typeof compiled === 'string' ? undefined : compiled;
}

const queries = examples.filter(({ document }) => getOperationAST(parse(document))?.operation === 'query');
test.each(queries)('a compiled operation has the same response: $name', async ({ document }) => {
  for (const caller of CALLERS) {
    for (const id of ['p2', 'odd'])
      await compare(document, { playerUniqueId: id, playerUniqueIds: ['p1', id] }, caller);
  }
});

test('a compiled operation gives contacts of friends to callers with their scope alone', async () => {
  const source =
    'query ($id: ID!) { player(playerUniqueId: $id) { referredFriends(limit: 2) { nodes { email mobileNumber } } } }';
  const without = await compare(source, { id: 'p1' }, player('p1', 'players:read', 'referrals:read'));
  expect(without.match(/FORBIDDEN/g)).toHaveLength(4);
  expect(without).not.toContain('@');
  expect(await compare(source, { id: 'p1' }, player('p1', ...WHAT))).toMatch(/"email":"[^"]+@/);
});

const hashFriend = createFriendHash(secretOf(API_KEY));
const cursor = (row: number, friend: string) =>
  Buffer.from(JSON.stringify([row, hashFriend('p1', friend)])).toString('base64url');
const VALUES = {
  ID: IDS,
  Int: [1, 2, 3, 5, 7, 200, 0, 201],
  String: ['welcome', cursor(1, 'f2'), cursor(1, 'odd'), cursor(4, 'gone'), cursor(6, 'p1'), 'no cursor'],
  Boolean: [true, false],
  LanguageCode: ['en', 'pt-BR', '!'],
};

test(`${COUNT} generated operations of seed ${SEED} have the same responses when they are compiled`, async () => {
  let [compiled, withErrors] = [0, 0];
  for (let seed = SEED * COUNT; compiled < COUNT; seed += 1) {
    const { query, variables } = generateOperation(schema, VALUES, seed);
    if (validate(schema, parse(query)).length > 0 || !compile(query)) continue;
    const body = await compare(query, variables, CALLERS[compiled % CALLERS.length]);
    if (body.includes('"errors"')) withErrors += 1;
    compiled += 1;
  }
  expect(withErrors / COUNT).toBeGreaterThan(0.1);
  expect(withErrors / COUNT).toBeLessThan(0.8);
}, 300_000);

test.each<[string, ...Variables[]]>([
  ['query ($n: Int = 5) { me { id referredFriends(limit: $n) { limit total } } }', { n: null }, {}, { n: 'x' }],
  ['query ($p: Int) { me { id referredFriends(page: $p) { page total } } }', { p: null }, {}],
  ['{ me { referredFriendsConnection(first: null) { edges { cursor node { id } } pageInfo { endCursor } } } }', {}],
  ['query ($n: Int! = 2) { me { id referredFriends(limit: $n) { limit } } }', {}, { n: 3 }],
  ['query ($f: CouponFilter) { me { coupons(filter: $f) { code } } }', { f: { group: 'welcome' } }, { f: [] }],
  ['{ me { coupons(filter: { usableNow: true, isExpired: false }) { code } } }', {}],
  ['{ me { constructor: id toString: referralLink then: __typename } }', {}],
  ['{ a: me { ...F } b: me { ...F } } fragment F on Player { id attributes { city } }', {}],
])('is compiled, and has the same response: %s %j', async (source, ...all) => {
  expect(compile(source)).toBeDefined();
  for (const variables of all) await compare(source, variables);
});

/** What graphql-jit 0.8.9 writes into its source as `new Date(code)`. */
const ATTACK = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d(globalThis.attacked=true,0)';
const literal = JSON.stringify(ATTACK);

/** The attack wherever a document has room for a text. */
const ATTACKS = [
  `{ player(playerUniqueId: ${literal}) { id } }`,
  `{ players(playerUniqueIds: ["""${ATTACK}"""]) { id } }`,
  `{ player(playerUniqueId: "${ATTACK.replace('__', '\\u005f_')}") { id } }`,
  `query ($id: ID! = ${literal}) { player(playerUniqueId: $id) { id } }`,
  `query ($f: CouponFilter = { group: ${literal} }) { me { coupons(filter: $f) { code } } }`,
  `{ me { ...F } } fragment F on Player { coupons(filter: { group: ${literal} }) { code } }`,
];

test.each([
  ...ATTACKS,
  `query A { me { id } } query B { player(playerUniqueId: ${literal}) { id } }`,
  'mutation ($input: DeletePlayerInput!) { deletePlayer(input: $input) { deletedPlayerUniqueId } }',
  'query ($id: ID!) { node(id: $id) { id } }',
  '{ me { ... on Node { id } } }',
  '{ __schema { queryType { name } } }',
  'query ($u: Boolean) { me { coupons(filter: { isUsed: $u }) { code } } }',
  '{ me { coupons(filter: { couponTypes: [CUSTOM] }) { code } } }',
  '{ b_a: me { a: referralLink } }',
  'query ($ids: [ID!]!) { players(playerUniqueIds: $ids) { id } }',
  'query ($s: Boolean!) { me { id @skip(if: $s) referralLink id } }',
  'query ($id: ID = 7) { player(playerUniqueId: $id) { id } }',
  `{ me { ${'...F '.repeat(26)} } } fragment F on Player { ${'id '.repeat(200)} }`,
  'query ($__proto__: ID!) { player(playerUniqueId: $__proto__) { id } }',
])('is not compiled: %s', (source) => {
  expect(compile(source)).toBeUndefined();
});

test('a text that would be code in a compiled operation is never executed by the gateway', async () => {
  // Given to the compiler itself, it runs.
  const compiled = compileQuery(schema, parse(ATTACKS[0] ?? ''));
  if (isCompiledQuery(compiled)) void compiled.query({}, {}, {});
  expect(Reflect.has(globalThis, 'attacked')).toBe(true);
  Reflect.deleteProperty(globalThis, 'attacked');

  const inVariables =
    'query ($id: ID!, $f: CouponFilter) { player(playerUniqueId: $id) { coupons(filter: $f) { code } } }';
  expect(compile(inVariables)).toBeDefined();
  for (const query of [...ATTACKS, inVariables]) {
    const variables = query === inVariables ? { id: ATTACK, f: { group: ATTACK } } : {};
    for (let time = 0; time < 3; time += 1) expect((await ask(both.gateway, query, variables)).status).toBe(200);
  }
  expect(Reflect.has(globalThis, 'attacked')).toBe(false);
});
