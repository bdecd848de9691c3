import { beforeEach, describe, expect, test } from '@jest/globals';
import { startBoth, startGateway } from '../kit/gateway.ts';
import { secretSigner, token } from '../kit/tokens.ts';
import { API_KEY, type EndpointName, type Script, SECRET_KEY } from '../kit/upstream.ts';

/* What a client sees of failures and mistakes. Nothing the service said may reach it. */
const LEAK = 'SELECT * FROM players -- internal-host-7 stack trace';
const SCREEN =
  '{ player(playerUniqueId: "p1") { id attributes { firstName } coupons { code } referredFriends { total } } }';

const { gateway, upstream } = await startBoth();
beforeEach(() => upstream.reset());

test.each<[what: string, EndpointName, Script, code: string, field?: string]>([
  ['500', 'GET /player', { status: 500, raw: LEAK }, 'UPSTREAM_UNAVAILABLE'],
  ['400', 'GET /player', { status: 400, json: { code: 4, message: LEAK } }, 'UPSTREAM_REJECTED'],
  ['no JSON', 'GET /player', { raw: `<html>${LEAK}` }, 'UPSTREAM_INVALID_RESPONSE'],
  ['500', 'GET /coupon', { status: 500, raw: LEAK }, 'UPSTREAM_UNAVAILABLE', 'coupons'],
  ['no object', 'GET /referrals', { json: [LEAK] }, 'UPSTREAM_INVALID_RESPONSE', 'referredFriends'],
])('%s from %s is one error, at the path of its call', async (_what, endpoint, script, code, ...field) => {
  upstream.on(endpoint, script);
  const { status, data, errors, text, extensions, headers } = await gateway.query(SCREEN);
  const retryable = code === 'UPSTREAM_UNAVAILABLE';
  expect([status, errors]).toMatchObject([200, [{ path: ['player', ...field], extensions: { code, retryable } }]]);
  const rest = { id: 'p1', attributes: { firstName: 'Ada' } };
  expect(data).toMatchObject({ player: field.length > 0 ? { ...rest, [String(field)]: null } : null });
  expect(headers.get('x-request-id')).toBe(extensions['requestId']);
  expect(gateway.logged()).toContain(String(extensions['requestId']));
  for (const secret of [LEAK, API_KEY, SECRET_KEY, upstream.url, 'at Object.', '/api/v3.0']) {
    expect(text).not.toContain(secret);
  }
});

test('players keep their order, and an unknown one is null', async () => {
  const { data, errors } = await gateway.query('{ players(playerUniqueIds: ["p2", "nobody", "p1"]) { id } }');
  expect([data.players, errors]).toEqual([[{ id: 'p2' }, null, { id: 'p1' }], []]);
});

describe('bad arguments of queries', () => {
  const ids = (count: number) => JSON.stringify(Array.from({ length: count }, (_, i) => `p${i}`));
  const types = Array(101).fill('CUSTOM');
  test.each<[argument: string, field: string, ...path: string[]]>([
    ['playerUniqueId', 'player(playerUniqueId: "") { id }', 'player'],
    ['playerUniqueIds', `players(playerUniqueIds: ${ids(51)}) { id }`, 'players'],
    ['playerUniqueIds[1]', 'players(playerUniqueIds: ["p1", "."]) { id }', 'players'],
    ['filter.couponTypes', `coupons(filter: { couponTypes: [${types}] }) { code }`, 'player', 'coupons'],
    ['limit', 'referredFriends(limit: 0) { total }', 'player', 'referredFriends'],
    ['limit', 'referredFriends(limit: 201) { total }', 'player', 'referredFriends'],
    ['page', 'referredFriends(page: 0) { total }', 'player', 'referredFriends'],
    ['first', 'referredFriendsConnection(first: -1) { totalCount }', 'player', 'referredFriendsConnection'],
    ['after', 'referredFriendsConnection(after: "x") { totalCount }', 'player', 'referredFriendsConnection'],
  ])('the argument %s is BAD_USER_INPUT: %#', async (argument, field, ...path) => {
    const query = path.length === 1 ? `{ ${field} }` : `{ player(playerUniqueId: "p1") { ${field} } }`;
    const { errors, status } = await gateway.query(query);
    expect(status).toBe(200);
    const message = expect.stringContaining(argument);
    expect(errors).toMatchObject([{ path, message, extensions: { code: 'BAD_USER_INPUT', argument } }]);
    expect(upstream.calls().filter((call) => /referrals|coupon/.test(call))).toEqual([]);
  });

  const p1 = 'player(playerUniqueId: "p1")';
  test.each([
    ['filter', 'CouponType = CUSTOM', `${p1} { coupons(filter: { couponTypes: [$v] }) { code } }`],
    ['if', 'Boolean = true', 'players(playerUniqueIds: ["p1", "p2"]) { id coupons @include(if: $v) { code } }'],
    ['input', 'ID = "x"', 'upsertPlayer(input: { playerUniqueId: $v }) { serviceId }'],
  ])('null in place of the default of a variable is too: %s, %s, %s', async (argument, type, field) => {
    const kind = field.startsWith('upsert') ? 'mutation' : 'query';
    const { status, errors } = await gateway.query(`${kind} ($v: ${type}) { ${field} }`, { v: null });
    expect([status, errors.length > 0]).toEqual([200, true]);
    for (const { message, extensions } of errors) {
      expect([extensions['code'], message]).toEqual(['BAD_USER_INPUT', expect.stringContaining(`"${argument}"`)]);
    }
  });

  test('a condition below a list of players that is null fails each player by itself, as graphql-js does', async () => {
    const query =
      'query ($v: Boolean = true) { players(playerUniqueIds: ["p1", "p2"]) { id city: id @include(if: $v) } }';
    const { data, errors } = await gateway.query(query, { v: null });
    expect(data).toEqual({ players: [null, null] });
    expect(errors.map(({ path }) => path)).toEqual([0, 1].map((index) => ['players', index]));
  });
});

