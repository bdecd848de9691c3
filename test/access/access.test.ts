import { describe, expect, test } from '@jest/globals';
import { buildSchema, type GraphQLObjectType, graphql } from 'graphql';
import { enforceAccess, rejectionReason, SCOPE_ALONE } from '../../src/access/rules.ts';
import type { Scope } from '../../src/config/scopes.ts';
import { NOBODY, player, startWithCallers, WHAT } from '../kit/callers.ts';
import { rows } from '../kit/rows.ts';
import {
  all,
  CALLERS,
  callsSeen,
  codes,
  expectWhatScopesAllow,
  objectTypes,
  operationOf,
  reached,
  sdl,
  ways,
} from './matrix.ts';

describe('every field', () => {
  test('is reached here; those of Query, Mutation and Player have a rule', () => {
    const names = objectTypes.map(({ name }) => name).filter((name) => !name.startsWith('__'));
    expect([...reached]).toEqual(expect.arrayContaining([...names, 'Playernode', 'Player_entities']));
    const ruled = ways.map((way) => way.at(-1)).filter((step) => /^(?:Query|Mutation|Player)$/.test(`${step?.type}`));
    expect(ruled.filter((step) => !step?.needs).map((step) => step?.text)).toEqual(['_service']);
  });

  test('returns 401 without a token', async () => {
    for (const way of ways) {
      const { status, data, errors } = await all.as(NOBODY, operationOf(way, 'p1'));
      expect([status, data, codes(errors)]).toEqual([401, undefined, [[undefined, 'UNAUTHENTICATED']]]);
    }
    expect(callsSeen()).toEqual([]);
  });

  test.each(CALLERS.usual)('returns $name what its scopes allow, else FORBIDDEN', expectWhatScopesAllow);
});

/* Ways around a rule: each by a player who may read players and referrals of everybody, or everything of its own. */
const noContacts = player('p1', 'players:read', 'referrals:read', 'players:write', 'events:write', 'any-player');
const noOthers = player('p1', 'players:read', 'referrals:read', 'coupons:read', 'contacts:read');

const aroundContacts = rows<[name: string, operation: string]>(`
  friends under an alias | { me { referredFriends(limit: 3) { nodes { displayName: email status: mobileNumber } } } }
  friends in a fragment, included | query ($yes: Boolean = true) { node(id: "p1") { ...F } } fragment F on Player { referredFriends { nodes { ... { email @include(if: $yes) } } } }
  a connection's nodes | { me { referredFriendsConnection(first: 3) { nodes { email } } } }
  a connection's edges | { me { referredFriendsConnection(first: 3) { edges { node { email } } } } }
  friends as players | { me { referredFriends(limit: 3) { nodes { player { attributes { email } } } } } }
  a player under an alias | { me: player(playerUniqueId: "p2") { playerUniqueId attributes { firstName: mobile } } }
  a list with the caller in it | { players(playerUniqueIds: ["p1", "p2"]) { attributes { email } } }
  the payload of an upsert | mutation { upsertPlayer(input: { playerUniqueId: "p2" }) { player { attributes { email } } } }
  the payload of events | mutation { trackEvents(input: { playerUniqueId: "p2", events: [{ name: "e" }] }) { player { attributes { mobile } } } }
  friends of friends | { me { referredFriends(limit: 2) { nodes { player { referredFriends(limit: 2) { nodes { email } } } } } } }
`);

/** Contacts of anybody, except the player p1's own. */
const CONTACTS = /(?:[pf](?!1@)\d+@example\.com)|\+1555\d+/;

test.each(aroundContacts)('contacts of %s need contacts:read', async (_name, operation) => {
  // Twice: what comes again is compiled, and the compiled form must refuse the same.
  for (let time = 0; time < 2; time += 1) {
    const { data, text, errors } = await all.as(noContacts, operation);
    expect(text).not.toMatch(CONTACTS);
    expect(errors.length).toBeGreaterThan(0);
    for (const { path, extensions } of errors) {
      expect([extensions['code'], path?.reduce((value, key) => value?.[key], data)]).toEqual(['FORBIDDEN', null]);
    }
    const { text: open, errors: none } = await all.as(player('p1', ...WHAT, 'any-player'), operation);
    expect(none).toEqual([]);
    expect(open).toMatch(/@example\.com|\+1555|\+44/);
  }
});

