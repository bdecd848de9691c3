import { beforeAll, expect, test } from '@jest/globals';
import { KEYS } from './client.ts';
import { contentOf, onEachStore, STORES, startReference } from './kit.ts';

const json = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const withId = (id: string) => `{"playerUniqueId":${id}}`;
const player = (attributes: unknown) => `{"playerUniqueId":"bad","playerAttributes":${json(attributes)}}`;
const events = (given: unknown) => `{"playerUniqueId":"bad","events":${json(given)}}`;
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const ID = { playerUniqueId: 'bad' };
const [DEVICE, TOKEN] = [['deviceToken', 'osType'], { ...ID, deviceToken: 't' }];
const TEXTS = ['displayName', 'firstName', 'lastName', 'mobile', 'gender', 'email', 'tags', 'country', 'city', 'zip'];
const NO_DATES = ['2025-02-30', '2025-13-01', '2025-1-1', '01/05/2025', '2025-05-01T25:00Z', '1746095400000'];
const NUMBERS = [
  '1e999',
  '-1e999',
  '1e-999',
  '9007199254740993',
  '98765432109876543210',
  '1.234567890123456789',
  '12345678901234567.5e1',
];
const NO_EVENT = [true, { b: 1 }, [1, 'x', true], [['x']]];
const DOTS = [
  '..',
  '../transactions/x',
  'a/./b',
  'a/..',
  'a\\\\..',
  '%2e%2e',
  '..%2F..%5Cx',
  'a%252f..%252fb',
  '..;/x',
  'a/.;n=1/b',
  '%2e%2e%3b%2fx',
];
const BIDIRECTIONAL = ['\u061c', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069'];

/** The message, its code, and bodies: of events if they have some, else of a player. */
const BODIES: [message: string, code: number, ...bodies: (string | Buffer)[]][] = [
  ['The body is missing', 4, '', 'null'],
  ['The body is not JSON', 7, '{"playerUniqueId":', withId('"bad"/* */'), withId('"bad",'), '{}{}'],
  ['The body must be an object', 5, '[{"playerUniqueId":"bad"}]', '"x"'],
  ['The body is not UTF-8', 7, Buffer.from(withId('"\xff"'), 'latin1')],
  ['playerUniqueId is missing', 4, '{}', withId('null')],
  ['playerUniqueId must be text or a whole number', 5, withId('1.5'), withId('true')],
  ['playerUniqueId must not be empty or white space alone', 5, withId('""'), withId('"  "')],
  ['must have at most 1024 bytes of UTF-8', 5, withId(`"${'x'.repeat(1025)}"`), withId(`"${'漢'.repeat(342)}"`)],
  ['must not contain control characters', 5, withId('"a\\tb"'), events({ 'a\nb': {} })],
  ['must not contain bidirectional control characters', 5, ...BIDIRECTIONAL.map((mark) => withId(`"a${mark}b"`))],
  ['playerUniqueId must not have "." or ".." as a part between slashes', 5, ...DOTS.map((id) => withId(`"${id}"`))],
  ['must not contain the NUL character', 7, Buffer.from(withId('"bad"'), 'utf16le'), player('{"city":"a\\u0000b"}')],
  ['must not contain the NUL character', 7, events('{"a":{"k":["x\\u0000"]}}'), player('{"custom":{"a\\u0000":1}}')],
  ['must not contain an unpaired surrogate', 7, player('{"city":"\\ud800"}'), events('{"\\udc00":{}}')],
  ['"playerAttributes.__proto__" is not allowed', 7, player('{"__proto__":{}}'), player('{"\\u005f_proto__":1}')],
  ['The member "playerAttributes.city" is repeated', 7, player('{"city":"a","city":"b"}')],
  ['The member "events.a" is repeated', 7, events('{"a":{},"b":{},"\\u0061":{}}')],
  ['more than 32 levels', 7, player(nested(100)), '['.repeat(100_000)],
  ['playerAttributes must be an object', 5, player('"x"'), player([])],
  ['playerAttributes.city must be text', 5, player({ city: 5, displayName: 'good' })],
  ['must have at most 1024 characters', 5, ...TEXTS.map((name) => player({ [name]: 'x'.repeat(1_025) }))],
  ['must have at most 1024 characters', 5, ...DEVICE.map((name) => json({ ...ID, [name]: 'x'.repeat(1_025) }))],
  [
    'playerAttributes.email must be an e-mail address like name@example.com',
    5,
    ...['eva', 'eva@', 'e v a@x.example', '\u200b'].map((email) => player({ email })),
  ],
  [
    'playerAttributes.mobile must be a mobile number with 5 to 20 digits',
    5,
    ...['1234', '+49 CALL ME', '+44 7911 123456 #12', '+1 415 555 2671;12', 'none', '1'.repeat(21)].map((mobile) =>
      player({ mobile }),
    ),
  ],
  ['playerAttributes.city must have at most 1024 characters', 5, player({ city: '🎈'.repeat(1_025) })],
  ['must be a number', 5, player({ totalSpent: '5' }), player({ avgOrderAmount: '5' })],
  [
    '"playerAttributes.totalSpent" is a number that cannot be stored exactly',
    7,
    ...NUMBERS.map((number) => player(`{"totalSpent":${number}}`)),
  ],
  [
    'is a number that cannot be stored exactly; send it as text',
    7,
    ...NUMBERS.map((number) => events(`{"a":{"k":["x",${number}]}}`)),
  ],
  ['playerAttributes.totalOrders must be a whole number', 5, player({ totalOrders: 1.5 })],
  ['playerAttributes.joinDate must be a date like', 5, ...NO_DATES.map((joinDate) => player({ joinDate }))],
  ['must be a date like', 5, player({ joinDate: '9999-12-31T23:00:00-02:00' }), player({ dateOfBirth: 'no' })],
  ['lastOrderDate must be a date like', 5, ...NO_DATES.map((lastOrderDate) => player({ lastOrderDate }))],
  ['playerAttributes.custom must be an object', 5, player({ custom: [] })],
  ['custom.a must be text or a number', 5, player({ custom: { a: {} } }), player({ custom: { a: true } })],
  ['custom.a must be text if it is a whole number', 5, player('{"custom":{"a":9007199254740992}}')],
  ['deviceToken must be text', 5, json({ ...ID, deviceToken: 1, osType: 'ios' })],
  ['osType is missing', 4, ...[null, undefined].map((osType) => json({ ...TOKEN, osType }))],
  ['events is missing', 4, json({ ...ID, other: ['events'] }), events(null)],
  ['events must have at least one event', 5, events({})],
  ['events must be an object', 5, events([{ a: {} }])],
  ['events.b must be an object', 5, events({ a: {}, b: 'x' }), events({ b: [] })],
  ['must not be empty', 5, events({ '': {} })],
  ['at most 256 characters', 5, events({ ['x'.repeat(257)]: {} })],
  ['events.b.k must be a number, text or an array of them', 5, ...NO_EVENT.map((k) => events({ a: {}, b: { k } }))],
];

const [REFERRALS, NOTHING] = ['GET /players/known/referrals', 'There is nothing at this path'];
const PAGES = ['0', '-1', '1.5', 'abc', '0x1', '1&page=2', '99999999999999999999'];
const LIMITS = ['0', '201', '1&limit=1'];
const IN_PATH = ['a%00b', 'a%0Ab', 'x'.repeat(1025), 'a%E2%80%AEb', '%2E%2E%2Fx'];

/** Requests of the REST interface, by method and path. */
const REQUESTS: [status: number, code: number, message: string, ...requests: string[]][] = [
  [404, 404, NOTHING, 'GET /coupons', 'GET /player/known/', 'PUT /player', 'GET /../../v2.0/integrations/player/known'],
  [404, 101, 'There is no player with this playerUniqueId', 'GET /player/unknown', 'DELETE /player/unknown'],
  [404, 101, 'There is no player', 'GET /transactions/unknown/coupon', 'GET /players/unknown/referrals'],
  [400, 5, 'playerUniqueId must', ...IN_PATH.map((id) => `GET /player/${id}`)],
  [400, 400, 'is not a valid url component', 'GET /player/%ff', 'GET /player/%zz'],
  [400, 5, 'page must be a whole number from 1 on', ...PAGES.map((page) => `${REFERRALS}?page=${page}`)],
  [400, 5, 'limit must be a whole number from 1 to 200', ...LIMITS.map((limit) => `${REFERRALS}?limit=${limit}`)],
];

onEachStore('a refused request', (client, service) => {
  beforeAll(async () => void (await client.upsert('known')));

  test('of every wrong body returns 400, names the member, and stores nothing', async () => {
    const before = await contentOf(service());
    for (const [message, code, ...bodies] of BODIES) {
      for (const body of bodies) {
        const refused = await client.rest('POST', body.includes('"events"') ? '/event' : '/player', body);
        expect(refused).toMatchObject({ status: 400, body: { code, message: expect.stringContaining(message) } });
      }
    }
    expect(await contentOf(service())).toEqual(before);
  });

  test.each(REQUESTS)('returns %d with code %d and "%s"', async (status, code, message, ...requests) => {
    for (const request of requests) {
      const [method = '', path = ''] = request.split(' ');
      const body = { code, message: expect.stringContaining(message) };
      expect(await client.rest(method, path)).toMatchObject({ status, body });
    }
  });

  test('leaves a known player as it was: bad members, and a custom that is too large after the merge', async () => {
    // {"a":"…"} has eight characters around the text.
    const known = { city: 'Bonn', custom: { a: 'ü'.repeat((16_384 - 8) / 2) } };
    expect((await client.upsert('half', known)).status).toBe(200);
    for (const bad of [{ totalOrders: 'x' }, { custom: { b: 1 } }]) {
      expect((await client.upsert('half', { city: 'Köln', ...bad })).status).toBe(400);
    }
    expect(await client.attributes('half')).toEqual(known);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', ''])('returns 415 for the type %j', async (type) => {
    const refused = await client.rest('POST', '/player', withId('"bad"'), { 'content-type': type });
    expect(refused).toMatchObject({ status: 415, body: { code: 415 } });
  });

  test('returns 415 to a compressed body, and says so', async () => {
    const refused = await client.rest('POST', '/player', withId('"zipped"'), { 'content-encoding': 'gzip' });
    expect(refused).toMatchObject({ status: 415, body: { code: 415, message: expect.stringContaining('compressed') } });
  });

  const REST = '/api/v3.0/integrations';
  const OPERATOR = ['POST /coupons', 'POST /coupons/use', 'POST /backup'];
  const NEED_BOTH = [`DELETE ${REST}/player/known`, `GET ${REST}/transactions/known/coupon`, ...OPERATOR];
  const NEED_ONE = [`POST ${REST}/player`, `GET ${REST}/player/known`, `GET ${REST}/players/known/referrals`];
  test.each([
    ...[...NEED_BOTH, ...NEED_ONE, `POST ${REST}/event`].map((request) => ['APIKey', request] as const),
    ...NEED_BOTH.map((request) => ['secretKey', request] as const),
  ])('returns 401 without the right %s, whatever else is wrong: %s', async (header, request) => {
    const [method = '', path = ''] = request.split(' ');
    const { [header]: _, ...other } = KEYS;
    for (const wrong of [undefined, '', 'wrong', ...Object.values(other)]) {
      const headers = { 'content-type': 'text/plain', ...other, ...(wrong !== undefined && { [header]: wrong }) };
      const base = path.startsWith(REST) ? service().url : service().operatorUrl;
      const refused = await fetch(new URL(path, base), { method, headers });
      const body = { code: 1, message: `The header ${header} is missing or wrong` };
      expect([refused.status, await refused.json()]).toEqual([401, body]);
    }
  });

  test('needs the secret key for nothing else', async () => {
    expect((await client.player('known', { secretKey: 'wrong' })).status).toBe(200);
  });

  test.each(OPERATOR)('%s returns 404 on the public port, with both keys and from this machine', async (request) => {
    const path = request.slice('POST '.length);
    expect(await client.call('POST', path, {})).toMatchObject({ status: 404, body: { message: NOTHING } });
  });

  test('returns 413 to a body of more than 1 MB, and reads no more of it', async () => {
    expect((await client.upsert('longer', { unknown: 'x'.repeat(1024 * 1024 - 100) })).status).toBe(200);
    const { status, headers, body } = await client.upsert('longer', { unknown: 'x'.repeat(1024 * 1024) });
    expect([status, headers.get('connection'), body]).toMatchObject([413, 'close', { code: 413 }]);
  });

  test('must be sent within 30 seconds, with a head of at most 16 KB', async () => {
    expect(service().app.server).toMatchObject({ requestTimeout: 30_000, headersTimeout: 30_000 });
    const long = await fetch(new URL('/healthz', service().url), { headers: { long: 'x'.repeat(17_000) } });
    expect([long.status, await long.json()]).toEqual([431, { code: 431, message: 'Request Header Fields Too Large' }]);
  });
});

test.each(STORES)('with the secret key on all calls, none of the six works without it, on $name', async ({ place }) => {
  const { client, url } = await startReference({ at: await place(), secretKeyOnAll: true });
  await client.upsert('known');
  const calls: [string, string, object?][] = [
    ['POST', 'player', ID],
    ['GET', 'player/known'],
    ['GET', 'transactions/known/coupon'],
    ['GET', 'players/known/referrals'],
    ['POST', 'event', { ...ID, events: { a: {} } }],
    ['DELETE', 'player/known'],
  ];
  for (const [method, path, body] of calls) {
    const headers = { APIKey: KEYS.APIKey, 'content-type': 'application/json' };
    const target = `${url}/api/v3.0/integrations/${path}`;
    const refused = await fetch(target, { method, headers, body: body ? JSON.stringify(body) : null });
    expect([path, refused.status]).toEqual([path, 401]);
    expect([path, (await client.rest(method, `/${path}`, body)).status]).toEqual([path, 200]);
  }
});

test.each(STORES)(
  'without a store, /readyz returns 503, /healthz 200, and a write 500 that does not say what was stored, on $name',
  async ({ place }) => {
    const { store, client } = await startReference({ at: await place() });
    expect(await client.call('GET', '/readyz')).toMatchObject({ status: 200, text: '{"ready":true}' });
    await store.close();
    expect((await client.call('GET', '/readyz')).status).toBe(503);
    expect(await client.call('GET', '/healthz')).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    const unknown = { code: 500, message: 'The service has failed; it is not known whether this request was stored' };
    const writes = [client.upsert('known'), client.track('known', { a: {} }), client.remove('known')];
    for (const write of writes) expect(await write).toMatchObject({ status: 500, body: unknown });
    expect(await client.player('known')).toMatchObject({
      status: 500,
      body: { code: 500, message: 'The service has failed' },
    });
  },
);
