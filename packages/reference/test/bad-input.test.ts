import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Client, clientOf } from './client.ts';
import { type RunningReference, startReference } from './kit.ts';

let reference: RunningReference;
let client: Client;
beforeAll(async () => {
  reference = await startReference();
  client = clientOf(reference);
  await client.upsert('known');
});
afterAll(() => reference.close());

/** What is stored, to be the same before and after a refusal. */
const stored = () =>
  reference.store.read(async (queries) => ({
    players: await queries.selectFrom('players').selectAll().orderBy('id').execute(),
    events: await queries.selectFrom('events').selectAll().orderBy('id').execute(),
    contacts: await queries.selectFrom('contacts').selectAll().orderBy('id').execute(),
  }));

const player = (attributes: string) => `{"playerUniqueId":"bad","playerAttributes":${attributes}}`;
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

const event = (events: string) => `{"playerUniqueId":"bad","events":${events}}`;
const withId = (id: string) => `{"playerUniqueId":${id}}`;

describe('bodies that cannot be used', () => {
  /** What is said of a body, its code, and the bodies: of a player, and of events where they have such. */
  test.each<[message: string, code: number, ...bodies: (string | Buffer)[]]>([
    ['The body is missing', 4, '', 'null'],
    ['The body is not JSON', 7, '{"playerUniqueId":', '{"playerUniqueId":"bad"/* */}', '{"playerUniqueId":"bad",}'],
    ['The body is not JSON', 7, '{"playerUniqueId":"bad"}{}'],
    ['The body must be an object', 5, '[{"playerUniqueId":"bad"}]', '"x"'],
    ['The body is not UTF-8', 7, Buffer.from('7b22706c61796572556e697175654964223a22ff227d', 'hex')],
    ['playerUniqueId is missing', 4, '{}', withId('null')],
    ['playerUniqueId must not be empty or white space alone', 5, withId('""'), withId('"  "')],
    ['playerUniqueId must have at most 1024 bytes of UTF-8', 5, withId(`"${'x'.repeat(1025)}"`)],
    ['playerUniqueId must be text or a whole number', 5, withId('1.5'), withId('true'), withId('["bad"]')],
    ['playerUniqueId must not have "." or ".." as a part', 5, withId('".."')],
    ['playerUniqueId must not contain control characters', 5, withId('"a\\tb"')],
    ['must not contain the NUL character', 7, Buffer.from(withId('"bad"'), 'utf16le'), withId('"a\\u0000b"')],
    ['must not contain the NUL character', 7, player('{"city":"a\\u0000b"}'), player('{"custom":{"a\\u0000":1}}')],
    ['must not contain the NUL character', 7, event('{"a":{"k":["x\\u0000"]}}'), event('{},"utms":{"a":"\\u0000"}')],
    ['must not contain an unpaired surrogate', 7, player('{"city":"\\ud800"}'), event('{"\\udc00":{}}')],
    ['The member "playerAttributes.__proto__" is not allowed', 7, player('{"__proto__":{"city":"x"}}')],
    ['The member "playerAttributes.custom.__proto__" is not allowed', 7, player('{"custom":{"__proto__":1}}')],
    ['is not allowed', 7, event('{"\\u005f_proto__":{}}')],
    ['The member "playerAttributes.city" is repeated', 7, player('{"city":"a","city":"b"}')],
    ['more than 32 levels', 7, player(nested(100)), event(`{"a":${nested(100)}}`), '['.repeat(100_000)],
    ['a number that is too large', 7, player('{"totalSpent":1e999}')],
    ['playerAttributes must be an object', 5, player('"x"'), player('[]')],
    ['playerAttributes.city must be text', 5, player('{"city":5}')],
    ['playerAttributes.totalSpent must be a number', 5, player('{"totalSpent":"5"}')],
    ['playerAttributes.totalOrders must be a whole number', 5, player('{"totalOrders":1.5}')],
    ['playerAttributes.tags must be text', 5, player('{"tags":["a"]}')],
    ['playerAttributes.joinDate must be a date like', 5, player('{"joinDate":"01/05/2025"}')],
    ['playerAttributes.dateOfBirth must be a date like', 5, player('{"dateOfBirth":"2025-02-30"}')],
    ['playerAttributes.lastOrderDate must be a date like', 5, player('{"lastOrderDate":"2025-05-01T25:00:00Z"}')],
    ['playerAttributes.custom must be an object', 5, player('{"custom":[]}')],
    ['custom.a must be text or a number', 5, player('{"custom":{"a":{}}}'), player('{"custom":{"a":true}}')],
    ['deviceToken must be text', 5, '{"playerUniqueId":"bad","deviceToken":1,"osType":"ios"}'],
  ])('returns 400 with "%s", and stores nothing', async (message, code, ...bodies) => {
    const before = await stored();
    for (const body of bodies) {
      const refused = await client.rest('POST', body.includes('"events"') ? '/event' : '/player', body);
      expect(refused).toMatchObject({ status: 400, body: { code, message: expect.stringContaining(message) } });
    }
    expect(await stored()).toEqual(before);
  });

  test('a bad member leaves the good ones of the same request unstored', async () => {
    await client.upsert('half', { city: 'Bonn' });
    expect((await client.upsert('half', { city: 'Köln', totalOrders: 'x' })).status).toBe(400);
    expect((await client.player('half')).body.playerAttributes).toEqual({ city: 'Bonn' });
  });
});