test('each refused field has an error at its own path, at most a hundred, and the rest of each friend arrives', async () => {
  const ask = (limit: number, fields: string) =>
    all.as(noContacts, `{ me { referredFriends(limit: ${limit}) { nodes { playerUniqueId ${fields} } } } }`);
  const { data, errors } = await ask(2, 'email mobileNumber');
  const nodes = ['me', 'referredFriends', 'nodes'];
  const paths = [0, 1].flatMap((index) => ['email', 'mobileNumber'].map((key) => [...nodes, index, key]));
  expect(errors.map(({ path }) => path)).toEqual(paths);
  expect(data.me.referredFriends.nodes[1]).toEqual({ playerUniqueId: 'f2', email: null, mobileNumber: null });
  const more = await ask(60, 'a: email b: email mobileNumber');
  expect(more.errors).toHaveLength(101);
  const message = '80 more errors of this operation are not listed.';
  expect(more.errors[100]).toEqual({ message, extensions: { code: 'FORBIDDEN' } });
  // Below a write, each of the hundred has its outcome, and nothing about repetition. What counts the others belongs to no write.
  const friends = 'referredFriends(limit: 60) { nodes { a: email b: email mobileNumber } }';
  const write = `mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { player { ${friends} } } }`;
  const { errors: told } = await all.as(noContacts, write);
  expect(told[99]?.extensions).toEqual({ code: 'FORBIDDEN', outcome: 'DONE' });
  expect(told[100]).toEqual({ message, extensions: { code: 'FORBIDDEN' } });
});

const aroundWhom = rows<[name: string, operation: string]>(`
  a node in a fragment | { ...Q } fragment Q on Query { me: node(id: "p2") { ... on Player { coupons { code } } } }
  a list | { players(playerUniqueIds: ["p1", "p2"]) { id } }
  a variable | query ($id: ID! = "p2") { player(playerUniqueId: "p1") { id } other: player(playerUniqueId: $id) { coupons { code } } }
  another case | { player(playerUniqueId: "P1") { id } }
  an escaped path | { player(playerUniqueId: "p1/../p2") { id } }
  several writes | mutation { a: trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a" }] }) { eventNames } b: deletePlayer(input: { playerUniqueId: "p2" }) { deletedPlayerUniqueId } }
`);

test.each(aroundWhom)('%s does not lead to what the token does not allow', async (_name, operation) => {
  for (let time = 0; time < 2; time += 1) {
    const { errors } = await all.as(noOthers, operation);
    expect(new Set(errors.map(({ extensions }) => extensions['code']))).toEqual(new Set(['FORBIDDEN']));
    expect(callsSeen().filter((call) => call !== 'GET /player p1')).toEqual([]);
  }
});

