import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import { enforceAccess } from '../../src/access/enforce.ts';
import type { Scope } from '../../src/config/scopes.ts';
import {
  client,
  type Identity,
  MAPPED,
  NOBODY,
  player,
  startWithCallers,
  type TestCaller,
  WHAT,
} from '../kit/callers.ts';
import { rows } from '../kit/rows.ts';
import { SCHEMA_DIRECTORY } from '../kit/schema.ts';

/*
 * Every field of the schema × every kind of caller. What must be asked of a caller stands here once more, by hand, so that
 * a rule that is lost from the schema is missed.
 */

/** Each field with a rule: scope; whose player; the call behind it; how its arguments are written for the player `ID`. */
const NEEDS = new Map(
  rows<[name: string, scope: Scope, of: string, call: string, args: string]>(`
  Query.node | players:read | whom | GET /player | (id: "ID")
  Query._entities | players:read | whom | GET /player | (representations: [{ __typename: "Player", id: "ID" }])
  Query.player | players:read | whom | GET /player | (playerUniqueId: "ID")
  Query.players | players:read | whom | GET /player | (playerUniqueIds: ["ID"])
  Query.me | players:read | | GET /player |
  Mutation.upsertPlayer | players:write | whom | POST /player | (input: { playerUniqueId: "ID", attributes: { city: "London" } })
  Mutation.deletePlayer | players:delete | whom | DELETE /player | (input: { playerUniqueId: "ID" })
  Mutation.trackEvents | events:write | whom | POST /event | (input: { playerUniqueId: "ID", events: [{ name: "visit" }] })
  Player.id | players:read | | |
  Player.playerUniqueId | players:read | | |
  Player.attributes | players:read | | |
  Player.referralLink | players:read | | |
  Player.coupons | coupons:read | whom | GET /coupon |
  Player.referredFriends | referrals:read | whom | GET /referrals | (limit: 1)
  Player.referredFriendsConnection | referrals:read | whom | GET /referrals | (first: 1)
  PlayerAttributes.email | contacts:read | exceptOwn | |
  PlayerAttributes.mobile | contacts:read | exceptOwn | |
  ReferredFriend.email | contacts:read | | |
  ReferredFriend.mobileNumber | contacts:read | | |
  ReferredFriend.player | players:read | whom | GET /player |
  UpsertPlayerPayload.player | players:read | whom | GET /player |
  TrackEventsPayload.player | players:read | whom | GET /player |
`).map(([name, scope, of, call, args = '']) => [name, { scope, of, call, args }]),
);

interface Step {
  type: GraphQLObjectType;
  field: GraphQLField<unknown, unknown>;
  /** Leaves without a rule that stand beside it: they share its fate, so they are asked for together. */
  beside: readonly string[];
  /** The type behind the interface that it returns, for the next step. */
  on?: GraphQLObjectType;
}

/** Fields that tell the schema; test/federation/subgraph.test.ts asks for them. */
const INTROSPECTION = 'Query._service';

/** A list that must not be null is refused by its entries. */
const refusedByEntries = (step: Step | undefined) => step !== undefined && nameOf(step) === 'Query._entities';

/** All of the schema, with what federation adds to it. */
const sdl = readdirSync(SCHEMA_DIRECTORY)
  .filter((name) => name.endsWith('.graphql'))
  .concat('federation/subgraph.graphql')
  .map((name) => readFileSync(new URL(name, SCHEMA_DIRECTORY), 'utf8'))
  .join('\n');
const schema = buildSchema(sdl);
const nameOf = ({ type, field }: Step) => `${type.name}.${field.name}`;
const isList = ({ field: { type } }: Step) => isListType(getNullableType(type));

/**
 * A shortest way from the top to each field of each type, queries first. Through an interface the types behind it are gone
 * through once more, to every field that has a rule.
 */