describe('input of mutations', () => {
  const upsert = (input: object) => ['upsertPlayer', { playerUniqueId: 'p1', ...input }] as const;
  const attributes = (given: object) => upsert({ attributes: given });
  const track = (...events: object[]) => ['trackEvents', { playerUniqueId: 'p1', events }] as const;
  const keyed = (idempotencyKey: string) =>
    ['trackEvents', { playerUniqueId: 'p1', events: [{ name: 'a' }], idempotencyKey }] as const;
  const write = async ([field, input]: readonly [field: string, input: object]) => {
    const type = `${field.replace(/^./, (first) => first.toUpperCase())}Input`;
    const mutation = `mutation ($input: ${type}!) { ${field}(input: $input) { userErrors { code field message } } }`;
    const { status, data, errors } = await gateway.query(mutation, { input });
    expect({ status, errors }).toEqual({ status: 200, errors: [] });
    return data[field].userErrors;
  };
  const text = (length: number) => 'x'.repeat(length);
  /** `custom` of so many bytes of JSON. */
  const custom = (bytes: number) => {
    const parts = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`n${i}`, text(1_000)]));
    return { ...parts, rest: text(bytes - JSON.stringify({ ...parts, rest: '' }).length) };
  };

  test.each([
    ['an empty id', upsert({ playerUniqueId: '' }), 'REQUIRED', 'playerUniqueId'],
    ['a blank id', upsert({ playerUniqueId: ' \t' }), 'REQUIRED', 'playerUniqueId'],
    ['an id with a control character', upsert({ playerUniqueId: 'a\u0007' }), 'INVALID', 'playerUniqueId'],
    ['an id with text from right to left', upsert({ playerUniqueId: 'a\u202eb' }), 'INVALID', 'playerUniqueId'],
    ['an id with half a surrogate pair', upsert({ playerUniqueId: 'a\udc00' }), 'INVALID', 'playerUniqueId'],
    ['an id with steps', ['deletePlayer', { playerUniqueId: '..' }], 'INVALID', 'playerUniqueId'],
    ['half a surrogate pair', attributes({ city: '\ud800' }), 'INVALID', 'attributes.city'],
    ['a tag with a comma', attributes({ tags: ['vip', 'a,b'] }), 'INVALID', 'attributes.tags.1'],
    ['a device without its type', upsert({ device: { token: 't', osType: '' } }), 'REQUIRED', 'device.osType'],
    ['a token too long', upsert({ device: { token: text(1_025), osType: 'ios' } }), 'TOO_LONG', 'device.token'],
    ['a text too long', attributes({ city: text(1_025) }), 'TOO_LONG', 'attributes.city'],
    ['too many tags', attributes({ tags: Array(300).fill('tags') }), 'TOO_LONG', 'attributes.tags'],
    ['a custom text too long', attributes({ custom: { a: text(1_025) } }), 'TOO_LONG', 'attributes.custom.a'],
    ['custom too long', attributes({ custom: custom(16_385) }), 'TOO_LONG', 'attributes.custom'],
    ['a rounded custom number', attributes({ custom: { a: 2 ** 53 } }), 'INVALID', 'attributes.custom.a'],
    ['no event', track(), 'REQUIRED', 'events'],
    ['an event name twice', track({ name: 'a' }, { name: 'a' }), 'DUPLICATE', 'events.1.name'],
    ['an event without a name', track({ name: ' ' }), 'REQUIRED', 'events.0.name'],
    ['metadata that is no text', track({ name: 'a', metadata: { b: true } }), 'INVALID', 'events.0.metadata.b'],
    ['metadata in two lists', track({ name: 'a', metadata: { b: [['c']] } }), 'INVALID', 'events.0.metadata.b'],
    ['rounded metadata', track({ name: 'a', metadata: { b: [2 ** 53] } }), 'INVALID', 'events.0.metadata.b'],
    ['a blank key', keyed('  '), 'REQUIRED', 'idempotencyKey'],
    ['a key too long', keyed(text(129)), 'TOO_LONG', 'idempotencyKey'],
    ['a key with a line break', keyed('a\nb'), 'INVALID', 'idempotencyKey'],
  ] as const)('%s is a user error, and nothing is sent', async (_name, mutation, code, path) => {
    const message = expect.stringContaining(path);
    expect(await write(mutation)).toEqual([{ code, field: ['input', ...path.split('.')], message }]);
    expect(upstream.calls()).toEqual([]);
  });

  test.each([
    ['custom: { big: 9007199254740993 }', 'custom.big'],
    ['custom: { nested: { a: 1 } }', 'custom.nested'],
    ['custom: { variable: $t }', 'custom.variable'],
    ['totalSpent: 1e400', 'totalSpent'],
  ])('the literal { %s } is a user error, and nothing is sent', async (given, path) => {
    const input = `{ playerUniqueId: "p1", attributes: { ${given} } }`;
    const upsertion = `upsertPlayer(input: ${input}) { userErrors { code field @include(if: $t) } }`;
    const { data, errors } = await gateway.query(`mutation ($t: Boolean = true) { ${upsertion} }`);
    const field = ['input', 'attributes', ...path.split('.')];
    expect([errors, data.upsertPlayer.userErrors]).toEqual([[], [{ code: 'INVALID', field }]]);
    expect(upstream.calls()).toEqual([]);
  });

  test.each([0, 1])('a message or a path that is cut has no half of a surrogate pair: %d', async (shift) => {
    const long = text(shift) + '😀'.repeat(300);
    const [problem] = await write(track({ name: 'a', metadata: { [long]: true } }));
    expect(problem.field.at(-1).isWellFormed()).toBe(true);
    const { errors } = await gateway.query('query ($id: ID!) { player(playerUniqueId: $id) { id } }', { id: [long] });
    expect([errors[0]?.message.length, errors[0]?.message.isWellFormed()]).toEqual([501, true]);
  });

  test('at most 50 problems of an input are reported', async () => {
    expect(await write(track(...Array(60).fill({ name: ' ' })))).toHaveLength(50);
  });

  const LONG = { city: text(1_024), custom: custom(16_384), avgOrderAmount: 2 ** 53, totalSpent: 1e21 };
  test.each([
    ['the longest texts and large amounts are', LONG, LONG],
    ['of empty texts, empty lists and nulls, nothing is', { city: '', tags: [], email: null, custom: { a: null } }, {}],
  ])('%s sent', async (_what, given, playerAttributes) => {
    const device = { osType: 'ios', token: text(1_024) };
    expect(await write(upsert({ attributes: { ...given, firstName: 'A' }, device }))).toEqual([]);
    const player = { playerUniqueId: 'p1', deviceToken: device.token, osType: 'ios' };
    const body = { ...player, playerAttributes: { ...playerAttributes, firstName: 'A' } };
    expect(upstream.requests[0]?.body).toEqual(body);
  });

  test.each([400, 422])(
    'what the service refuses with %d is a user error with its code, without its words',
    async (status) => {
      upstream.on('POST /player', { status, json: { code: 5, message: LEAK } });
      const message = `The referral and rewards service refused this input (status ${status}, code 5).`;
      expect(await write(upsert({}))).toEqual([{ code: 'REJECTED', field: ['input'], message }]);
    },
  );

  test.each([404, 409, 413])(
    '%d does not say that the input is wrong: an error of a write that was not done',
    async (status) => {
      upstream.on('POST /player', { status, json: { code: 5, message: LEAK } });
      const upsertion = 'mutation { upsertPlayer(input: { playerUniqueId: "p1" }) { userErrors { code } } }';
      const extensions = { code: 'UPSTREAM_REJECTED', outcome: 'NOT_DONE', retryable: false };
      expect((await gateway.query(upsertion)).errors).toMatchObject([{ path: ['upsertPlayer'], extensions }]);
    },
  );

  test('writes beyond the REST calls that an operation may cause are not sent', async () => {
    const few = await startGateway(upstream.url, { MAX_UPSTREAM_CALLS: '2' });
    const upserts = ['a', 'b', 'c'].map(
      (id) => `${id}: upsertPlayer(input: { playerUniqueId: "${id}" }) { serviceId }`,
    );
    const { errors } = await few.query(`mutation { ${upserts.join(' ')} }`);
    const extensions = { code: 'OPERATION_TOO_COMPLEX', limit: 'upstreamCalls', outcome: 'NOT_DONE' };
    expect(errors).toMatchObject([{ path: ['c'], extensions }]);
    expect(upstream.calls()).toHaveLength(2);
  });

  test('a delete that is refused after an attempt that may have been done is UNKNOWN, and no user error', async () => {
    upstream.on('DELETE /player', { status: 502 }, { status: 422, json: { code: 7 } }, 'usual');
    const remove = 'mutation { deletePlayer(input: { playerUniqueId: "p1" }) { userErrors { code } } }';
    const extensions = { code: 'UPSTREAM_REJECTED', outcome: 'UNKNOWN', retryable: false };
    expect((await gateway.query(remove)).errors).toMatchObject([{ extensions }]);
  });

  test('deleting a player that does not exist is NOT_FOUND', async () => {
    const found = await write(['deletePlayer', { playerUniqueId: 'nobody' }]);
    expect(found).toMatchObject([{ code: 'NOT_FOUND', field: ['input', 'playerUniqueId'] }]);
  });
});

