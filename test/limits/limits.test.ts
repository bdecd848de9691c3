import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
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

const rows: [limit: string, max: number, at: string, over: string][] = [
  ['tokens', 1_000, couponsOf(981), couponsOf(982)],
  [
    'depth',
    10,
    `{ me { ${friends(2, 'referredFriends(limit: 1) { nodes { status } }')} } }`,
    `{ me { ${friends(3, 'id')} } }`,
  ],
  ['aliases', 30, `{ me { ${repeat(30, (n) => `a${n}: id`)} } }`, `{ me { ${repeat(31, (n) => `a${n}: id`)} } }`],
  ['aliasLength', 128, `{ ${'a'.repeat(128)}: me { id } }`, `{ ${'a'.repeat(129)}: me { id } }`],
  ['rootFields', 20, `{ ${repeat(20, (n) => `a${n}: me { id }`)} }`, `{ ${repeat(21, (n) => `a${n}: me { id }`)} }`],
  [
    'complexity',
    25_000,
    `{ me { referredFriends(limit: 200) { nodes { player { ${repeat(92, () => 'id')} } } } ${'coupons { code }'} ${repeat(89, () => 'id')} } }`,
    `{ me { referredFriends(limit: 200) { nodes { player { ${repeat(92, () => 'id')} } } } ${'coupons { code }'} ${repeat(90, () => 'id')} } }`,
  ],
];

let all: Awaited<ReturnType<typeof startWithCallers>>;
beforeAll(async () => {
  all = await startWithCallers();
});
beforeEach(() => all.upstream.forget());
afterAll(() => all.close());

const ask = (query: string, variables?: Record<string, unknown>) => all.as(everybody, query, variables);

describe.each(rows)('%s: %d', (limit, max, at, over) => {
  const isSetting = !['aliases', 'aliasLength', 'rootFields'].includes(limit);
  test('is the default', () => {
    expect(loadConfig({}).limits).toMatchObject(isSetting ? { [limit]: max } : {});
  });

  test('at it an operation passes', async () => {
    const { status, errors } = await ask(at);
    // Friends as players cost many calls; that limit is told of while the operation runs, and is not meant here.
    // So has a list of coupon types, which here only makes a document of many tokens.
    const refused = errors.filter(
      ({ extensions: { limit, argument } }) => limit !== 'upstreamCalls' && argument !== 'filter.couponTypes',
    );
    expect({ status, refused }).toEqual({ status: 200, refused: [] });
    expect(all.upstream.calls().length).toBeGreaterThan(0);
  });

  test('one over it, it is refused, however often it is sent', async () => {
    for (let time = 0; time < 4; time += 1) {
      const { status, data, errors } = await ask(over);
      expect({ status, data, errors: errors.length }).toEqual({ status: 400, data: undefined, errors: 1 });
      expect(errors[0]?.extensions).toMatchObject({ code: 'OPERATION_TOO_COMPLEX', limit });
    }
    expect(all.upstream.calls()).toEqual([]);
  });
});

test('a fragment on a type behind an interface is measured as that type', async () => {
  const cost = async (query: string) => (await ask(query)).extensions['cost'];
  const inner = `referredFriends(limit: 200) { nodes { ${repeat(10, () => 'status')} } }`;
  const through = [
    `{ node(id: "p1") { ... on Player { ${inner} } } }`,
    `{ node(id: "p1") { ...F } } fragment F on Player { ${inner} }`,
    `{ node(id: "p1") { ... on Node { ... on Player { ${inner} } } } }`,
  ];
  const direct = await cost(`{ player(playerUniqueId: "p1") { ${inner} } }`);
  for (const query of through) expect(await cost(query)).toEqual(direct);
});