function waysToEveryField(): Step[][] {
  const ways: Step[][] = [];
  const seen = new Set<string>();
  const waiting: [GraphQLObjectType, Step[]][] = [schema.getQueryType(), schema.getMutationType()].map((type) => {
    if (!type) throw new Error('The schema has lost a root.');
    return [type, []];
  });
  for (const [type, above] of waiting) {
    const through = above.find(({ on }) => on)?.field.name;
    const key = `${type.name} ${through}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const fields = Object.values(type.getFields());
    const leaves = fields.filter(
      (field) => isLeafType(getNamedType(field.type)) && !NEEDS.get(`${type.name}.${field.name}`),
    );
    const beside = leaves.slice(1).map(({ name }) => name);
    for (const field of fields) {
      if (beside.includes(field.name)) continue;
      const way = [...above, { type, field, beside: field === leaves[0] ? beside : [] }];
      if (!through || NEEDS.get(`${type.name}.${field.name}`)) ways.push(way);
      const inner = getNamedType(field.type);
      if (isObjectType(inner)) waiting.push([inner, way]);
      else if (isAbstractType(inner)) {
        for (const on of schema.getPossibleTypes(inner)) {
          waiting.push([on, [...above, { type, field, beside: [], on }]]);
        }
      }
    }
  }
  return ways;
}

function operationOf(way: Step[], id: string): string {
  const last = way.at(-1);
  const leaf = last && isLeafType(getNamedType(last.field.type)) ? '' : ' { __typename }';
  const selection = way.reduceRight(
    (inner, step) =>
      ` { ${[...step.beside, ''].join(' ')}${step.field.name}${NEEDS.get(nameOf(step))?.args.replace('ID', id) ?? ''}${step.on ? ` { ... on ${step.on}${inner} }` : inner} }`,
    leaf,
  );
  return `${way[0]?.type.name === 'Mutation' ? 'mutation' : 'query'}${selection}`;
}

interface Outcome {
  calls: string[];
  /** The index of the step that is refused; undefined when the whole way is open. */
  refused?: number;
  /** The step that is null without an error: `me` of a caller that is no player. */
  nobody?: true;
}

function isAllowed(step: Step, caller: TestCaller, about: string): boolean {
  const need = NEEDS.get(nameOf(step));
  const isOwn = caller.sub === about;
  if (!need || (need.of === 'exceptOwn' && isOwn)) return true;
  return caller.scopes.has(need.scope) && (need.of !== 'whom' || isOwn || caller.scopes.has('any-player'));
}

/** What must come of it when a caller asks for a field of a player. */
function expected(way: Step[], caller: TestCaller, asked: string): Outcome {
  const calls: string[] = [];
  let about = asked;
  for (const [index, step] of way.entries()) {
    const name = nameOf(step);
    if (name === 'Query.me') about = caller.sub ?? '';
    if (name === 'ReferredFriend.player') about = 'f1';
    if (!isAllowed(step, caller, about)) return { calls, refused: index };
    if (name === 'Query.me' && caller.sub === undefined) return { calls, nobody: true };
    const call = NEEDS.get(name)?.call;
    const next = way[index + 1];
    const isPlayer = (step.on ?? getNamedType(step.field.type)).name === 'Player';
    // The player is not read where the next field's own call tells whether it exists.
    const isLeftOut = isPlayer && next && NEEDS.get(nameOf(next))?.call && isAllowed(next, caller, about);
    if (call && !isLeftOut) calls.push(`${call} ${about}`);
  }
  return { calls };
}

/** Where the refusal of a step is told: at the innermost list around it, else at the field itself. */
function pathOf(way: Step[], refused: number): (string | number)[] {
  return way.slice(0, refused + 1).flatMap((step, index) => {
    const isEntry = index < refused ? isList(step) : refusedByEntries(step);
    return isEntry ? [step.field.name, 0] : [step.field.name];
  });
}

/** The value at the end of a way; the first entry of lists. */
function valueAt(data: unknown, way: Step[]): unknown {
  return way.reduce<unknown>((at, { field }) => {
    const object = Array.isArray(at) ? at[0] : at;
    return object == null ? object : Reflect.get(object, field.name);
  }, data);
}

type Gateway = Awaited<ReturnType<typeof startWithCallers>>;
async function start(identity?: Identity): Promise<Gateway> {
  const started = await startWithCallers({ FEDERATION: 'true' }, undefined, identity);
  started.upstream.on('POST /player', ({ body }) => ({
    json: { playerUniqueId: Reflect.get(Object(body), 'playerUniqueId') },
  }));
  started.upstream.on('DELETE /player', { raw: '' });
  // A known document is not limited as a new one, whoever sends it.
  const server = client(...WHAT, 'any-player');
  const operations = ways.flatMap((way) => ['p1', 'p2'].map((id) => operationOf(way, id)));
  while (operations.length > 0) await Promise.all(operations.splice(0, 20).map((one) => started.as(server, one)));
  return started;
}

let all: Gateway;
let mapped: Gateway;
beforeAll(async () => {
  [all, mapped] = await Promise.all([start(), start(MAPPED)]);
}, 60_000);
beforeEach(() => all.upstream.forget());
afterAll(async () => {
  await all.close();
  await mapped.close();
});

const callsSeen = (upstream = all.upstream) =>
  upstream.requests.map(
    ({ endpoint, playerUniqueId, body }) =>
      `${endpoint} ${playerUniqueId ?? Reflect.get(Object(body), 'playerUniqueId')}`,
  );
const codes = (errors: { path?: unknown; extensions: Record<string, unknown> }[]) =>
  errors.map(({ path, extensions }) => [path, extensions['code']]);

const ways = waysToEveryField();
const throughAbstract = ways.filter((way) => way.some(({ on }) => on));

const callers: TestCaller[] = [
  player('p1'),
  ...WHAT.map((scope) => player('p1', scope)),
  player('p1', ...WHAT),
  player('p1', 'any-player'),
  ...WHAT.map((scope) => player('p1', scope, 'any-player')),
  player('p1', ...WHAT, 'any-player'),
  player('p1', 'players:read', 'referrals:read'),
  player('f1', ...WHAT),
  client(),
  client('any-player'),
  client(...WHAT),
  ...WHAT.map((scope) => client(scope)),
  ...WHAT.map((scope) => client(scope, 'any-player')),
  client(...WHAT, 'any-player'),
];

describe('every field', () => {
  test('of the roots and of a player says here who may ask for it', () => {
    const ruled = ways
      .map((way) => way.at(-1))
      .filter((step) => step && /^(?:Query|Mutation|Player)$/.test(step.type.name));
    expect(ruled.flatMap((step) => (step && !NEEDS.get(nameOf(step)) ? [nameOf(step)] : []))).toEqual([INTROSPECTION]);
    const asked = ways
      .filter((way) => !way.some(({ on }) => on))
      .reduce((sum, way) => sum + 1 + (way.at(-1)?.beside.length ?? 0), 0);
    const inAll = Object.values(schema.getTypeMap()).filter(
      (type) => isObjectType(type) && !type.name.startsWith('__'),
    );
    expect(asked).toBe(
      inAll.reduce((sum, type) => sum + (isObjectType(type) ? Object.keys(type.getFields()).length : 0), 0),
    );
  });

  test.each(['node', '_entities'])('of a player is reached through %s too', (through) => {
    const throughIt = throughAbstract.filter((way) => way.some(({ field, on }) => on && field.name === through));
    const reached = new Set(throughIt.map((way) => way.at(-1)).map((step) => step && nameOf(step)));
    const ruled = [...NEEDS.keys()].filter((name) => !/^(?:Query|Mutation|\w+Payload)\./.test(name));
    expect(ruled.filter((name) => !reached.has(name))).toEqual([]);
  });

  test('returns 401 without a token', async () => {
    for (const way of ways) {
      const { status, data, errors } = await all.as(NOBODY, operationOf(way, 'p1'));
      expect({ status, data, codes: codes(errors) }).toEqual({
        status: 401,
        data: undefined,
        codes: [[undefined, 'UNAUTHENTICATED']],
      });
    }
    expect(all.upstream.calls()).toEqual([]);
  });

  test.each(callers)('returns $name what its scopes allow, else FORBIDDEN', (caller) => expectAccess(all, caller));

  const ofJwt = callers.filter(({ sub }) => sub !== undefined);
  test.each(ofJwt)('returns $name what its scopes allow, with mapped claims', (caller) => expectAccess(mapped, caller));

  async function expectAccess({ upstream, as }: Gateway, caller: TestCaller): Promise<void> {
    for (const way of ways) {
      for (const id of ['p1', 'p2']) {
        const operation = operationOf(way, id);
        upstream.forget();
        const { status, data, errors } = await as(caller, operation);
        const { calls, refused, nobody } = expected(way, caller, id);
        const refusedAt = refused === undefined ? [] : [[pathOf(way, refused), 'FORBIDDEN']];
        expect({ operation, status, errors: codes(errors), calls: callsSeen(upstream).sort() }).toEqual({
          operation,
          status: 200,
          errors: refusedAt,
          calls: [...calls].sort(),
        });
        if (refused !== undefined) {
          const value = valueAt(data, way.slice(0, refused + 1));
          expect(value).toEqual(refusedByEntries(way[refused]) ? [null] : null);
        } else if (nobody) expect(data).toEqual({ me: null });
      }
    }
  }

  test('returns a value where it is allowed', async () => {
    for (const way of ways.filter((steps) => NEEDS.get(nameOf(steps.at(-1) as Step)))) {
      const { data } = await all.as(player('p1', ...WHAT, 'any-player'), operationOf(way, 'p1'));
      expect([operationOf(way, 'p1'), valueAt(data, way) ?? null]).not.toEqual([operationOf(way, 'p1'), null]);
    }
  });
});

/* Ways around a rule that do not lead around it: each is asked by a player who may read players and referrals of everybody. */
const noContacts = player('p1', 'players:read', 'referrals:read', 'players:write', 'events:write', 'any-player');
const noOthers = player('p1', 'players:read', 'referrals:read', 'coupons:read', 'contacts:read');

const FRIENDS = 'player(playerUniqueId: "p1") { referredFriends(limit: 3)';
const aroundContacts = rows<[name: string, operation: string, path: string]>(`
  friends under an alias | { ${FRIENDS} { nodes { displayName: email status: mobileNumber } } } } | player.referredFriends.nodes
  friends in a fragment | { ${FRIENDS} { nodes { ...F } } } } fragment F on ReferredFriend { email } | player.referredFriends.nodes
  friends in an inline fragment | { ${FRIENDS} { ... { nodes { ... on ReferredFriend { ... { email } } } } } } } | player.referredFriends.nodes
  friends, included | query ($yes: Boolean = true) { ${FRIENDS} { nodes { email @include(if: $yes) } } } } | player.referredFriends.nodes
  a connection's nodes | { me { referredFriendsConnection(first: 3) { nodes { email } } } } | me.referredFriendsConnection.nodes
  a connection's edges | { me { referredFriendsConnection(first: 3) { edges { node { email } } } } } | me.referredFriendsConnection.edges
  friends as players | { ${FRIENDS} { nodes { player { attributes { email } } } } } } | player.referredFriends.nodes
  a node | { node(id: "p2") { ... on Node { ... on Player { attributes { displayName: email } } } } } | node.attributes.displayName
  a node's friends | { node(id: "p1") { ...F } } fragment F on Player { referredFriends(limit: 3) { nodes { email } } } | node.referredFriends.nodes
  somebody else under an alias | { me: player(playerUniqueId: "p2") { playerUniqueId attributes { firstName: mobile } } } | me.attributes.firstName
  a list with the caller in it | { players(playerUniqueIds: ["p1", "p2"]) { attributes { email } } } | players
  the payload of an upsert | mutation { upsertPlayer(input: { playerUniqueId: "p2" }) { player { attributes { email } } } } | upsertPlayer.player.attributes.email
  the payload of events | mutation { trackEvents(input: { playerUniqueId: "p2", events: [{ name: "e" }] }) { player { attributes { mobile } } } } | trackEvents.player.attributes.mobile
  friends of friends | { me { referredFriends(limit: 2) { nodes { player { referredFriends(limit: 2) { nodes { email } } } } } } } | me.referredFriends.nodes.player.referredFriends.nodes