describe('a response of more than 4 MB', () => {
  const MAX = 4 * 1_024 * 1_024;
  const aliases = Array.from({ length: 25 }, (_, index) => `a${index}: displayName`).join(' ');
  const FRIENDS = `{ player(playerUniqueId: "p1") { referredFriends(limit: 200) { nodes { ${aliases} } } } }`;

  /** 200 friends, each with a name of so many characters that is shown 25 times. */
  function read(characters: number, character: string) {
    const displayName = character.repeat(characters);
    const referredFriends = Array.from({ length: 200 }, (_, i) => ({ playerUniqueId: `f${i}`, displayName }));
    upstream.on('GET /referrals', { json: { referredFriends, total: 200 } });
    return gateway.query(FRIENDS);
  }

  test.each([
    ['characters of three bytes', '€', 3],
    ['characters that JSON escapes', '\u0001', 6],
  ])('counts the bytes of %s', async (_what, character, bytes) => {
    const { data, errors, text } = await read(810 / bytes, character);
    expect([errors, data.player.referredFriends.nodes.length]).toEqual([[], 200]);
    expect(Buffer.byteLength(text)).toBeLessThan(MAX);
    const extensions = { code: 'OPERATION_TOO_COMPLEX', limit: 'response', max: MAX };
    const refused = { status: 200, data: null, errors: [{ extensions }] };
    expect(await read(834 / bytes, character)).toMatchObject(refused);
    // Names of free attributes too, of 16,000 bytes each.
    upstream.on('GET /player', { json: { playerAttributes: { custom: { [character.repeat(16_000 / bytes)]: 1 } } } });
    const [ids, aliases] = [Array.from({ length: 50 }, (_, n) => `"p${n}"`), [...'abcdefghij']];
    const query = `{ players(playerUniqueIds: [${ids}]) { ${aliases.map((one) => `${one}: attributes { custom }`)} } }`;
    expect(await gateway.query(query)).toMatchObject(refused);
  });

  test('nearly so long has its errors and extensions too', async () => {
    upstream.on('GET /coupon', { status: 400, json: { success: false } });
    const displayName = 'n'.repeat(400);
    const referredFriends = Array.from({ length: 200 }, (_, i) => ({ playerUniqueId: `f${i}`, displayName }));
    upstream.on('GET /referrals', { json: { referredFriends, total: 200 } });
    const friends = `referredFriends(limit: 200) { nodes { ${aliases} } }`;
    const { data, errors, extensions, text } = await gateway.query(
      `{ player(playerUniqueId: "p1") { coupons { code } ${friends} } }`,
    );
    expect(text.length).toBeGreaterThan(2_000_000);
    expect([data.player.coupons, data.player.referredFriends.nodes.length]).toEqual([null, 200]);
    expect(errors).toMatchObject([{ path: ['player', 'coupons'] }]);
    expect(extensions).toMatchObject({ requestId: expect.any(String) });
  });

  test('is what it takes as text: 2.7 MB of short values are no more', async () => {
    const group = { isAvailable: true, isValid: true, isActive: true };
    upstream.on('GET /coupon', { json: { coupons: Array(10_000).fill({ isUsed: true, isExpired: true, group }) } });
    const fields = 'isUsed isExpired group { isAvailable isValid isActive }';
    const of = ['a', 'b', 'c'].map((name) => `${name}: coupons { ${fields} }`);
    // By default so many coupons are more than an operation may return.
    const large = await startGateway(upstream.url, { MAX_COMPLEXITY: '1000000' });
    const { errors, text } = await large.query(`{ player(playerUniqueId: "p1") { ${of} } }`);
    expect([errors, text.length > 2_600_000]).toEqual([[], true]);
  });

  test('of few fields is refused, and below writes it says what each of them did', async () => {
    upstream.on('GET /coupon', { json: { coupons: [{ code: 'c'.repeat(1_500_000) }] } });
    const few = '{ coupons { a: code b: code c: code } }';
    const query = await gateway.query(`{ player(playerUniqueId: "p1") ${few} }`);
    expect(query.errors).toMatchObject([{ extensions: { limit: 'response' } }]);
    const input = '{ playerUniqueId: "p1", events: [{ name: "n" }] }';
    const upsert = 'upsertPlayer(input: { playerUniqueId: "p2", attributes: { firstName: "a" } }) { serviceId }';
    upstream.on('POST /player', { status: 503 });
    const write = `mutation { trackEvents(input: ${input}) { player ${few} } ${upsert} }`;
    const { data, errors } = await gateway.query(write);
    const extensions = { code: 'OPERATION_TOO_COMPLEX', limit: 'response', retryable: false };
    expect([data, errors]).toMatchObject([
      null,
      [
        { path: ['trackEvents'], extensions: { ...extensions, outcome: 'DONE' } },
        { path: ['upsertPlayer'], extensions: { ...extensions, outcome: 'UNKNOWN' } },
      ],
    ]);
  });
});

