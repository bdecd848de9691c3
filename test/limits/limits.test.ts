import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { beforeEach, expect, test } from '@jest/globals';
import { player, startWithCallers, WHAT } from '../kit/callers.ts';

/* Each limit: what lies exactly at it passes, what is one over it is refused before anything is asked of the REST service. */

const everybody = player('p1', ...WHAT, 'any-player');
const repeat = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => make(n)).join(' ');
/** A way from friend to friend, three levels each. */
const friends = (times: number, leaf: string): string =>
  times === 0 ? leaf : `referredFriends(limit: 1) { nodes { player { ${friends(times - 1, leaf)} } } }`;
const FRIEND = 'referredFriends(limit: 1) { nodes { status } }';
const ids = (count: number) => `[${repeat(count, (n) => `"p${n}"`)}]`;

/** An operation of 19 tokens and as many more. */
const couponsOf = (types: number) =>
  some(1, () => `coupons(filter: { couponTypes: [${'CUSTOM '.repeat(types)}] }) { code }`);
/** Fields that weigh one each, neither of them very often. */
const leaves = (count: number) => repeat(count, (n) => (n % 2 ? 'id' : '__typename'));
const wide = (count: number) =>
  `{ me { referredFriends(limit: 200) { nodes { player { ${leaves(92)} } } } coupons { code } ${leaves(count)} } }`;
const some = (count: number, make: (index: number) => string) => `{ me { ${repeat(count, make)} } }`;

const LIMITS: [limit: string, max: number, at: string, over: string][] = [
  ['tokens', 1_000, couponsOf(981), couponsOf(982)],
  ['depth', 10, some(1, () => friends(2, FRIEND)), some(1, () => friends(3, 'id'))],
  ['aliases', 30, some(30, (n) => `a${n}: id`), some(31, (n) => `a${n}: id`)],
  ['complexity', 25_000, wide(89), wide(90)],
  // The sum of the squares: 99² + 1, 100² + 1.
  ['repetitions', 10_000, some(99, () => 'attributes { city }'), some(100, () => 'attributes { city }')],
  ['repetitions', 10_000, some(99, () => 'id'), some(99, () => '... { id } ... on Player { id }')],
];

const all = await startWithCallers();
const small = await startWithCallers({ MAX_UPSTREAM_CALLS: '60' });
beforeEach(() => {
  all.upstream.forget();
  small.upstream.forget();
});

const ask = (query: string, variables?: Record<string, unknown>) => all.as(everybody, query, variables);

test.each(LIMITS)(
  'at %s: %d an operation passes, over it it is refused, however often it is sent',
  async (limit, _max, at, over) => {
    const { status, errors } = await ask(at);
    // What fails while the operation runs is not meant: calls for friends as players, and a long list of coupon types.
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

const TRACK =
  'mutation ($input: TrackEventsInput!) { a: trackEvents(input: $input) { __typename } b: trackEvents(input: $input) { __typename } }';
/** The variables of an event with so many members; there are seven values more. */
const report = (members: number) => {
  const metadata = Object.fromEntries(Array.from({ length: members }, (_, n) => [`m${n}`, n]));
  return { input: { playerUniqueId: 'p1', events: [{ name: 'e', metadata }] } };
};

test.each<[query: string, variables: Record<string, unknown>, complexity: number, depth: number]>([
  ['{ me { id } }', {}, 32, 2],
  ['{ me { referredFriends(limit: 20) { nodes { status displayName } } } }', {}, 131, 4],
  [`query ($ids: [ID!]! = ${ids(7)}) { players(playerUniqueIds: $ids) { id } }`, {}, 218, 2],
  ['{ players(playerUniqueIds: 12345) { id } }', {}, 32, 2],
  ['{ me { ...F ...F } } fragment F on Player { coupons { code } }', {}, 111, 3],
  ['{ me { attributes { tags } } }', {}, 62, 3],
  ['{ __schema { types { name } } }', {}, 101, 1],
  [TRACK, report(97), 1_072, 2],
  [TRACK, report(1), 1_002, 2],
])('%s with %j has its complexity, each item of a list counted', async (query, variables, complexity, depth) => {
  expect(await costOf(query, variables)).toEqual([complexity, depth]);
});

const EXAMPLES = new URL('../../schema/operations/', import.meta.url);
test.each(readdirSync(EXAMPLES).filter((name) => name.endsWith('.graphql')))(
  'the example %s costs at most two operations',
  async (name) => {
    const json = new URL(name.replace('.graphql', '.json'), EXAMPLES);
    const variables = existsSync(json) ? JSON.parse(readFileSync(json, 'utf8')) : {};
    const { extensions } = await ask(readFileSync(new URL(name, EXAMPLES), 'utf8'), variables);
    expect(Object(extensions['cost']).operations).toBeLessThanOrEqual(2);
  },
);

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

const three = 'attributes { city } coupons { code } referredFriends(limit: 1) { total }';
const players = (count: number, selection = three) => `players(playerUniqueIds: ${ids(count)}) { ${selection} }`;
const SAME = JSON.stringify(Array(50).fill('p1'));
const pages = repeat(4, (n) => `r${n}: referredFriends(page: ${n + 1}, limit: 1) { count }`);
test.each<[what: string, selection: string, calls: number]>([
  ['20 players with three calls each', players(20), 60],
  ['the same players under two aliases', `a: ${players(20)} b: ${players(20)}`, 60],
  ['21 players with a field that is skipped', players(21, three.replace('coupons', 'coupons @skip(if: true)')), 42],
  ['50 players whose coupons say whether they exist', players(50, 'id coupons { code }'), 50],
  ['a player that is named 50 times', `players(playerUniqueIds: ${SAME}) { referralLink ${pages} }`, 5],
  [
    'the caller by four fields',
    `${players(20)} me { ${three} } player(playerUniqueId: "p1") { id } node(id: "p1") { id }`,
    60,
  ],
])('%s cause the calls of each player once, at most the 60 that are allowed', async (_what, selection, calls) => {
  const { errors } = await small.as(everybody, `{ ${selection} }`);
  expect([errors, small.upstream.calls().length]).toEqual([[], calls]);
});

test('what certainly needs more calls is refused before the first one', async () => {
  const { status, errors } = await small.as(everybody, `{ ${players(21)} }`);
  expect([status, errors.map(({ extensions }) => extensions['limit'])]).toEqual([400, ['upstreamCalls']]);
  expect(small.upstream.calls()).toEqual([]);
  // Which players variables in a list name differs from request to request.
  const ids = Array.from({ length: 31 }, (_, i) => `v${i}`);
  const named = ids.map((id) => `$${id}`);
  const query = `query (${named.map((name) => `${name}: ID!`)}) { players(playerUniqueIds: [${named}]) { referralLink coupons { code } } }`;
  const send = (idOf: (name: string) => string) =>
    small.as(everybody, query, Object.fromEntries(ids.map((name) => [name, idOf(name)])));
  expect([(await send(String)).status, (await send(() => 'p1')).status]).toEqual([400, 200]);
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

test.each([
  ['', 'The body is empty.'],
  ['{"query":"{ me', 'The body is not valid JSON.'],
])('the body %j is refused with words of its own', async (body, problem) => {
  const headers = { 'content-type': 'application/json', authorization: String(everybody.authorization) };
  const response = await fetch(`${all.gateway.url}/graphql`, { method: 'POST', headers, body });
  const [{ message }] = (await response.json()).errors;
  expect([response.status, message]).toEqual([400, `${problem} Send the operation as JSON: {"query": "…"}.`]);
});