`);

/** Contacts of anybody, except the player p1's own. */
const CONTACTS = /(?:[pf](?!1@)\d+@example\.com)|\+1555\d+/;

test.each(aroundContacts)('contacts of %s need contacts:read', async (_name, operation, path) => {
  // Twice: what comes again is compiled, and the compiled form must refuse the same.
  for (let time = 0; time < 2; time += 1) {
    const { data, text, errors } = await all.as(noContacts, operation);
    expect(text).not.toMatch(CONTACTS);
    expect(errors.length).toBeGreaterThan(0);
    for (const { path: at, extensions } of errors) {
      expect(extensions['code']).toBe('FORBIDDEN');
      const names = (keys: readonly unknown[] = []) => keys.filter((key) => !/^\d+$/.test(String(key)));
      expect(`${names(at).join('.')}.`).toMatch(new RegExp(`^${path}\\.`));
      expect(at?.reduce((value, key) => value?.[key], data)).toBeNull();
    }
    const { text: open, errors: none } = await all.as(player('p1', ...WHAT, 'any-player'), operation);
    expect(none).toEqual([]);
    expect(open).toMatch(/@example\.com|\+1555|\+44/);
  }
});

test('each refused field has an error at its own path, at most a hundred, and the rest of each friend arrives', async () => {
  const ask = (limit: number, fields: string) =>
    all.as(noContacts, `{ me { referredFriends(limit: ${limit}) { nodes { playerUniqueId ${fields} } } } }`);
  const { data, errors } = await ask(50, 'email mobileNumber');
  const paths = Array.from({ length: 50 }, (_, index) =>
    ['email', 'mobileNumber'].map((key) => ['me', 'referredFriends', 'nodes', index, key]),
  ).flat();
  expect(errors.map(({ path }) => path)).toEqual(paths);
  expect(data.me.referredFriends.nodes[49]).toEqual({ playerUniqueId: 'f50', email: null, mobileNumber: null });
  const more = await ask(60, 'a: email b: email mobileNumber');
  expect(more.errors).toHaveLength(101);
  expect(more.errors[100]).toEqual({
    message: '80 more errors of this operation are not listed.',
    extensions: { code: 'FORBIDDEN' },
  });
});

test('a player sees its own contacts without contacts:read, however it asks for itself', async () => {
  const own = player('p1', 'players:read', 'players:write');
  const email = '{ attributes { email } }';
  const operation = `{ me ${email} a: player(playerUniqueId: "p1") ${email} b: players(playerUniqueIds: ["p1"]) ${email} }`;
  const { data, errors } = await all.as(own, operation);
  const mine = { attributes: { email: 'p1@example.com' } };
  expect({ data, errors }).toEqual({ data: { me: mine, a: mine, b: [mine] }, errors: [] });
});

const aroundWhom = rows<[name: string, operation: string]>(`
  an alias | { me: player(playerUniqueId: "p2") { id } }
  a fragment | { ...Q } fragment Q on Query { player(playerUniqueId: "p2") { id } }
  a node in a fragment | { ...Q } fragment Q on Query { node(id: "p2") { ... on Player { coupons { code } } } }
  a list | { players(playerUniqueIds: ["p1", "p2"]) { id } }
  a variable | query ($id: ID! = "p2") { player(playerUniqueId: "p1") { id } other: player(playerUniqueId: $id) { coupons { code } } }
  another case | { player(playerUniqueId: "P1") { id } }
  an escaped path | { player(playerUniqueId: "p1/../p2") { id } }
  an invisible letter | { player(playerUniqueId: "p1\\u200b") { id } }
  several writes | mutation { a: trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a" }] }) { eventNames } b: deletePlayer(input: { playerUniqueId: "p2" }) { deletedPlayerUniqueId } }
`);

test.each(aroundWhom)('%s does not lead to what the token does not allow', async (_name, operation) => {
  for (let time = 0; time < 2; time += 1) {
    const { errors } = await all.as(noOthers, operation);
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.every(({ extensions }) => extensions['code'] === 'FORBIDDEN')).toBe(true);
    expect(callsSeen().filter((call) => call !== 'GET /player p1')).toEqual([]);
  }
});

test('friends as players need any-player, and say so at each friend', async () => {
  const { data, errors } = await all.as(
    noOthers,
    '{ me { referredFriends(limit: 2) { nodes { displayName player { id coupons { code } } } } } }',
  );
  const path = (index: number) => ['me', 'referredFriends', 'nodes', index, 'player'];
  expect(codes(errors)).toEqual([0, 1].map((index) => [path(index), 'FORBIDDEN']));
  expect(data.me.referredFriends.nodes[1]).toEqual({ displayName: 'Friend 2', player: null });
  expect(callsSeen()).toEqual(['GET /referrals p1']);
});

test('a write does not bring what its caller may not read', async () => {
  const upsert = 'mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { userErrors { code } player { id } } }';
  const { data, errors } = await all.as(player('p1', 'players:write'), upsert);
  expect(data).toEqual({ upsertPlayer: { userErrors: [], player: null } });
  expect(codes(errors)).toEqual([[['upsertPlayer', 'player'], 'FORBIDDEN']]);
  expect(callsSeen()).toEqual(['POST /player p1']);
});

describe('input that needs a scope of its own', () => {
  const operation = 'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { serviceId } }';
  const upsert = (scopes: Scope[], attributes: object) =>
    all.as(player('p1', 'players:write', ...scopes), operation, { input: { playerUniqueId: 'p1', attributes } });

  test.each([
    { totalSpent: 10 },
    { totalOrders: 1 },
    { avgOrderAmount: 1 },
    { lastOrderDate: '2025-05-01' },
    { joinDate: '2025-05-01' },
    { tags: [] },
    { custom: { tier: 'gold' } },
    { city: 'Ulm', totalSpent: null },
  ])('%j is refused as a whole without figures:write', async (attributes) => {
    const { data, errors } = await upsert([], attributes);
    expect([data, codes(errors)]).toEqual([{ upsertPlayer: null }, [[['upsertPlayer'], 'FORBIDDEN']]]);
    expect(errors[0]?.message).toMatch(/"input\.attributes\.\w+" needs the scope "figures:write"/);
    expect(callsSeen()).toEqual([]);
    expect([(await upsert(['figures:write'], attributes)).errors, callsSeen()]).toEqual([[], ['POST /player p1']]);
  });

  test('is refused in a literal too, and everything else needs players:write alone', async () => {
    const literal = operation.replace('$input)', '{ playerUniqueId: "p1", attributes: { tags: null } })');
    const { errors } = await all.as(player('p1', 'players:write'), literal.replace('($input: UpsertPlayerInput!)', ''));
    expect(codes(errors)).toEqual([[['upsertPlayer'], 'FORBIDDEN']]);
    expect([(await upsert([], { city: 'Ulm' })).errors, callsSeen()]).toEqual([[], ['POST /player p1']]);
  });
});

describe('a token for single events', () => {
  const shopper = player('p1', 'events:write:open_app', 'events:write:caf%C3%A9%20%2B');
  const track = (...names: string[]) =>
    `trackEvents(input: { playerUniqueId: "p1", events: [${names.map((name) => `{ name: "${name}" }`)}] }) { eventNames }`;

  test.each([[['open_app']], [['open_app', 'café +']]])('sends %j', async (names) => {
    expect((await all.as(shopper, `mutation { ${track(...names)} }`)).errors).toEqual([]);
    expect(callsSeen()).toEqual(['POST /event p1']);
  });

  test.each([
    ['an event that is not named', `mutation { ${track('place_order')} }`],
    ['one beside one that is', `mutation { ${track('open_app', 'place_order')} }`],
    ['one whose name begins like one that is', `mutation { ${track('open_app2')} }`],
    ['one that is encoded like one that is', `mutation { ${track('caf%C3%A9%20%2B')} }`],
    ['none', `mutation { ${track()} }`],
    ['one in another field of the operation', `mutation { a: ${track('open_app')} b: ${track('place_order')} }`],
    ['one of another player', `mutation { ${track('open_app').replace('p1', 'p2')} }`],
  ])('does not send %s, and nothing beside it', async (_what, operation) => {
    const { errors } = await all.as(shopper, operation);
    expect(new Set(errors.map(({ extensions }) => extensions['code']))).toEqual(new Set(['FORBIDDEN']));
    expect(callsSeen()).toEqual([]);
  });
});

describe('twenty reports in one operation', () => {
  const query = `mutation ($events: [EventInput!]!, $last: [EventInput!]!) { ${Array.from(
    { length: 20 },
    (_, i) =>
      `a${i}: trackEvents(input: { playerUniqueId: "p1", events: ${i === 19 ? '$last' : '$events'} }) { userErrors { code } }`,
  ).join(' ')} }`;
  const shopper = player('p1', 'events:write:e0');
  const named = (...names: string[]) => names.map((name) => ({ name }));

  test('are all rejected when the token does not allow one event of the last', async () => {
    const { errors } = await all.as(shopper, query, { events: named('e0'), last: named('e1') });
    expect(errors.map(({ message }) => message)).toEqual([
      ...Array(19).fill('Another event of this operation is not allowed, so none is sent.'),
      'This needs the scope "events:write:e1".',
    ]);
    expect(callsSeen()).toEqual([]);
  });

  test('with a repeated name are user errors, and stop no other report', async () => {
    const duplicate = { userErrors: [{ code: 'DUPLICATE' }] };
    const { data, errors } = await all.as(shopper, query, { events: named('e0', 'e0'), last: named('e0') });
    expect([errors, Object.values(data)]).toEqual([[], [...Array(19).fill(duplicate), { userErrors: [] }]]);
    expect(callsSeen()).toEqual(['POST /event p1']);
  });

  test('of more than 500 events are refused before they are authorized', async () => {
    const many = named(...Array.from({ length: 501 }, (_, index) => `e${index}`));
    const { status, errors } = await all.as(player('p1', 'players:read'), query, { events: many, last: many });
    expect([status, errors]).toMatchObject([400, [{ extensions: { code: 'BAD_USER_INPUT' } }]]);
    expect(callsSeen()).toEqual([]);
  });
});

describe('a schema', () => {
  test.each(['Query', 'Mutation', 'Player'])('with a field of %s that has no rule cannot be started', (type) => {
    const extended = buildSchema(`${sdl}\nextend type ${type} { everything: String }`);
    expect(() => enforceAccess(extended)).toThrow(`${type}.everything has no @access rule: say who may ask for it.`);
  });

  test.each(
    rows<[name: string, extension: string, message: string]>(`
    an unknown scope | extend type Query { x: String @access(scope: "players:raed") } | Query.x: @access names the unknown scope "players:raed".
    a rule on an interface | interface Named { displayName: String @access(scope: "players:read") } | Named.displayName: put @access on the fields of the implementing types.
    a field without a rule that leads to a player | extend type Coupon { holder: Player } | Coupon.holder leads to a player and has no @access rule.
    one that leads there through a union | union Anybody =|Coupon|Player extend type Coupon { holders: [Anybody] } | Coupon.holders leads to a player and has no @access rule.
    `),
  )('with %s cannot be started', (_name, extension, message) => {
    expect(() => enforceAccess(buildSchema(`${sdl}\n${extension}`))).toThrow(message);
  });
});
