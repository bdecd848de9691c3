import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';
import { API_KEY, type EndpointName, type Script, SECRET_KEY } from '../kit/upstream.ts';

/*
 * What a client sees when the REST service misbehaves. Each row: the endpoint, what it answers, and the code, path and
 * retryability of the one error that comes of it. Nothing the service said may reach the client.
 */
const LEAK = 'SELECT * FROM players -- internal-host-7 stack trace';
const SCREEN =
  '{ player(playerUniqueId: "p1") { id attributes { firstName } coupons { code } referredFriends { total } } }';

type Failure = [what: string, EndpointName, Script, code: string, retryable?: boolean];
const rows: Failure[] = [
  ['500', 'GET /player', { status: 500, raw: LEAK }, 'UPSTREAM_UNAVAILABLE', true],
  ['400', 'GET /player', { status: 400, json: { code: 4, message: LEAK } }, 'UPSTREAM_REJECTED'],
  ['401', 'GET /player', { status: 401, json: { code: 2, message: LEAK } }, 'UPSTREAM_MISCONFIGURED'],
  ['no JSON', 'GET /player', { raw: `<html>${LEAK}` }, 'UPSTREAM_INVALID_RESPONSE'],
  [
    'a redirect',
    'GET /player',
    { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
    'UPSTREAM_INVALID_RESPONSE',
  ],
  ['another id', 'GET /player', { json: { playerUniqueId: 'p2' } }, 'UPSTREAM_INVALID_RESPONSE'],
  ['a reset connection', 'GET /player', { fault: 'reset' }, 'UPSTREAM_UNAVAILABLE', true],
  ['500', 'GET /coupon', { status: 500, raw: LEAK }, 'UPSTREAM_UNAVAILABLE', true],
  ['403', 'GET /coupon', { status: 403, raw: LEAK }, 'UPSTREAM_MISCONFIGURED'],
  ['no response', 'GET /coupon', { fault: 'hang' }, 'UPSTREAM_TIMEOUT', true],
  ['no object', 'GET /referrals', { json: [LEAK] }, 'UPSTREAM_INVALID_RESPONSE'],
];
const PATHS = { 'GET /player': ['player'], 'GET /coupon': ['player', 'coupons'] };

describe('a failing call', () => {
  let both: Awaited<ReturnType<typeof startBoth>>;
  afterEach(() => both.close());

  test.each(rows)('%s from %s', async (_what, endpoint, script, code, ...[retryable = false]) => {
    const path = Reflect.get(PATHS, endpoint) ?? ['player', 'referredFriends'];
    both = await startBoth(code === 'UPSTREAM_TIMEOUT' ? { REST_TIMEOUT_MS: '300' } : {});
    both.upstream.on(endpoint, script);
    const { status, data, errors, text, extensions, headers } = await both.gateway.query(SCREEN);
    expect(status).toBe(200);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ path, extensions: { code, retryable } });
    if (path.length === 1) expect(data.player).toBeNull();
    else expect(data.player).toMatchObject({ id: 'p1', attributes: { firstName: 'Ada' }, [String(path[1])]: null });
    expect(headers.get('x-request-id')).toBe(extensions['requestId']);
    expect(both.gateway.logged()).toContain(String(extensions['requestId']));
    for (const secret of [LEAK, API_KEY, SECRET_KEY, both.upstream.url, 'at Object.', '/api/v3.0']) {
      expect(text).not.toContain(secret);
    }
  });
});

const both = await startBoth();
afterAll(() => both.close());

describe('what is no error', () => {
  test.each([
    ['404', { status: 404, raw: '' }],
    ['code 101', { status: 400, json: { code: 101, message: 'unknown' } }],
  ] satisfies [string, Script][])('an unknown player, told by %s, is null', async (_name, script) => {
    both.upstream.on('GET /player', script);
    const { data, errors } = await both.gateway.query(SCREEN);
    expect({ data, errors }).toEqual({ data: { player: null }, errors: [] });
    both.upstream.on('GET /player', 'usual');
  });

  test('players keep their order, and an unknown one is null', async () => {
    const { data, errors } = await both.gateway.query('{ players(playerUniqueIds: ["p2", "nobody", "p1"]) { id } }');
    expect(errors).toEqual([]);
    expect(data.players).toEqual([{ id: 'p2' }, null, { id: 'p1' }]);
  });

  test('a date nobody can read is null and costs nothing else', async () => {
    both.upstream.on('GET /player', {
      json: { playerAttributes: { firstName: 'Ada', joinDate: 'yesterday', totalOrders: '12' } },
    });
    const { data, errors } = await both.gateway.query(
      '{ player(playerUniqueId: "p1") { attributes { firstName joinDate totalOrders city } } }',
    );
    expect(errors).toEqual([]);
    expect(data.player.attributes).toEqual({ firstName: 'Ada', joinDate: null, totalOrders: 12, city: null });
    both.upstream.on('GET /player', 'usual');
  });
});