describe('input that needs a scope of its own', () => {
  const upsert = (attributes: object, ...scopes: Scope[]) =>
    all.as(
      player('p1', 'players:write', ...scopes),
      'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { serviceId } }',
      { input: { playerUniqueId: 'p1', attributes } },
    );
  const dates = { lastOrderDate: '2025-05-01', joinDate: '2025-05-01' };
  const figures = { ...dates, totalSpent: 10, totalOrders: 1, avgOrderAmount: 1, tags: [], custom: { tier: 'gold' } };

  const inputs = [
    ...Object.entries(figures).map(([name, value]) => [name, 'figures:write', value] as const),
    ...Object.entries({ email: 'a@b.example', mobile: '+49 170 1' }).map(
      ([name, value]) => [name, 'contacts:write', value] as const,
    ),
  ];

  test.each(inputs)('%s is refused as a whole without %s', async (name, scope, value) => {
    const { data, errors } = await upsert({ city: 'Ulm', [name]: value });
    expect([data, codes(errors)]).toEqual([{ upsertPlayer: null }, [[['upsertPlayer'], 'FORBIDDEN']]]);
    expect(errors[0]?.message).toBe(`The input "input.attributes.${name}" needs the scope "${scope}".`);
    expect(callsSeen()).toEqual([]);
    const { errors: none } = await upsert({ [name]: value }, scope);
    expect([none, callsSeen()]).toEqual([[], ['POST /player p1']]);
  });

  test('is refused in a literal too, and as null', async () => {
    const input = '{ playerUniqueId: "p1", attributes: { tags: null } }';
    const mutation = `mutation { upsertPlayer(input: ${input}) { serviceId } }`;
    const { errors } = await all.as(player('p1', 'players:write'), mutation);
    expect(codes(errors)).toEqual([[['upsertPlayer'], 'FORBIDDEN']]);
  });
});

const track = (...names: string[]) =>
  `trackEvents(input: { playerUniqueId: "p1", events: [${names.map((name) => `{ name: "${name}" }`)}] }) { eventNames }`;

test.each<[what: string, operation: string, calls: string[]]>([
  ['the events that it names', track('open_app', 'café +'), ['POST /event p1']],
  ['none of two when it names one', track('open_app', 'place_order'), []],
  ['none whose name begins like one that it names', track('open_app2'), []],
  ['none that is encoded like one that it names', track('caf%C3%A9%20%2B'), []],
  ['no empty list', track(), []],
  ['none when another field has one that it does not name', `a: ${track('open_app')} b: ${track('place_order')}`, []],
  ['none of another player', track('open_app').replace('p1', 'p2'), []],
])('a token for single events sends %s', async (_what, operation, calls) => {
  const shopper = player('p1', 'events:write:open_app', 'events:write:caf%C3%A9%20%2B');
  const { errors } = await all.as(shopper, `mutation { ${operation} }`);
  expect(new Set(errors.map(({ extensions }) => extensions['code']))).toEqual(new Set(calls[0] ? [] : ['FORBIDDEN']));
  expect(callsSeen()).toEqual(calls);
});

describe('twenty reports in one operation', () => {
  const report = (name: string, index: number) =>
    `a${index}: trackEvents(input: { playerUniqueId: "p1", events: $${name} }) { userErrors { code } }`;
  const reports = [...Array<string>(19).fill('events'), 'last'].map(report);
  const query = `mutation ($events: [EventInput!]!, $last: [EventInput!]!) { ${reports.join(' ')} }`;
  const shopper = player('p1', 'events:write:e0');
  const named = (...names: string[]) => names.map((name) => ({ name }));

  test('are all rejected when the token does not allow one event of the last', async () => {
    const { errors } = await all.as(shopper, query, { events: named('e0'), last: named('e1') });
    const others = Array(19).fill('Another event of this operation is not allowed, so none is sent.');
    const messages = [...others, 'This needs the scope "events:write:e1".'];
    expect(errors.map(({ message }) => message)).toEqual(messages);
    expect(callsSeen()).toEqual([]);
  });

  test('are rejected for a name that is not well-formed, which no scope can name', async () => {
    const { errors } = await all.as(shopper, query, { events: named('e0'), last: named('\ud800') });
    expect(new Set(errors.map(({ extensions }) => extensions['code']))).toEqual(new Set(['FORBIDDEN']));
    expect(errors.at(-1)?.message).toBe('This needs the scope "events:write".');
    expect(callsSeen()).toEqual([]);
  });

  test('with a repeated name are user errors, and stop no other report', async () => {
    const duplicate = { userErrors: [{ code: 'DUPLICATE' }] };
    const { data, errors } = await all.as(shopper, query, { events: named('e0', 'e0'), last: named('e0') });
    expect([errors, Object.values(data)]).toEqual([[], [...Array(19).fill(duplicate), { userErrors: [] }]]);
    expect(callsSeen()).toEqual(['POST /event p1']);
  });
});

