import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from './client.ts';
import { startReference } from './kit.ts';
import { onEachStore } from './stores.ts';

describe('a request that is not sent in time', () => {
  test.each([
    ['its head', 'POST /api/v3.0/integrations/player HTTP/1.1\r\nHost: x\r\n'],
    [
      'its body',
      'POST /api/v3.0/integrations/player HTTP/1.1\r\nHost: x\r\nAPIKey: an-api-key\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    ],
  ])('returns 408 when %s does not end', async (_part, bytes) => {
    const reference = await startReference({ requestTimeoutMs: 200, timeoutCheckMs: 50 });
    const socket = connect(Number(new URL(reference.url).port), '127.0.0.1').setEncoding('utf8');
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    const began = performance.now();
    socket.write(bytes);
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(performance.now() - began).toBeLessThan(2_000);
    await reference.close();
  });
});

onEachStore('bounds of what is stored', (service) => {
  let client: Client;
  beforeAll(() => {
    client = service().client;
  });
  const TEXTS = ['displayName', 'firstName', 'lastName', 'mobile', 'gender', 'email', 'tags', 'country', 'city', 'zip'];

  test.each(TEXTS)('%s has at most 1,024 characters', async (name) => {
    for (const text of ['x'.repeat(1_024), '🎈'.repeat(1_024)]) {
      expect((await client.upsert('texts', { [name]: text })).status).toBe(200);
      expect((await client.player('texts')).body.playerAttributes).toMatchObject({ [name]: text });
    }
    for (const text of ['x'.repeat(1_025), '🎈'.repeat(1_025), 'x'.repeat(500_000)]) {
      expect(await client.upsert('texts', { [name]: text })).toMatchObject({
        status: 400,
        body: { code: 5, message: `playerAttributes.${name} must have at most 1024 characters` },
      });
    }
  });

  test.each(['deviceToken', 'osType'])('%s has at most 1,024 characters', async (name) => {
    const more = { deviceToken: 't', osType: 'ios', [name]: 'x'.repeat(1_025) };
    expect((await client.upsert('device', {}, more)).body.message).toBe(`${name} must have at most 1024 characters`);
  });

  test('custom has at most 16 KB of JSON, also when it is merged', async () => {
    // {"a":"…"} has eight characters around the text.
    const full = { a: 'ü'.repeat((16_384 - 8) / 2) };
    expect((await client.upsert('custom', { custom: full })).status).toBe(200);
    const refused = {
      status: 400,
      body: { code: 5, message: 'playerAttributes.custom must have at most 16384 bytes of JSON, known keys included' },
    };
    expect(await client.upsert('custom', { city: 'Bonn', custom: { b: 1 } })).toMatchObject(refused);
    expect((await client.player('custom')).body.playerAttributes).toEqual({ custom: full });
    expect(await client.upsert('new', { custom: { a: `${full.a}x` } })).toMatchObject(refused);
    expect((await client.player('new')).status).toBe(404);
    expect((await client.upsert('custom', { custom: { a: 1, b: 2 } })).status).toBe(200);
  });

  test.each(['9007199254740991', '-9007199254740991', '0.1', '1e-7', '9.007199254740991e15'])(
    'the number %s in custom is kept exactly',
    async (literal) => {
      const body = `{"playerUniqueId":"n","playerAttributes":{"custom":{"orderId":${literal}}}}`;
      expect((await client.rest('POST', '/player', body)).status).toBe(200);
      expect((await client.player('n')).body.playerAttributes.custom).toEqual({ orderId: Number(literal) });
    },
  );

  test.each([
    ['9007199254740993', 5, /^playerAttributes\.custom\.orderId must be text if it is/],
    ['1e300', 5, /^playerAttributes\.custom\.orderId must be text if it is/],
    ['1e400', 7, /^The member "playerAttributes\.custom\.orderId" is a number that is too large$/],
  ])('returns 400 for the number %s in custom, and stores nothing', async (literal, code, message) => {
    const body = `{"playerUniqueId":"inexact","playerAttributes":{"custom":{"orderId":${literal}}}}`;
    expect(await client.rest('POST', '/player', body)).toMatchObject({
      status: 400,
      body: { code, message: expect.stringMatching(message) },
    });
    expect((await client.player('inexact')).status).toBe(404);
  });

  test.each([
    ['2025-05-01', '2025-05-01T00:00:00.000Z'],
    ['2025-05-01T10:30:00.000Z', '2025-05-01T10:30:00.000Z'],
    ['2025-05-01T10:30:00Z', '2025-05-01T10:30:00.000Z'],
    ['2025-05-01T10:30:00.5', '2025-05-01T10:30:00.500Z'],
    ['2025-05-01T10:30:00.123456Z', '2025-05-01T10:30:00.123Z'],
    ['2025-05-01T01:30:00+02:00', '2025-04-30T23:30:00.000Z'],
    ['2025-05-01T10:30', '2025-05-01T10:30:00.000Z'],
  ])('the date %s is read as %s', async (given, joinDate) => {
    await client.upsert('dates', { joinDate: given, lastOrderDate: given });
    expect((await client.player('dates')).body.playerAttributes).toEqual({ joinDate, lastOrderDate: '2025-05-01' });
  });

  test.each(['2025-02-29', '2025-13-01', '2025-1-1', '01/05/2025', '2025-05-01T25:00Z', '1746095400000', 'yesterday'])(
    'returns 400 for the date %s',
    async (given) => {
      for (const name of ['joinDate', 'dateOfBirth', 'lastOrderDate']) {
        const { status, body } = await client.upsert('no dates', { [name]: given });
        expect([status, body.message]).toEqual([400, expect.stringMatching(/ must be a date like 2025-05-01/)]);
      }
    },
  );

  test('returns 400 for a time that its offset moves out of the years 0000 to 9999', async () => {
    expect((await client.upsert('years', { joinDate: '9999-12-31T23:00:00-02:00' })).status).toBe(400);
    expect((await client.upsert('years', { joinDate: '9999-12-31T23:00:00+02:00' })).status).toBe(200);
  });

  test.each([
    ...['.', '..', '../transactions/victim', 'a/../b', 'a/./b', 'a/..', '..\\b', 'a\\..'],
    ...['%2e%2e', '%2e./x', '..%2fx', '..%2F..%5Cx', '%252e%252e', 'a%252f..%252fb'],
  ])('returns 400 for the id %j: a proxy may resolve its dots', async (id) => {
    for (const reply of [await client.upsert(id), await client.track(id, { a: {} })]) {
      expect(reply).toMatchObject({
        status: 400,
        body: { code: 5, message: 'playerUniqueId must not have "." or ".." as a part between slashes' },
      });
    }
    const inPath = encodeURIComponent(id).replaceAll('.', '%2E');
    // fetch itself resolves %2E%2E as a part.
    if (id !== '.' && id !== '..') expect((await client.rest('GET', `/player/${inPath}`)).status).toBe(400);
  });

  test.each(['a..b', '...', '.a', 'a.', 'x/..y', '100%', 'a%2eb', '%'])('the id %j has no such part', async (id) => {
    expect((await client.upsert(id)).status).toBe(200);
    expect((await client.player(id)).body.playerUniqueId).toBe(id);
  });
});
