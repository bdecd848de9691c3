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

describe('bodies that cannot be used', () => {
  test.each<[string, string, string | Buffer, number, string]>([
    ['nothing', '/player', '', 4, 'The body is missing'],
    ['no JSON', '/player', '{"playerUniqueId":', 7, 'The body is not JSON'],
    ['JSON with a comment', '/player', '{"playerUniqueId":"bad"/* */}', 7, 'The body is not JSON'],
    ['JSON with a comma too many', '/player', '{"playerUniqueId":"bad",}', 7, 'The body is not JSON'],
    ['two values', '/player', '{"playerUniqueId":"bad"}{}', 7, 'The body is not JSON'],
    ['null', '/player', 'null', 4, 'The body is missing'],
    ['a list', '/player', '[{"playerUniqueId":"bad"}]', 5, 'The body must be an object'],
    ['text', '/event', '"x"', 5, 'The body must be an object'],
    [
      'invalid UTF-8',
      '/player',
      Buffer.from('7b22706c61796572556e697175654964223a22ff227d', 'hex'),
      7,
      'The body is not UTF-8',
    ],
    ['UTF-16', '/player', Buffer.from('{"playerUniqueId":"bad"}', 'utf16le'), 7, 'must not contain the NUL'],
    ['no id', '/player', '{}', 4, 'playerUniqueId is missing'],
    ['an id of null', '/player', '{"playerUniqueId":null}', 4, 'playerUniqueId is missing'],
    ['an empty id', '/player', '{"playerUniqueId":""}', 5, 'playerUniqueId must not be empty or white space alone'],
    [
      'an id of spaces',
      '/player',
      '{"playerUniqueId":"  "}',
      5,
      'playerUniqueId must not be empty or white space alone',
    ],
    [
      'an id that is too long',
      '/event',
      `{"playerUniqueId":"${'x'.repeat(1025)}","events":{"a":{}}}`,
      5,
      'playerUniqueId must have at most 1024 bytes of UTF-8',
    ],
    ['an id with a fraction', '/player', '{"playerUniqueId":1.5}', 5, 'playerUniqueId must be text or a whole number'],
    ['an id that is true', '/player', '{"playerUniqueId":true}', 5, 'playerUniqueId must be text or a whole number'],
    ['an id in a list', '/player', '{"playerUniqueId":["bad"]}', 5, 'playerUniqueId must be text or a whole number'],
    ['the id ..', '/player', '{"playerUniqueId":".."}', 5, 'playerUniqueId must not have "." or ".." as a part'],
    [
      'an id with a tab',
      '/player',
      '{"playerUniqueId":"a\\tb"}',
      5,
      'playerUniqueId must not contain control characters',
    ],
    ['NUL in the id', '/player', '{"playerUniqueId":"a\\u0000b"}', 7, 'must not contain the NUL character'],
    ['NUL in an attribute', '/player', player('{"city":"a\\u0000b"}'), 7, 'must not contain the NUL character'],
    ['NUL in a custom key', '/player', player('{"custom":{"a\\u0000":1}}'), 7, 'must not contain the NUL character'],
    [
      'NUL in metadata',
      '/event',
      '{"playerUniqueId":"bad","events":{"a":{"k":["x\\u0000"]}}}',
      7,
      'must not contain the NUL character',
    ],
    [
      'NUL where nobody looks',
      '/player',
      '{"playerUniqueId":"bad","utms":{"a":"\\u0000"}}',
      7,
      'must not contain the NUL character',
    ],
    ['half of a surrogate pair', '/player', player('{"city":"\\ud800"}'), 7, 'must not contain an unpaired surrogate'],
    [
      'half of a surrogate pair in a name',
      '/event',
      '{"playerUniqueId":"bad","events":{"\\udc00":{}}}',
      7,
      'an unpaired surrogate',
    ],
    [
      'a member __proto__',
      '/player',
      player('{"__proto__":{"city":"x"}}'),
      7,
      'The member "playerAttributes.__proto__" is not allowed',
    ],
    [
      'a custom member __proto__',
      '/player',
      player('{"custom":{"__proto__":1}}'),
      7,
      'The member "playerAttributes.custom.__proto__" is not allowed',
    ],
    [
      'a hidden member __proto__',
      '/event',
      '{"playerUniqueId":"bad","events":{"\\u005f_proto__":{}}}',
      7,
      'is not allowed',
    ],
    [
      'a repeated attribute',
      '/player',
      player('{"city":"a","city":"b"}'),
      7,
      'The member "playerAttributes.city" is repeated',
    ],
    ['100 levels', '/player', player(nested(100)), 7, 'more than 32 levels'],
    [
      '100 levels of events',
      '/event',
      `{"playerUniqueId":"bad","events":{"a":${nested(100)}}}`,
      7,
      'more than 32 levels',
    ],
    ['100,000 levels', '/player', '['.repeat(100_000), 7, 'more than 32 levels'],
    ['a number that is too large', '/player', player('{"totalSpent":1e999}'), 7, 'a number that is too large'],
    ['attributes as text', '/player', player('"x"'), 5, 'playerAttributes must be an object'],
    ['attributes as a list', '/player', player('[]'), 5, 'playerAttributes must be an object'],
    ['a number as text', '/player', player('{"city":5}'), 5, 'playerAttributes.city must be text'],
    ['text as a number', '/player', player('{"totalSpent":"5"}'), 5, 'playerAttributes.totalSpent must be a number'],
    [
      'a fraction of orders',
      '/player',
      player('{"totalOrders":1.5}'),
      5,
      'playerAttributes.totalOrders must be a whole number',
    ],
    ['a list of tags', '/player', player('{"tags":["a"]}'), 5, 'playerAttributes.tags must be text'],
    [
      'a date of another calendar',
      '/player',
      player('{"joinDate":"01/05/2025"}'),
      5,
      'playerAttributes.joinDate must be a date like',
    ],
    [
      'the 30th of February',
      '/player',
      player('{"dateOfBirth":"2025-02-30"}'),
      5,
      'playerAttributes.dateOfBirth must be a date like',
    ],
    [
      '25 hours',
      '/player',
      player('{"lastOrderDate":"2025-05-01T25:00:00Z"}'),
      5,
      'playerAttributes.lastOrderDate must be a date like',
    ],
    ['custom as a list', '/player', player('{"custom":[]}'), 5, 'playerAttributes.custom must be an object'],
    [
      'a custom object',
      '/player',
      player('{"custom":{"a":{}}}'),
      5,
      'playerAttributes.custom.a must be text or a number',
    ],
    [
      'a custom boolean',
      '/player',
      player('{"custom":{"a":true}}'),
      5,
      'playerAttributes.custom.a must be text or a number',
    ],
    [
      'a numeric deviceToken',
      '/player',
      '{"playerUniqueId":"bad","deviceToken":1,"osType":"ios"}',
      5,
      'deviceToken must be text',
    ],
  ])('%s: 400, and nothing is stored', async (_name, path, body, code, message) => {
    const before = await stored();
    const refused = await client.rest('POST', path, body);
    expect(refused).toMatchObject({ status: 400, body: { code, message: expect.stringContaining(message) } });
    expect(await stored()).toEqual(before);
  });

  test('a bad member leaves the good ones of the same request unstored', async () => {
    await client.upsert('half', { city: 'Bonn' });
    expect((await client.upsert('half', { city: 'Köln', totalOrders: 'x' })).status).toBe(400);
    expect((await client.player('half')).body.playerAttributes).toEqual({ city: 'Bonn' });
  });
});