test('a document that is too long to be kept can be sent several times at once', async () => {
  const text = `{ player(playerUniqueId: "p1") { id } } #${'x'.repeat(20_000)}`;
  const answers = await Promise.all(Array.from({ length: 8 }, () => gateway.query(text)));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
});

test.each([
  ['in the document', '{ player(playerUniqueId: "p1") { coupons(filter: { couponTypes: [PERCENT] }) { code } } }', {}],
  [
    'in a variable',
    'query ($filter: CouponFilter) { player(playerUniqueId: "p1") { coupons(filter: $filter) { code } } }',
    { filter: { couponTypes: ['PERCENT'] } },
  ],
])(
  'a value that an enum does not have, %s: the message has those that it has, but not in production',
  async (_, query, variables) => {
    const message = /"PERCENT" does not exist in "CouponType" enum\. Its values are \w+, .*PERCENTAGE_DISCOUNT.*\.$/;
    expect((await gateway.query(query, variables)).errors[0]?.message).toMatch(message);
    const signer = secretSigner();
    const production = await startGateway(upstream.url, { NODE_ENV: 'production', ...signer.env });
    const headers = { authorization: `Bearer ${token(signer, { sub: 'p1', scope: 'players:read coupons:read' })}` };
    expect((await production.query(query, variables, headers)).errors[0]?.message).toMatch(/ in "CouponType" enum\.$/);
  },
);

test.each([
  [
    '{ player(playerUniqueId: demo-player) { id } }',
    'Syntax Error: Invalid number, expected digit but got: "p". Write a text in quotation marks.',
  ],
  [
    '{ me { referralLink(lang: "en") coupons(filter: { group: vip }) { code } } }',
    'String cannot represent a non string value: vip. Write a text in quotation marks.',
  ],
  ['{ me { id }', 'Syntax Error: Expected Name, found <EOF>. Is a closing brace missing?'],
])('the message about %s says how to correct it', async (query, message) => {
  expect((await gateway.query(query)).errors).toMatchObject([{ message }]);
});