describe('requests that go nowhere', () => {
  const PREFIX = '/api/v3.0/integrations';
  test.each<[status: number, code: number, ...requests: string[]]>([
    [404, 404, 'GET /', `GET ${PREFIX}/coupons`, 'GET /api/v2.0/integrations/player/known', 'DELETE /r/x'],
    [404, 404, `GET ${PREFIX}/player/known/`, `PUT ${PREFIX}/player`, `PATCH ${PREFIX}/player/known`],
    [404, 404, `DELETE ${PREFIX}/players/known/referrals`, `GET ${PREFIX}/event`],
    [400, 5, `GET ${PREFIX}/player/a%00b`, `GET ${PREFIX}/player/a%0Ab`, `GET ${PREFIX}/player/${'x'.repeat(1025)}`],
    [400, 400, `GET ${PREFIX}/player/%ff`, `GET ${PREFIX}/player/%zz`],
    [404, 101, `GET ${PREFIX}/player/unknown`, `DELETE ${PREFIX}/player/unknown`],
    [404, 101, `GET ${PREFIX}/transactions/unknown/coupon`, `GET ${PREFIX}/players/unknown/referrals`],
  ])('returns %d with code %d for %s and others', async (status, code, ...requests) => {
    for (const request of requests) {
      const [method = '', path = ''] = request.split(' ');
      const refused = await client.call(method, path);
      expect(refused).toMatchObject({ status, body: { code, message: expect.any(String) } });
    }
  });

  test.each([
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    '',
  ])('a body of type %j: 415', async (type) => {
    const body = Buffer.from('{"playerUniqueId":"bad"}');
    const refused = await client.rest('POST', '/player', body, { 'content-type': type });
    expect(refused).toMatchObject({ status: 415, body: { code: 415 } });
  });
});

describe('keys', () => {
  const NEED_SECRET = ['DELETE /player/nobody', 'GET /transactions/nobody/coupon'];
  const NEED_API_KEY = [
    'POST /player',
    'GET /player/nobody',
    'GET /players/nobody/referrals',
    'POST /event',
    ...NEED_SECRET,
  ];
  const bare = (call: string, headers: Record<string, string>) => {
    const [method = '', path = ''] = call.split(' ');
    return fetch(`${reference.url}/api/v3.0/integrations${path}`, { method, headers });
  };

  test.each(NEED_API_KEY)('%s needs the API key, whatever else is wrong', async (call) => {
    for (const headers of [
      {},
      { APIKey: '' },
      { APIKey: 'wrong' },
      { APIKey: 'a-secret-key' },
      { secretKey: 'a-secret-key' },
    ]) {
      const refused = await bare(call, { ...headers, 'content-type': 'text/plain' });
      expect(refused.status).toBe(401);
      expect(await refused.json()).toEqual({ code: 1, message: 'The header APIKey is missing or wrong' });
    }
  });

  test.each(NEED_SECRET)('%s needs the secret key too', async (call) => {
    for (const secret of [{}, { secretKey: '' }, { secretKey: 'an-api-key' }]) {
      const refused = await bare(call, { APIKey: 'an-api-key', ...secret });
      expect(refused.status).toBe(401);
      expect(await refused.json()).toEqual({ code: 1, message: 'The header secretKey is missing or wrong' });
    }
  });

  test.each(['/coupons', '/coupons/use', '/backup'])('returns 401 for %s without both keys', async (path) => {
    for (const headers of [{}, { APIKey: 'an-api-key' }, { secretKey: 'a-secret-key' }]) {
      expect((await fetch(`${reference.url}${path}`, { method: 'POST', headers })).status).toBe(401);
    }
  });

  test('returns 404 for an operator’s route to who comes through a proxy', async () => {
    for (const name of ['x-forwarded-for', 'forwarded']) {
      const reply = await client.call('POST', '/backup', {}, { [name]: '127.0.0.1' });
      expect(reply).toMatchObject({ status: 404, body: { code: 404 } });
    }
  });

  test('only the operations that need it look at the secret key', async () => {
    const headers = { APIKey: 'an-api-key', secretKey: 'wrong' };
    expect((await bare('GET /player/known', headers)).status).toBe(200);
  });
});

describe('sizes', () => {
  test('of a body that is too large nothing is read past the limit', async () => {
    const before = await stored();
    const head =
      'POST /api/v3.0/integrations/player HTTP/1.1\r\nHost: x\r\nAPIKey: an-api-key\r\nContent-Type: application/json\r\n';
    const announced = await flood(`${head}Content-Length: ${10 * 1024 * 1024}\r\n\r\n`, (chunk) => chunk);
    const chunked = await flood(
      `${head}Transfer-Encoding: chunked\r\n\r\n`,
      (chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`,
    );
    for (const { answer, received } of [announced, chunked]) {
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(answer).toContain('{"code":413,"message":');
      expect(received).toBeLessThan(3 * 1024 * 1024);
    }
    expect(await stored()).toEqual(before);
  });

  test('a body over the limit is refused', async () => {
    expect((await client.upsert('longer', { unknown: 'x'.repeat(1024 * 1024 - 100) })).status).toBe(200);
    expect((await client.upsert('longer', { unknown: 'x'.repeat(1024 * 1024) })).status).toBe(413);
  });
});

const port = () => Number(new URL(reference.url).port);

/** Sends a body of 10 MB as long as it is taken; gives the answer, and how much the service received. */
async function flood(head: string, frame: (chunk: string) => string): Promise<{ answer: string; received: number }> {
  const accepted = once(reference.app.server, 'connection');
  const socket = connect(port(), '127.0.0.1');
  socket.setEncoding('utf8');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  // The service ends the connection while we still send.
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.on('close', resolve));
  const [taken] = await accepted;
  socket.write(head);
  const chunk = frame('x'.repeat(64 * 1024));
  for (let sent = 0; sent < 10 * 1024 * 1024 && socket.writable; sent += 64 * 1024) {
    if (!socket.write(chunk)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
  }
  await closed;
  return { answer, received: taken.bytesRead };
}
