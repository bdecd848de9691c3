/*
 * graphql-js is the reference for the response to an operation. A compiled operation must give the same response, to the
 * byte, and so must the gateway over HTTP.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { getOperationAST, parse } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { createCaller } from '../../src/access/caller.ts';
import { SCOPES } from '../../src/config/scopes.ts';
import { signer } from '../kit/callers.ts';
import { callerWith, compile, executeBothWays, inOrder, OPEN, type Situation, schema } from '../kit/executed.ts';
import { IDS } from '../kit/fixed-rest.ts';
import { type Answer, COMPILED_AFTER, post, startBoth } from '../kit/gateway.ts';
import { type GeneratedOperation, generateOperations } from '../kit/generate.ts';
import { examples } from '../kit/schema.ts';
import { token, UNLIMITED } from '../kit/tokens.ts';

/** How many parts of fifty generated operations: all of them in the long tests. */
const PARTS = process.env['TEST_TIER'] === 'long' ? 10 : 2;

/** Another one makes other operations. */
const SEED = Number(process.env['ORACLE_SEED'] ?? 20_250_501);

const cursor = (...values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url');
const vocabulary = {
  values: {
    ID: IDS,
    Int: [1, 2, 3, 5, 200, 0, -1, 201],
    String: ['welcome', cursor(1, 'f2'), cursor(1, 'odd'), cursor(4, 'gone'), cursor(6, 'p1'), 'no cursor'],
    Boolean: [true, false],
    LanguageCode: ['en', 'pt-BR'],
  },
  wrong: {
    ID: [1.5, true, {}],
    Int: [2 ** 31, 1.5, '1', true],
    String: [1, false, ['x']],
    Boolean: ['true', 0],
    LanguageCode: ['!', 1, ''],
    CouponType: ['NONE', 1, 'free_shipping'],
  },
};

const SITUATIONS: readonly Situation[] = [
  OPEN,
  { ...OPEN, caller: callerWith(...SCOPES.filter((scope) => scope !== 'any-player')) },
  { ...OPEN, caller: callerWith('players:read', 'referrals:read', 'any-player') },
  { ...OPEN, caller: callerWith('players:read', 'coupons:read') },
  { ...OPEN, caller: createCaller('a client', SCOPES, false) },
  { ...OPEN, couponReads: 500 },
  { ...OPEN, maxUpstreamCalls: 3 },
];

/** A number of generated operations, always the same ones. */
function generated(seed: number, count: number, fits: (source: string) => boolean): GeneratedOperation[] {
  const found: GeneratedOperation[] = [];
  for (const operation of generateOperations({ schema, vocabulary, seed })) {
    if (fits(operation.source)) found.push(operation);
    if (found.length === count) break;
  }
  return found;
}

const queries = examples.filter(({ document }) => getOperationAST(parse(document))?.operation === 'query');

/**
 * What became of an operation. A compiled one that declines has done nothing, whatever its reason is: then the gateway
 * has graphql-js answer. In all other cases the two outcomes must be the same.
 */
async function compareBothWays({ source, variables }: GeneratedOperation, situation: Situation | undefined) {
  const { interpreted, compiled } = await executeBothWays(source, variables, situation);
  if (compiled?.answer === undefined) {
    expect({ source, calls: [], reported: [], ...compiled }).toEqual({ source, calls: [], reported: [] });
    return 'declined';
  }
  expect({ source, variables, ...compiled }).toEqual({ source, variables, ...interpreted });
  return compiled.answer.startsWith('{"errors"') ? 'with errors' : 'complete';
}

describe('a compiled operation is answered as graphql-js answers it', () => {
  const ids = ['demo-player', ...IDS.map(String)].map((id) => ({ playerUniqueId: id, playerUniqueIds: ['p1', id] }));

  test.each(queries)('$name', async ({ document }) => {
    for (const situation of SITUATIONS) {
      for (const variables of [{}, ...ids]) await compareBothWays({ source: document, variables }, situation);
    }
  });

  const became = { generated: 0, compiled: 0, declined: 0, 'with errors': 0, complete: 0 };
  const isCompiled = (source: string) => {
    // What touches the interface `Node` is left to graphql-js and does not count.
    if (!/\bnode\s*\(/.test(source)) became.generated += 1;
    return compile(source) !== undefined;
  };
  // In parts, so that each stays well within a test's time.
  test.each(Array.from({ length: PARTS }, (_, part) => part))('generated operations, part %d', async (part) => {
    for (const [index, operation] of generated(SEED + part, 50, isCompiled).entries()) {
      became.compiled += 1;
      became[await compareBothWays(operation, SITUATIONS[index % SITUATIONS.length])] += 1;
    }
  });

  test('as many as planned, a large share of all that were generated, and of every kind', () => {
    expect(became.compiled).toBe(50 * PARTS);
    expect(became.compiled / became.generated).toBeGreaterThan(0.2);
    expect(became.complete).toBeGreaterThan(15 * PARTS);
    expect(became['with errors']).toBeGreaterThan(5 * PARTS);
    expect(became.declined).toBeGreaterThan(PARTS - 1);
  });
});

/** What graphql-jit 0.8.9 writes into its source as `new Date(code)`. */
const ATTACK = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d(globalThis.attacked=true,0)';
const literal = JSON.stringify(ATTACK);

/** The attack wherever a document has room for a text; most of these are valid. */
const ATTACKS = [
  `{ player(playerUniqueId: ${literal}) { id } }`,
  `{ me { referredFriendsConnection(after: ${literal}) { totalCount } } }`,
  `{ players(playerUniqueIds: [${literal}]) { id } }`,
  `{ player(playerUniqueId: """${ATTACK}""") { id } }`,
  `{ player(playerUniqueId: "${ATTACK.replace('__', '\\u005f_')}") { id } }`,
  `query ($id: ID! = ${literal}) { player(playerUniqueId: $id) { id } }`,
  `query ($f: CouponFilter = { group: ${literal} }) { me { coupons(filter: $f) { code } } }`,
  `{ me { ...F } } fragment F on Player { coupons(filter: { group: ${literal} }) { code } }`,
  `{ me { id @include(if: ${literal}) } }`,
  `{ me { coupons(filter: { couponTypes: [${literal}] }) { code } } }`,
  `query A { me { id } } query B { player(playerUniqueId: ${literal}) { id } }`,
];

test.each([
  ...ATTACKS.filter((source) => getOperationAST(parse(source))),
  'mutation ($input: DeletePlayerInput!) { deletePlayer(input: $input) { deletedPlayerUniqueId } }',
  'query ($id: ID!) { node(id: $id) { id } }',
  '{ me { ... on Node { id } } }',
  '{ __schema { queryType { name } } }',
  'query ($u: Boolean) { me { coupons(filter: { isUsed: $u }) { code } } }',
  '{ me { coupons(filter: { couponTypes: [CUSTOM] }) { code } } }',
  '{ me { ...F } } fragment F on Player { __proto__: attributes { city } }',
  '{ b_a: me { a: referralLink } }',
  'query ($ids: [ID!]!) { players(playerUniqueIds: $ids) { id } }',
  'query ($s: Boolean!) { me { id @skip(if: $s) referralLink id } }',
  'query ($i: Boolean!) { a: me { ...F @include(if: $i) } } fragment F on Player { id }',
  'query ($id: ID = 7) { player(playerUniqueId: $id) { id } }',
  'query ($i: Boolean!) { me { ... @skip(if: $i) { ...G } ...F } } fragment G on Player { ...F } fragment F on Player { id }',
  `{ me { ${'...F '.repeat(26)} } } fragment F on Player { ${'id '.repeat(200)} }`,
  'query ($__proto__: ID!) { player(playerUniqueId: $__proto__) { id } }',
])('is not compiled: %s', (source) => {
  expect(compile(source)).toBeUndefined();
});

test.each([
  'query ($f: CouponFilter) { me { coupons(filter: $f) { code } } }',
  '{ me { coupons(filter: { usableNow: true, isExpired: false }) { code } } }',
  '{ me { constructor: id toString: referralLink then: __typename } }',
  '{ a: me { ...F } b: me { ...F } } fragment F on Player { id attributes { city } }',
])('is compiled: %s', (source) => {
  expect(compile(source)).toBeDefined();
});

test.each<[string, ...Record<string, unknown>[]]>([
  ['query ($n: Int = 5) { me { id referredFriends(limit: $n) { limit total } } }', { n: null }],
  ['query ($p: Int) { me { id referredFriends(page: $p) { page total } } }', { p: null }, {}],
  ['{ me { referredFriendsConnection(first: null) { edges { cursor node { id } } pageInfo { endCursor } } } }', {}],
  ['query ($n: Int! = 2) { me { id referredFriends(limit: $n) { limit } } }', ...[{}, { n: 3 }]],
])('has the same answer: %s %j', async (source, ...all) => {
  for (const variables of all) expect(await compareBothWays({ source, variables }, OPEN)).not.toBe('declined');
});

test.each([
  ['query ($v: CouponFilter) { me { coupons(filter: $v) { code } } }', []],
  ['query ($v: CouponFilter) { me { coupons(filter: $v) { code } } }', [{}]],
])('a list in place of an object is refused before execution: %s with %j', async (source, v) => {
  const nothing = { answer: undefined, calls: [], reported: [] };
  expect(await executeBothWays(source, { v })).toEqual({ interpreted: nothing, compiled: nothing });
});

describe('over HTTP', () => {
  let both: Awaited<ReturnType<typeof startBoth>>;
  beforeAll(async () => {
    both = await startBoth({ NODE_ENV: 'production', ...signer.env, ...UNLIMITED });
  });
  afterAll(() => both.close());

  const everything = `Bearer ${token(signer)}`;
  const own = `Bearer ${token(signer, { sub: 'p1', scope: 'players:read coupons:read referrals:read' })}`;
  const send = (body: object, authorization = everything) => post(both.gateway.url, body, { authorization });
  /** Sends an operation as often as it takes to be compiled, and once more. */
  async function repeat(body: object): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (let time = 0; time <= COMPILED_AFTER; time += 1) answers.push(await send(body));
    return answers;
  }

  test('the attack is one: given to the compiler, it runs', () => {
    const compiled = compileQuery(schema, parse(ATTACKS[0] ?? ''));
    if (!isCompiledQuery(compiled)) throw new Error('It does not compile.');
    void compiled.query({}, {}, {});
    expect(takeAttacked()).toBe(true);
  });

  test.each(ATTACKS)('a text that would be code is none in %s', async (query) => {
    const answers = await repeat({ query, ...(query.startsWith('query A') && { operationName: 'A' }) });
    for (const { status } of answers) expect([200, 400]).toContain(status);
    expect(takeAttacked()).toBe(false);
  });

  test('a text that would be code is none in a variable of a compiled operation', async () => {
    const query = 'query ($id: ID!, $f: CouponFilter) { player(playerUniqueId: $id) { coupons(filter: $f) { code } } }';
    const answers = await repeat({ query, variables: { id: ATTACK, f: { group: ATTACK } } });
    for (const { errors } of answers) expect(errors).toEqual([]);
    expect(compile(query)).toBeDefined();
    expect(takeAttacked()).toBe(false);
  });

  const cases = [
    ...queries.map(({ name, document }) => ({ name, query: document, variables: {} })),
    ...generated(SEED - 1, 15 * PARTS, (source) => compile(source) !== undefined).map(
      ({ source, variables }, index) => ({
        ...{ name: `generated ${index} of seed ${SEED}`, query: source, variables },
      }),
    ),
  ];
  test.each(cases)('has the same response before and after it is compiled: $name', async ({ query, variables }) => {
    const read = async (text: string) => {
      const body = { query: text, variables };
      return [comparable(await send(body)), comparable(await send(body, own))];
    };
    await repeat({ query, variables });
    // A text that was not seen before is executed by graphql-js.
    expect(await read(query)).toEqual(await read(`${query} # fresh`));
  });

  test.each(cases.slice(0, 20))('also when the REST service fails: $name', async ({ query, variables }) => {
    both.upstream.on('GET /coupon', { status: 400, json: {} });
    both.upstream.on('GET /referrals', { raw: 'no JSON' });
    const [first, ...others] = (await repeat({ query, variables })).map(comparable);
    for (const other of others) expect(other).toEqual(first);
    both.upstream.on('GET /coupon', 'usual');
    both.upstream.on('GET /referrals', 'usual');
  });
});

/** Whether the attack has run since it was last asked. */
function takeAttacked(): boolean {
  const attacked = Reflect.has(globalThis, 'attacked');
  Reflect.deleteProperty(globalThis, 'attacked');
  return attacked;
}

/** A response without what differs between two requests; its errors in the order of their paths. */
function comparable({ status, headers, text }: Answer) {
  const body = inOrder(JSON.parse(text.replace(/"requestId":"[^"]*"/, '"requestId":"…"')));
  return { status, type: headers.get('content-type'), body: JSON.stringify(body) };
}