describe('where ids of players are e-mail addresses', () => {
  const FRIEND = 'vera@friends.example';
  const friends = '{ id playerUniqueId displayName player { id attributes { city } } }';
  const query = `{ player(playerUniqueId: "p1") {
    referredFriends(limit: 2) { total nodes ${friends} }
    referredFriendsConnection(first: 2) { edges { cursor node { id displayName } } pageInfo { endCursor } }
  } }`;
  const scopes: Scope[] = ['players:read', 'referrals:read', 'any-player'];

  test.each(['opaque', 'personal'])(
    'PLAYER_IDS=%s decides whether friends are shown without contacts:read',
    async (ids) => {
      const personal = await startWithCallers({ PLAYER_IDS: ids });
      const friend = { playerUniqueId: FRIEND, displayName: 'Vera', status: 'active' };
      personal.upstream.on('GET /referrals', { json: { referredFriends: [friend], total: 1 } });
      personal.upstream.on('GET /player', { json: { playerAttributes: { city: 'Rome' } } });
      const { data, errors } = await personal.as(player('p1', ...scopes), query);
      const hidden = ids === 'personal';
      expect(codes(errors)).toEqual(
        ['playerUniqueId', 'player'].flatMap((field) =>
          hidden ? [[['player', 'referredFriends', 'nodes', 0, field], 'FORBIDDEN']] : [],
        ),
      );
      const { nodes } = data.player.referredFriends;
      const { edges } = data.player.referredFriendsConnection;
      expect([nodes[0].playerUniqueId, nodes[0].player?.id]).toEqual(hidden ? [null, undefined] : [FRIEND, FRIEND]);
      // Neither as it is nor decoded.
      const opaque = [nodes[0].id, edges[0].node.id, edges[0].cursor];
      const texts = opaque.flatMap((text) => [text, Buffer.from(text, 'base64').toString()]);
      expect(texts.join(' ')).not.toMatch(/vera|friends\.example/);
      expect(nodes[0].id).toBe(edges[0].node.id);
      const all = await personal.as(player('p1', ...scopes, 'contacts:read'), query);
      expect([all.errors, all.data.player.referredFriends.nodes[0].player.id]).toEqual([[], FRIEND]);
    },
  );

  test('the schema that clients see names the scopes of friends', async () => {
    const { gateway } = await startWithCallers({ PLAYER_IDS: 'personal' });
    const sdl = await (await fetch(new URL('/schema.graphql', gateway.url))).text();
    expect(sdl).toMatch(/identifier of the friend\. Needs `contacts:read`\."/);
    expect(sdl).toContain('Needs `players:read` and `contacts:read`.');
  });
});

test.each(
  rows<[extension: string, message: string]>(`
  extend type Query { x: String } | Query.x has no @access rule: say who may ask for it.
  extend type Mutation { x: String } | Mutation.x has no @access rule: say who may ask for it.
  extend type Player { x: String } | Player.x has no @access rule: say who may ask for it.
  extend type Query { x: String @access(scope: "players:raed") } | Query.x: @access names the unknown scope "players:raed".
  interface Named { displayName: String @access(scope: "players:read") } | Named.displayName: put @access on the fields of the implementing types.
  extend type Coupon { holder: Player } | Coupon.holder leads to a player and has no @access rule.
  union Anybody =|Coupon|Player extend type Coupon { holders: [Anybody] } | Coupon.holders leads to a player and has no @access rule.
  `),
)('a schema with %s cannot be started', (extension, message) => {
  expect(() => enforceAccess(buildSchema(`${sdl}\n${extension}`))).toThrow(message);
});

test('an input of a list needs its scope too, however deep it is', async () => {
  const schema = buildSchema(`${sdl}
    input Import { players: [[UpsertPlayerInput!]!]! }
    extend type Mutation { import(input: Import!): String @access(scope: "players:write") }`);
  enforceAccess(schema);
  const run = (attributes: string, ...scopes: Scope[]) =>
    graphql({
      schema,
      source: `mutation { import(input: { players: [[{ playerUniqueId: "p1" }, { playerUniqueId: "p2", attributes: { ${attributes} } }]] }) }`,
      contextValue: {
        caller: { name: 'a', key: 'a', scopes: new Set<Scope>(['players:write', ...scopes]), isServer: false },
      },
    });
  const [error] = (await run('tags: []')).errors ?? [];
  expect(error?.extensions).toMatchObject({ code: 'FORBIDDEN' });
  for (const { errors } of [await run('city: "Ulm"'), await run('tags: []', 'figures:write')])
    expect(errors).toBeUndefined();
});

test('a field that needs a second scope is never checked by its first alone, as compiled operations do', () => {
  const schema = buildSchema(
    `${sdl}\nextend type ReferredFriend { a: ID @access(scope: "referrals:read") b: ID @access(scope: "referrals:read") @friendId }`,
  );
  enforceAccess(schema, true);
  const { a, b } = (schema.getType('ReferredFriend') as GraphQLObjectType).getFields();
  expect([a?.extensions[SCOPE_ALONE], b?.extensions[SCOPE_ALONE]]).toEqual(['referrals:read', undefined]);
});

test('the description of a field says what it needs, also where there was none', () => {
  const schema = buildSchema(`${sdl}
    extend type ReferredFriend {
      a: ID @access(scope: "referrals:read")
      "The home." b: ID @access(scope: "contacts:read", exceptOwn: true)
    }`);
  enforceAccess(schema);
  const { a, b } = (schema.getType('ReferredFriend') as GraphQLObjectType).getFields();
  expect(a?.description).toBe('Needs `referrals:read`.');
  expect(b?.description).toBe("The home. Needs `contacts:read`, except for the caller's own player.");
});

test('a caller without a player does not own an object without an id', () => {
  const rule = { scope: 'contacts:read', exceptOwn: true, player: undefined, names: undefined } as const;
  const shop = { name: 'shop', key: 'shop', scopes: new Set<Scope>(['players:read']), isServer: false };
  expect(rejectionReason(rule, shop, {}, {})).toBe('This needs the scope "contacts:read".');
  expect(rejectionReason(rule, { ...shop, playerUniqueId: 'p1' }, { playerUniqueId: 'p1' }, {})).toBeUndefined();
});

test('only a list that must not be null, of an argument about players, is refused item by item', async () => {
  const rule = '@access(scope: "players:read", player: "ids")';
  const schema = buildSchema(`${sdl}
    extend type Query {
      one(ids: [ID!]): Int! ${rule}
      rows(ids: [ID!]): [[Int]] ${rule}
      each(ids: [ID!]): [Int]! ${rule}
      all: [Int!]! @access(scope: "players:read")
    }`);
  const resolved: Record<string, unknown> = { one: 1, rows: [[1], [2]], each: [1, 2], all: [1, 2] };
  const fields = schema.getQueryType()?.getFields() ?? {};
  for (const [name, value] of Object.entries(resolved)) if (fields[name]) fields[name].resolve = () => value;
  enforceAccess(schema);
  const caller = {
    name: 'a',
    key: 'a',
    playerUniqueId: 'own',
    scopes: new Set<Scope>(['players:read']),
    isServer: false,
  };
  const run = async (source: string) => await graphql({ schema, source, contextValue: { caller } });
  const own = await run('{ one(ids: ["own"]) rows(ids: ["own"]) each(ids: ["own", "own"]) all }');
  expect(own).toEqual({ data: resolved });
  const other = await run('{ rows(ids: ["own", "other"]) each(ids: ["own", "other"]) all }');
  expect(other.data).toEqual({ rows: null, each: [1, null], all: [1, 2] });
  expect(other.errors?.map(({ path }) => path?.join('.'))).toEqual(['rows', 'each.1']);
  expect((await run('{ one(ids: ["other"]) }')).errors?.map(({ path }) => path)).toEqual([['one']]);
});
