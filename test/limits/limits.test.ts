import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';
import { loadConfig } from '../../src/config/config.ts';
import { player, startWithCallers, WHAT } from '../kit/callers.ts';

/* Each limit: what lies exactly at it passes, what is one over it is refused before anything is asked of the REST service. */

const everybody = player('p1', ...WHAT, 'any-player');
const repeat = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => make(n)).join(' ');
/** A way from friend to friend, three levels each. */
const friends = (times: number, leaf: string): string =>
  times === 0 ? leaf : `referredFriends(limit: 1) { nodes { player { ${friends(times - 1, leaf)} } } }`;
const ids = (count: number) => `[${repeat(count, (n) => `"p${n}"`)}]`;

/** An operation of 19 tokens and as many more. */
const couponsOf = (types: number) =>
  `{ me { coupons(filter: { couponTypes: [${repeat(types, () => 'CUSTOM')}] }) { code } } }`;

const wide = (ids: number) =>
  `{ me { referredFriends(limit: 200) { nodes { player { ${repeat(92, () => 'id')} } } } coupons { code } ${repeat(ids, () => 'id')} } }`;
const some = (count: number, make: (index: number) => string) => `{ me { ${repeat(count, make)} } }`;
const roots = (count: number) => `{ ${repeat(count, (n) => `a${n}: me { id }`)} }`;

const LIMITS: [limit: string, max: number, at: string, over: string][] = [
  ['tokens', 1_000, couponsOf(981), couponsOf(982)],
  [
    'depth',
    10,
    `{ me { ${friends(2, 'referredFriends(limit: 1) { nodes { status } }')} } }`,
    `{ me { ${friends(3, 'id')} } }`,
  ],
  ['aliases', 30, some(30, (n) => `a${n}: id`), some(31, (n) => `a${n}: id`)],
  ['aliasLength', 128, `{ ${'a'.repeat(128)}: me { id } }`, `{ ${'a'.repeat(129)}: me { id } }`],
  ['rootFields', 20, roots(20), roots(21)],
  ['complexity', 25_000, wide(89), wide(90)],
  // The sum of the squares: 99² + 1, 100² + 1.
  ['repetitions', 10_000, some(99, () => 'attributes { city }'), some(100, () => 'attributes { city }')],
];

let all: Awaited<ReturnType<typeof startWithCallers>>;
/** Here an operation may have 60 REST calls. */
let small: typeof all;
beforeAll(async () => {
  all = await startWithCallers();
  small = await startWithCallers({ MAX_UPSTREAM_CALLS: '60' });
});
beforeEach(() => {
  all.upstream.forget();
  small.upstream.forget();
});
afterAll(() => Promise.all([all.close(), small.close()]));

const ask = (query: string, variables?: Record<string, unknown>) => all.as(everybody, query, variables);

test.each(LIMITS)(
  'at %s: %d an operation passes, over it it is refused, however often it is sent',
  async (limit, max, at, over) => {
    const isSetting = ['tokens', 'depth', 'complexity'].includes(limit);
    expect(loadConfig({}).limits).toMatchObject(isSetting ? { [limit]: max } : {});
    const { status, errors } = await ask(at);
    // What fails while the operation runs is not meant here: calls for friends as players, and a long list of coupon types.
    const refused = errors.filter(({ extensions: { limit, argument } }) => limit !== 'upstreamCalls' && !argument);
    expect({ status, refused }).toEqual({ status: 200, refused: [] });
    expect(all.upstream.calls().length).toBeGreaterThan(0);
    all.upstream.forget();
    for (let time = 0; time < 4; time += 1) {
      const answer = await ask(over);
      expect([answer.status, answer.data]).toEqual([400, undefined]);
      expect(answer.errors).toMatchObject([{ extensions: { code: 'OPERATION_TOO_COMPLEX', limit } }]);
    }
    expect(all.upstream.calls()).toEqual([]);
  },
);

const costOf = async (query: string, variables?: Record<string, unknown>) => {
  const { operations, complexity, depth } = Object((await ask(query, variables)).extensions['cost']);
  expect(operations).toBe(1 + Math.floor(complexity / 500));
  return [complexity, depth];
};