describe('bad arguments of queries', () => {
  const ids = (count: number) => JSON.stringify(Array.from({ length: count }, (_, i) => `p${i}`));
  const player = (id: string) => `player(playerUniqueId: "${id}") { id }`;
  const of = (field: string, selection: string) => `player(playerUniqueId: "p1") { ${field} { ${selection} } }`;
  const types = `couponTypes: [${Array(101).fill('CUSTOM')}]`;
  test.each<[string, query: string, argument: string, ...path: string[]]>([
    ['an empty id', player(''), 'playerUniqueId', 'player'],
    ['an id of 1,025 bytes', player(`${'é'.repeat(512)}x`), 'playerUniqueId', 'player'],
    ['the id ..', player('..'), 'playerUniqueId', 'player'],
    ['a control character', player('a\\u0007b'), 'playerUniqueId', 'player'],
    ['101 types', of(`coupons(filter: { ${types} })`, 'code'), 'filter.couponTypes', 'player', 'coupons'],
    ['51 ids', `players(playerUniqueIds: ${ids(51)}) { id }`, 'playerUniqueIds', 'players'],
    ['a bad id among good ones', 'players(playerUniqueIds: ["p1", "."]) { id }', 'playerUniqueIds[1]', 'players'],
    ['limit 0', of('referredFriends(limit: 0)', 'total'), 'limit', 'player', 'referredFriends'],
    ['limit 201', of('referredFriends(limit: 201)', 'total'), 'limit', 'player', 'referredFriends'],
    ['page 0', of('referredFriends(page: 0)', 'total'), 'page', 'player', 'referredFriends'],
    [
      'first -1',
      of('referredFriendsConnection(first: -1)', 'totalCount'),
      'first',
      'player',
      'referredFriendsConnection',
    ],
    [
      'no cursor',
      of('referredFriendsConnection(after: "x")', 'totalCount'),
      'after',
      'player',
      'referredFriendsConnection',
    ],
  ])('%s is BAD_USER_INPUT', async (_name, query, argument, ...path) => {
    both.upstream.forget();
    const { errors, status } = await both.gateway.query(`{ ${query} }`);
    expect(status).toBe(200);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ path, extensions: { code: 'BAD_USER_INPUT', argument } });
    expect(errors[0]?.message).toContain(argument);
    expect(both.upstream.calls().filter((call) => call.includes('referrals'))).toEqual([]);
  });
});