describe('requests that go nowhere', () => {
  test.each<[string, string, string, number, number]>([
    ['an unknown path', 'GET', '/api/v3.0/integrations/coupons', 404, 404],
    ['another version', 'GET', '/api/v2.0/integrations/player/known', 404, 404],
    ['the root', 'GET', '/', 404, 404],
    ['a slash too many', 'GET', '/api/v3.0/integrations/player/known/', 404, 404],
    ['PUT', 'PUT', '/api/v3.0/integrations/player', 404, 404],
    ['PATCH on a player', 'PATCH', '/api/v3.0/integrations/player/known', 404, 404],
    ['DELETE on a list', 'DELETE', '/api/v3.0/integrations/players/known/referrals', 404, 404],
    ['GET of events', 'GET', '/api/v3.0/integrations/event', 404, 404],
    ['DELETE of a landing page', 'DELETE', '/r/x', 404, 404],
    ['an id with NUL', 'GET', '/api/v3.0/integrations/player/a%00b', 400, 5],
    ['an id with a line break', 'GET', '/api/v3.0/integrations/player/a%0Ab', 400, 5],
    ['an id that is not UTF-8', 'GET', '/api/v3.0/integrations/player/%ff', 400, 400],
    ['a broken escape', 'GET', '/api/v3.0/integrations/player/%zz', 400, 400],
    ['an id that is too long', 'GET', `/api/v3.0/integrations/player/${'x'.repeat(1025)}`, 400, 5],
    ['an unknown player', 'GET', '/api/v3.0/integrations/player/unknown', 404, 101],
    ['the coupons of an unknown player', 'GET', '/api/v3.0/integrations/transactions/unknown/coupon', 404, 101],
    ['the referrals of an unknown player', 'GET', '/api/v3.0/integrations/players/unknown/referrals', 404, 101],
    ['an unknown player to delete', 'DELETE', '/api/v3.0/integrations/player/unknown', 404, 101],
  ])('%s', async (_name, method, path, status, code) => {
    const refused = await client.call(method, path);
    expect(refused).toMatchObject({ status, body: { code, message: expect.any(String) } });
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

  test.each(['APIKey', 'apiKey', 'ApiKey', 'apikey', 'APIKEY'])(
    'the spelling %s is understood, in raw bytes',
    async (name) => {
      for (const secret of ['secretKey', 'SecretKey', 'secretkey']) {
        const answer = await raw(
          `GET /api/v3.0/integrations/transactions/known/coupon HTTP/1.1\r\nHost: x\r\n${name}: an-api-key\r\n${secret}: a-secret-key\r\nConnection: close\r\n\r\n`,
        );
        expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
        // One client takes the first brace of the whole answer for the beginning of the body.
        expect(answer.indexOf('{')).toBe(answer.indexOf('\r\n\r\n') + 4);
      }
    },
  );

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

  test.each([
    ['headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['what is no HTTP', 'hello\r\n\r\n', 400],
  ])('too much or no HTTP (%s) is refused', async (_name, request, status) => {
    expect(await raw(request)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });
});

const port = () => Number(new URL(reference.url).port);

/** Sends bytes as they are, and gives the bytes of the answer. */
async function raw(request: string): Promise<string> {
  const socket = connect(port(), '127.0.0.1');
  socket.setEncoding('utf8');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.write(request);
  await once(socket, 'close');
  return answer;
}

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