test('a fragment on a type behind an interface is measured as that type', async () => {
  const inner = `referredFriends(limit: 200) { nodes { ${repeat(10, () => 'status')} } }`;
  const direct = await costOf(`{ player(playerUniqueId: "p1") { ${inner} } }`);
  expect(await costOf(`{ node(id: "p1") { ... on Node { ... on Player { ${inner} } } } }`)).toEqual(direct);
  expect(await costOf(`{ node(id: "p1") { ...F } } fragment F on Player { ${inner} }`)).toEqual(direct);
});

test('a fragment that spreads itself is measured once, and refused by validation', async () => {
  const { status, errors } = await ask('{ me { ...F } } fragment F on Player { id ...F }');
  expect([status, errors[0]?.extensions['code']]).toEqual([400, 'GRAPHQL_VALIDATION_FAILED']);
});

const BY_VARIABLE = 'query ($n: Int! = 3) { me { referredFriends(limit: $n) { nodes { status } } } }';
test.each<[query: string, variables: Record<string, unknown>, complexity: number, depth: number]>([
  ['{ me { id } }', {}, 32, 2],
  ['{ me { referredFriends(limit: 20) { nodes { status displayName } } } }', {}, 131, 4],
  [BY_VARIABLE, {}, 77, 4],
  [BY_VARIABLE, { n: 100 }, 271, 4],
  [`query ($ids: [ID!]! = ${ids(7)}) { players(playerUniqueIds: $ids) { id } }`, {}, 218, 2],
  ['{ players(playerUniqueIds: 12345) { id } }', {}, 32, 2],
  ['{ me { ...F ...F } } fragment F on Player { coupons { code } }', {}, 111, 3],
])('%s with %j has its complexity, each item of a list counted', async (query, variables, complexity, depth) => {
  expect(await costOf(query, variables)).toEqual([complexity, depth]);
});

const EXAMPLES = new URL('../../schema/operations/', import.meta.url);
const MOBILE = readFileSync(new URL('01-mobile-screen.graphql', EXAMPLES), 'utf8');
/** The selection of the screen: a player with its coupons and friends. */
const SCREEN = MOBILE.slice(MOBILE.indexOf('{', MOBILE.indexOf('player(')), MOBILE.lastIndexOf('}'));
const players = (selection: string) => `{ players(playerUniqueIds: ${ids(50)}) ${selection} }`;

test.each([
  ['the first screen of a mobile app', MOBILE, { complexity: 205, operations: 1 }],
  ['the names of 50 players', players('{ id attributes { displayName } }'), { complexity: 2_101, operations: 5 }],
  ['the screens of 50 players', players(SCREEN), { complexity: 10_201, operations: 21 }],
])('%s costs what it says', async (_, query, cost) => {
  const { status, extensions } = await ask(query);
  expect([status, extensions['cost']]).toEqual([200, expect.objectContaining(cost)]);
});

test.each(readdirSync(EXAMPLES).filter((name) => name.endsWith('.graphql')))(
  'the example %s costs at most two operations',
  async (name) => {
    const path = new URL(name, EXAMPLES);
    const json = new URL(name.replace('.graphql', '.json'), EXAMPLES);
    const variables = existsSync(json) ? JSON.parse(readFileSync(json, 'utf8')) : {};
    const { extensions } = await ask(readFileSync(path, 'utf8'), variables);
    expect(Object(extensions['cost']).operations).toBeLessThanOrEqual(2);
  },
);

test('whether an operation is too large depends on the variables of its own request', async () => {
  const document = `query Wide($n: Int!) { me { referredFriends(limit: $n) { nodes { ${repeat(130, () => 'status')} } } } }`;
  for (const [n, status] of [3, 200, 200, 3, 3, 3, 200].map((n) => [n, n === 3 ? 200 : 400])) {
    const { errors, ...answer } = await ask(document, { n });
    const limits = errors.map(({ extensions }) => extensions['limit']);
    expect([n, answer.status, limits]).toEqual([n, status, n === 3 ? [] : ['complexity']]);
  }
});