describe('mistakes in the input of mutations', () => {
  const upsert = (input: object) => ['upsertPlayer', { playerUniqueId: 'p1', ...input }] as const;
  const track = (...events: object[]) => ['trackEvents', { playerUniqueId: 'p1', events }] as const;
  const remove = (playerUniqueId: string) => ['deletePlayer', { playerUniqueId }] as const;
  const long = 'x'.repeat(1_025);
  /** 16,385 bytes of JSON. */
  const parts = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`n${i}`, 'x'.repeat(1_000)]));
  const longCustom = { ...parts, rest: 'x'.repeat(16_385 - JSON.stringify({ ...parts, rest: '' }).length) };

  test.each([
    ['an empty id', upsert({ playerUniqueId: '' }), 'REQUIRED', 'playerUniqueId'],
    ['an id too long', remove(long), 'TOO_LONG', 'playerUniqueId'],
    ['the id .', remove('.'), 'INVALID', 'playerUniqueId'],
    ['half a surrogate pair', upsert({ attributes: { city: '\ud800' } }), 'INVALID', 'attributes.city'],
    ['a tag with a comma', upsert({ attributes: { tags: ['vip', 'a,b'] } }), 'INVALID', 'attributes.tags.1'],
    ['a device without its type', upsert({ device: { token: 't', osType: '' } }), 'REQUIRED', 'device.osType'],
    ['a text too long', upsert({ attributes: { city: long } }), 'TOO_LONG', 'attributes.city'],
    ['a tag too long', upsert({ attributes: { tags: [long] } }), 'TOO_LONG', 'attributes.tags'],
    ['too many tags', upsert({ attributes: { tags: Array(300).fill('tags') } }), 'TOO_LONG', 'attributes.tags'],
    [
      'a custom text too long',
      upsert({ attributes: { custom: { note: long } } }),
      'TOO_LONG',
      'attributes.custom.note',
    ],
    ['custom too long', upsert({ attributes: { custom: longCustom } }), 'TOO_LONG', 'attributes.custom'],
    ['no event', track(), 'REQUIRED', 'events'],
    ['an event name twice', track({ name: 'a' }, { name: 'a' }), 'DUPLICATE', 'events.1.name'],
    ['an event without a name', track({ name: ' ' }), 'REQUIRED', 'events.0.name'],
  ])('%s is a user error, and nothing is sent', async (_name, [field, input], code, path) => {
    both.upstream.forget();
    const { data, errors, status } = await both.gateway.query(
      `mutation ($input: ${field.replace(/^./, (first) => first.toUpperCase())}Input!) { ${field}(input: $input) { userErrors { code field message } } }`,
      { input },
    );
    expect({ status, errors }).toEqual({ status: 200, errors: [] });
    const message = expect.stringContaining(path);
    expect(data[field].userErrors).toEqual([{ code, field: ['input', ...path.split('.')], message }]);
    expect(both.upstream.calls()).toEqual([]);
  });

  test.each([400, 422])('what the service refuses with %d is a user error without its words', async (status) => {
    both.upstream.on('POST /player', { status, json: { code: 5, message: LEAK } }, 'usual');
    const { data, errors, text } = await both.gateway.query(
      'mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { player { id } userErrors { code field } } }',
    );
    expect(errors).toEqual([]);
    expect(data.upsertPlayer).toEqual({ player: null, userErrors: [{ code: 'REJECTED', field: ['input'] }] });
    expect(text).not.toContain(LEAK);
  });

  test('at most 50 problems of an input are reported', async () => {
    const events = Array.from({ length: 60 }, (_, index) => ({ name: ' '.repeat(index + 1) }));
    const { data, errors } = await both.gateway.query(
      'mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { userErrors { code } } }',
      { input: { playerUniqueId: 'p1', events } },
    );
    expect(errors).toEqual([]);
    expect(data.trackEvents.userErrors).toEqual(Array(50).fill({ code: 'REQUIRED' }));
  });

  test('deleting a player that does not exist is NOT_FOUND', async () => {
    const { data, errors } = await both.gateway.query(
      'mutation { deletePlayer(input: { playerUniqueId: "nobody" }) { deletedPlayerUniqueId userErrors { code field } } }',
    );
    expect(errors).toEqual([]);
    expect(data.deletePlayer).toEqual({
      deletedPlayerUniqueId: null,
      userErrors: [{ code: 'NOT_FOUND', field: ['input', 'playerUniqueId'] }],
    });
  });

  test('a failed write is an error of its field, and the writes beside it stand', async () => {
    both.upstream.on('POST /event', { status: 500, raw: LEAK }, 'usual');
    const { data, errors } = await both.gateway.query(
      `mutation { trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a" }] }) { eventNames }
        deletePlayer(input: { playerUniqueId: "p3" }) { deletedPlayerUniqueId } }`,
    );
    expect(data).toEqual({ trackEvents: null, deletePlayer: { deletedPlayerUniqueId: 'p3' } });
    expect(errors).toMatchObject([{ path: ['trackEvents'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
  });

  test('a variable that is null where a default was expected is the mistake of whoever sent it', async () => {
    const query =
      'query ($skip: Boolean = false) { player(playerUniqueId: "p1") { id referralLink @skip(if: $skip) } }';
    const { errors } = await both.gateway.query(query, { skip: null });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(errors[0]?.message).toMatch(/"if" of non-null type "Boolean!" must not be null/);
  });

  test.each<[string, Record<string, unknown>]>([
    [
      'query ($t: CouponType = CUSTOM) { player(playerUniqueId: "p1") { coupons(filter: { couponTypes: [$t] }) { code } } }',
      { t: null },
    ],
    ['query ($t: ID = "x") { players(playerUniqueIds: [$t]) { id } }', { t: null }],
    ['mutation ($t: ID = "x") { upsertPlayer(input: { playerUniqueId: $t }) { serviceId } }', { t: null }],
    [
      `query ($c: Boolean = true) { players(playerUniqueIds: ${JSON.stringify(Array.from({ length: 40 }, (_, n) => `p${n}`))}) { id coupons @include(if: $c) { code } } }`,
      { c: null },
    ],
  ])('what a variable makes of a literal is too: %s', async (query, variables) => {
    both.upstream.forget();
    const { status, errors } = await both.gateway.query(query, variables);
    expect(status).toBe(200);
    expect(errors.map(({ extensions }) => extensions['code'])).toEqual(errors.map(() => 'BAD_USER_INPUT'));
    expect(errors.length).toBeGreaterThan(0);
  });

  test.each([
    ['{ vip: true }', 'vip'],
    ['{ nested: { a: 1 } }', 'nested'],
    ['{ list: [["a"]] }', 'list'],
    ['{ nothing: null }', 'nothing'],
    ['{ large: 1e400 }', 'large'],
    ['{ a: $t }', 'a'],
  ])('the metadata %s is a user error that names the property', async (metadata, property) => {
    both.upstream.forget();
    const event = `{ name: "v", metadata: ${metadata} }`;
    const { data, errors } = await both.gateway.query(
      `mutation ($t: Boolean = true) { trackEvents(input: { playerUniqueId: "p1", events: [${event}] }) { userErrors { code field } a: __typename @include(if: $t) } }`,
    );
    expect(errors).toEqual([]);
    const field = ['input', 'events', '0', 'metadata', property];
    expect(data.trackEvents.userErrors).toEqual([{ code: 'INVALID', field }]);
    expect(both.upstream.calls()).toEqual([]);
  });

  test.each([
    ['custom: { big: 9007199254740993 }', 'custom', 'big'],
    ['custom: { flag: true }', 'custom', 'flag'],
    ['totalSpent: 1e400', 'totalSpent'],
  ])('{ %s } is a user error that names the property', async (attributes, ...path) => {
    both.upstream.forget();
    const { data } = await both.gateway.query(
      `mutation { upsertPlayer(input: { playerUniqueId: "p1", attributes: { ${attributes} } }) { userErrors { code field } } }`,
    );
    expect(data.upsertPlayer.userErrors).toEqual([{ code: 'INVALID', field: ['input', 'attributes', ...path] }]);
    expect(both.upstream.calls()).toEqual([]);
  });

  test('the longest texts of a player are sent', async () => {
    both.upstream.forget();
    const text = 'x'.repeat(1_024);
    const custom = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`n${i}`, text]));
    const { data } = await both.gateway.query(
      'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { userErrors { code field } } }',
      { input: { playerUniqueId: 'p1', attributes: { city: text, custom }, device: { osType: 'ios', token: text } } },
    );
    expect(data.upsertPlayer.userErrors).toEqual([]);
    expect(both.upstream.requests.map(({ body }) => body)).toEqual([
      { playerUniqueId: 'p1', playerAttributes: { city: text, custom }, deviceToken: text, osType: 'ios' },
    ]);
  });

  test('a large amount is sent, as a literal and as a variable', async () => {
    both.upstream.forget();
    const upsert = (attributes: string) =>
      `upsertPlayer(input: { playerUniqueId: "p1", attributes: ${attributes} }) { userErrors { code } }`;
    const literal = await both.gateway.query(`mutation { ${upsert('{ totalSpent: 1e21 }')} }`);
    const variable = await both.gateway.query(
      `mutation ($attributes: PlayerAttributesInput) { ${upsert('$attributes')} }`,
      {
        attributes: { totalSpent: 1e21, avgOrderAmount: 2 ** 53 },
      },
    );
    expect([literal.data, variable.data]).toEqual(Array(2).fill({ upsertPlayer: { userErrors: [] } }));
    expect(both.upstream.requests.map(({ body }) => Reflect.get(Object(body), 'playerAttributes'))).toEqual([
      { totalSpent: 1e21 },
      { totalSpent: 1e21, avgOrderAmount: 2 ** 53 },
    ]);
  });

  test.each([
    [500, undefined],
    // As a variable, such a list is rejected with the request; else it is a user error.
    [501, /^(?:BAD_USER_INPUT|TOO_LONG)$/],
  ])('a report of %d events is rejected with %s', async (count, code) => {
    both.upstream.forget();
    const events = Array.from({ length: count }, (_, i) => ({ name: `e${i}` }));
    const { data, errors } = await both.gateway.query(
      'mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { userErrors { code field } } }',
      { input: { playerUniqueId: 'p1', events } },
    );
    const given = errors[0]?.extensions['code'] ?? data.trackEvents.userErrors[0]?.code;
    expect(given).toEqual(code && expect.stringMatching(code));
    expect(both.upstream.calls()).toEqual(code ? [] : ['POST /integrations/event']);
  });

  test('empty text, empty lists and nulls are not sent', async () => {
    both.upstream.forget();
    const { errors } = await both.gateway.query(
      'mutation { upsertPlayer(input: { playerUniqueId: "p1", attributes: { city: "", tags: [], email: null, firstName: "A", custom: { a: null, b: 1 } } }) { serviceId } }',
    );
    expect(errors).toEqual([]);
    expect(both.upstream.requests.map(({ body }) => body)).toEqual([
      { playerUniqueId: 'p1', playerAttributes: { firstName: 'A', custom: { b: 1 } } },
    ]);
  });
});