test('complexity counts fields, those of a list once for each member that may come', async () => {
  const cost = async (query: string, variables?: Record<string, unknown>) => {
    const { operations, ...size } = Object((await ask(query, variables)).extensions['cost']);
    expect(operations).toBe(1 + Math.floor(size.complexity / 500));
    return size;
  };
  expect(await cost('{ me { id } }')).toEqual({ complexity: 32, depth: 2 });
  expect(await cost('{ me { referredFriends(limit: 20) { nodes { status displayName } } } }')).toEqual({
    complexity: 131,
    depth: 4,
  });
  const byVariable = 'query ($n: Int! = 3) { me { referredFriends(limit: $n) { nodes { status } } } }';
  expect(await cost(byVariable)).toEqual({ complexity: 77, depth: 4 });
  expect(await cost(byVariable, { n: 100 })).toEqual({ complexity: 271, depth: 4 });
  expect(await cost(`query ($ids: [ID!]! = ${ids(7)}) { players(playerUniqueIds: $ids) { id } }`)).toEqual({
    complexity: 218,
    depth: 2,
  });
  expect(await cost('{ players(playerUniqueIds: 12345) { id } }')).toEqual({ complexity: 32, depth: 2 });
  expect(await cost('{ me { ...F ...F } } fragment F on Player { coupons { code } }')).toEqual({
    complexity: 111,
    depth: 3,
  });
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

test('50 players with every coupon in detail and 50 friends each are too much for one operation', async () => {
  const detailed = `{ id attributes { displayName } coupons { id code value product { productId productName } group { handle title url }
    options { capping minOrderValue } collections { collectionId collectionName } }
    referredFriends { total nodes { id displayName status } } }`;
  expect(await ask(players(detailed))).toMatchObject({
    status: 400,
    errors: [{ extensions: { code: 'OPERATION_TOO_COMPLEX', limit: 'complexity' } }],
  });
  expect(all.upstream.calls()).toEqual([]);
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
  const pages = async (variables: Record<string, unknown>) => {
    all.upstream.forget();
    const { extensions, errors } = await ask(document, variables);
    const [page] = all.upstream.calls().flatMap((call) => /page=\d+&limit=\d+/.exec(call) ?? []);
    return [page, Object(extensions['cost']).complexity, ...errors.map((error) => error.extensions['code'])];
  };
  // Several times each: the operation is interpreted first and compiled later.
  for (let round = 0; round < 4; round += 1) {
    expect(await pages({})).toEqual(['page=1&limit=3', 77]);
    expect(await pages({ page: 2, n: 5 })).toEqual(['page=2&limit=5', 81]);
    expect(await pages({ page: 2, n: 5 })).toEqual(['page=2&limit=5', 81]);
    expect(await pages({ page: 3, n: 5 })).toEqual(['page=3&limit=5', 81]);
    expect(await pages({ n: 200 })).toEqual(['page=1&limit=200', 471]);
    expect(await pages({ page: null, n: 5 })).toEqual(['page=1&limit=5', 81]);
  }
});

test('a player that is named 50 times causes the calls of one', async () => {
  const same = JSON.stringify(Array(50).fill('p1'));
  const pages = repeat(4, (n) => `r${n}: referredFriends(page: ${n + 1}, limit: 1) { count }`);
  const { errors } = await ask(`{ players(playerUniqueIds: ${same}) { referralLink ${pages} } }`);
  expect(errors).toEqual([]);
  expect(all.upstream.calls()).toHaveLength(5);
});

test('calls are counted with the defaults of variables that are left out', async () => {
  const players = (count: number) =>
    `query ($ids: [ID!]! = ${ids(count)}, $coupons: Boolean! = true) {
      players(playerUniqueIds: $ids) { referralLink coupons @include(if: $coupons) { code } } }`;
  const atLimit = await ask(players(50));
  expect([atLimit.status, atLimit.errors, all.upstream.calls().length]).toEqual([200, [], 100]);
});

test('what certainly needs more calls is refused before the first one', async () => {
  const players = (selection: string, count = 41) => `{ players(playerUniqueIds: ${ids(count)}) { ${selection} } }`;
  const small = await startWithCallers({ MAX_UPSTREAM_CALLS: '100' });
  const three = 'attributes { city } coupons { code } referredFriends(limit: 1) { total }';
  const { status, errors } = await small.as(everybody, players(three));
  expect([status, errors.map(({ extensions }) => extensions['limit'])]).toEqual([400, ['upstreamCalls']]);
  expect(small.upstream.calls()).toEqual([]);
  for (const query of [
    players(three, 33),
    // The same players under two aliases are read once.
    `{ a: ${players(three, 33).slice(1, -1)} b: ${players(three, 33).slice(1, -1)} }`,
    players(three.replace('coupons', 'coupons @skip(if: true)')),
  ]) {
    expect((await small.as(everybody, query)).errors).toEqual([]);
  }
  await small.close();
});

test('the caller is one player, by whatever field', async () => {
  const { status, errors } = await ask(
    `{ players(playerUniqueIds: ${ids(50)}) { referralLink coupons { code } } me { id coupons { code } } player(playerUniqueId: "p1") { id } node(id: "p1") { id } }`,
  );
  expect([status, errors, all.upstream.calls().length]).toEqual([200, [], 100]);
});

test('calls that nobody can know before are counted while the operation runs', async () => {
  const friendsAsPlayers =
    'query ($n: Int!) { me { displayed: attributes { displayName } referredFriends(limit: $n) { nodes { player { id } } } } }';
  const { errors: none } = await all.as(everybody, friendsAsPlayers, { n: 50 });
  expect(none).toEqual([]);
  expect(all.upstream.calls()).toHaveLength(52);

  const small = await startWithCallers({ MAX_UPSTREAM_CALLS: '52' });
  const atLimit = await small.as(everybody, friendsAsPlayers, { n: 50 });
  expect({ errors: atLimit.errors, calls: small.upstream.calls().length }).toEqual({ errors: [], calls: 52 });
  small.upstream.forget();
  const { status, data, errors } = await small.as(everybody, friendsAsPlayers, { n: 51 });
  expect(status).toBe(200);
  expect(data.me.displayed).toEqual({ displayName: 'Player p1' });
  expect(new Set(errors.map(({ extensions }) => `${extensions['code']} ${extensions['limit']}`))).toEqual(
    new Set(['OPERATION_TOO_COMPLEX upstreamCalls']),
  );
  // The fifty-one players are refused together, before the first of them is asked for.
  expect(small.upstream.calls()).toHaveLength(2);
  await small.close();
});

test.each([
  ['coupons', 'coupons { code }'],
  ['referred friends', 'referredFriends(limit: 5) { total }'],
])('where the calls do not suffice for all, players come before their %s', async (_what, related) => {
  const small = await startWithCallers({ MAX_UPSTREAM_CALLS: '60' });
  const query = `{ me { referredFriends(limit: 50) { nodes { player { referralLink ${related} } } } } }`;
  const { data, errors } = await small.as(everybody, query);
  const { nodes } = data.me.referredFriends;
  expect(nodes.filter(({ player }: { player: unknown }) => player)).toHaveLength(50);
  const [field] = related.split(/\W/);
  expect(new Set(errors.map(({ path }) => path?.at(-1)))).toEqual(new Set([field]));
  // The caller's friends, and the players that these are; nothing for whom nobody could be told.
  expect(small.upstream.calls()).toHaveLength(51);
  await small.close();
});

test('the introspection query passes where introspection is allowed, deep as it is', async () => {
  const { status, errors, data } = await ask(getIntrospectionQuery());
  expect({ status, errors }).toEqual({ status: 200, errors: [] });
  expect(data.__schema.types.length).toBeGreaterThan(20);
});

test('a body that is empty or cut is refused with words for each', async () => {
  const messageOf = async (body: string) => {
    const response = await fetch(`${all.gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: String(everybody.authorization) },
      body,
    });
    return [response.status, (await response.json()).errors[0].message];
  };
  expect(await messageOf('')).toEqual([400, 'The body is empty. Send the operation as JSON: {"query": "…"}.']);
  expect(await messageOf('{"query":"{ me')).toEqual([
    400,
    'The body is not valid JSON. Send the operation as JSON: {"query": "…"}.',
  ]);
});