test('an operation is measured and read ahead with the variables of its own request', async () => {
  const document =
    'query Page($page: Int, $n: Int! = 3) { me { referredFriends(page: $page, limit: $n) { nodes { status } } } }';
  // Several times: the operation is interpreted first and compiled later.
  for (let round = 0; round < 4; round += 1) {
    for (const [variables, call, complexity] of [
      [{}, 'page=1&limit=3', 77],
      [{ page: 2, n: 5 }, 'page=2&limit=5', 81],
      [{ n: 200 }, 'page=1&limit=200', 471],
      [{ page: null, n: 5 }, 'page=1&limit=5', 81],
    ] as const) {
      all.upstream.forget();
      const { extensions, errors } = await ask(document, variables);
      expect([errors, all.upstream.calls().join()]).toEqual([[], expect.stringContaining(call)]);
      expect(extensions['cost']).toMatchObject({ complexity });
    }
  }
});

test('a player that is named 50 times causes the calls of one', async () => {
  const same = JSON.stringify(Array(50).fill('p1'));
  const pages = repeat(4, (n) => `r${n}: referredFriends(page: ${n + 1}, limit: 1) { count }`);
  const query = `{ players(playerUniqueIds: ${same}) { referralLink ${pages} } }`;
  expect((await small.as(everybody, query)).errors).toEqual([]);
  expect(small.upstream.calls()).toHaveLength(5);
});

test('calls are counted with the defaults of variables that are left out', async () => {
  const query = `query ($ids: [ID!]! = ${ids(50)}, $coupons: Boolean! = true) {
      players(playerUniqueIds: $ids) { referralLink coupons @include(if: $coupons) { code } } }`;
  expect((await ask(query)).errors).toEqual([]);
  expect(all.upstream.calls()).toHaveLength(100);
});

test('the caller is one player, by whatever field', async () => {
  const { errors } = await ask(
    `{ players(playerUniqueIds: ${ids(50)}) { referralLink coupons { code } } me { id coupons { code } } player(playerUniqueId: "p1") { id } node(id: "p1") { id } }`,
  );
  expect([errors, all.upstream.calls().length]).toEqual([[], 100]);
});

test('calls that nobody can know before are counted while the operation runs', async () => {
  const friendsAsPlayers =
    'query ($n: Int!) { me { attributes { displayName } referredFriends(limit: $n) { nodes { player { id } } } } }';
  const atLimit = await small.as(everybody, friendsAsPlayers, { n: 58 });
  expect([atLimit.errors, small.upstream.calls().length]).toEqual([[], 60]);
  small.upstream.forget();
  const { status, data, errors } = await small.as(everybody, friendsAsPlayers, { n: 59 });
  expect([status, data.me.attributes]).toEqual([200, { displayName: 'Player p1' }]);
  for (const { extensions } of errors) {
    expect(extensions).toMatchObject({ code: 'OPERATION_TOO_COMPLEX', limit: 'upstreamCalls' });
  }
  // The players are refused together, before the first of them is asked for.
  expect([errors.length, small.upstream.calls().length]).toEqual([59, 2]);
});

test.each([
  ['coupons', 'coupons { code }'],
  ['referredFriends', 'referredFriends(limit: 5) { total }'],
])('where the calls do not suffice for all, players come before their %s', async (field, related) => {
  const query = `{ me { referredFriends(limit: 50) { nodes { player { referralLink ${related} } } } } }`;
  const { data, errors } = await small.as(everybody, query);
  expect(data.me.referredFriends.nodes.filter((node: { player: unknown }) => node.player)).toHaveLength(50);
  expect(new Set(errors.map(({ path }) => path?.at(-1)))).toEqual(new Set([field]));
  // The caller's friends, and the players that these are.
  expect(small.upstream.calls()).toHaveLength(51);
});

test('the introspection query passes where introspection is allowed, deep as it is', async () => {
  const { status, errors, data } = await ask(getIntrospectionQuery());
  expect({ status, errors }).toEqual({ status: 200, errors: [] });
  expect(data.__schema.types.length).toBeGreaterThan(20);
});

test.each([
  ['', 'The body is empty.'],
  ['{"query":"{ me', 'The body is not valid JSON.'],
])('the body %j is refused with words of its own', async (body, problem) => {
  const headers = { 'content-type': 'application/json', authorization: String(everybody.authorization) };
  const response = await fetch(`${all.gateway.url}/graphql`, { method: 'POST', headers, body });
  const [{ message }] = (await response.json()).errors;
  expect([response.status, message]).toEqual([400, `${problem} Send the operation as JSON: {"query": "…"}.`]);
});
