import { once } from 'node:events';
import { request } from 'node:http';
import { beforeAll, expect, test } from '@jest/globals';
import { KEYS } from './client.ts';
import { onEachStore } from './kit.ts';

/* What is read, as clients in several languages are known to send it. */

/** Text that PostgreSQL cannot compress: an index entry takes all of its bytes. */
const RANDOM = Array.from({ length: 1_024 }, (_, index) => String.fromCharCode(33 + ((index * 7919) % 93))).join('');

const IDS: [id: string, path?: string][] = [
  ...['x'.repeat(1_024), 'ü'.repeat(512), '漢'.repeat(341), '🎈'.repeat(256), RANDOM].map((id): [string] => [id]),
  ...['אב', 'ال', 'a\u200db', 'a..b', '...', '.a', 'a.', 'x/..y', 'a%2eb', 'Zoë 🎈'].map((id): [string] => [id]),
  ['un.escaped+tag@example.com', 'un.escaped+tag@example.com'],
  ["$o'neill(1)*!,urn:x", "$o'neill(1)*!,urn:x"],
  ['a b&c=d', 'a%20b&c=d'],
  ['a/100%', 'a%2F100%25'],
];

onEachStore('clients', (client, service) => {
  beforeAll(async () => void (await client.upsert('known')));

  test.each(IDS)('use the id %s, for both sides of a referral', async (id, path = encodeURIComponent(id)) => {
    const email = `friend${IDS.findIndex(([one]) => one === id)}@example.com`;
    const friend = `F${[...id].slice(1).join('')}`;
    expect((await client.upsert(id)).body.playerUniqueId).toBe(id);
    expect((await client.track(id, { visit: {} })).status).toBe(200);
    await client.leave(id, email);
    await client.upsert(friend, { email });
    expect((await client.rest('GET', `/player/${path}`)).body.playerUniqueId).toBe(id);
    expect((await client.rest('GET', `/transactions/${path}/coupon`)).status).toBe(200);
    const { referredFriends } = (await client.rest('GET', `/players/${path}/referrals`)).body;
    expect(referredFriends).toMatchObject([{ playerUniqueId: friend }]);
    expect((await client.remove(friend)).status).toBe(200);
    expect((await client.rest('DELETE', `/player/${path}`)).status).toBe(200);
    expect((await client.player(id)).status).toBe(404);
  });

  test('number their users; ids are case-sensitive', async () => {
    expect((await client.upsert(4711, { city: 'Bonn' })).body.playerUniqueId).toBe('4711');
    await client.track(4711, { visit: {} });
    expect(await client.attributes('4711')).toEqual({ city: 'Bonn' });
    await client.upsert('One', { city: 'Bonn' });
    await client.upsert('one', { city: 'Köln' });
    expect([await client.attributes('One'), await client.attributes('one')]).toEqual([
      { city: 'Bonn' },
      { city: 'Köln' },
    ]);
  });

  test('send texts of 1,024 characters', async () => {
    for (const city of ['x'.repeat(1_024), '🎈'.repeat(1_024)]) {
      expect((await client.upsert('texts', { city })).status).toBe(200);
      expect(await client.attributes('texts')).toEqual({ city });
    }
  });

  test.each(['9007199254740991', '-9007199254740991', '0.1', '1e-7', '9.007199254740991e15'])(
    'send the number %s in custom, which is kept exactly',
    async (literal) => {
      await client.rest(
        'POST',
        '/player',
        `{"playerUniqueId":"n","playerAttributes":{"custom":{"orderId":${literal}}}}`,
      );
      expect(await client.attributes('n')).toEqual({ custom: { orderId: Number(literal) } });
    },
  );

  test.each([
    ['2025-05-01', '2025-05-01T00:00:00.000Z'],
    ['2025-05-01T10:30', '2025-05-01T10:30:00.000Z'],
    ['2025-05-01T10:30:00Z', '2025-05-01T10:30:00.000Z'],
    ['2025-05-01T10:30:00.5', '2025-05-01T10:30:00.500Z'],
    ['2025-05-01T10:30:00.123456Z', '2025-05-01T10:30:00.123Z'],
    ['2025-05-01T01:30:00+02:00', '2025-04-30T23:30:00.000Z'],
  ])('send the date %s, which is read as %s', async (given, joinDate) => {
    await client.upsert('dates', { joinDate: given, lastOrderDate: given });
    expect(await client.attributes('dates')).toEqual({ joinDate, lastOrderDate: '2025-05-01' });
  });

  test('send null for every object that they do not know', async () => {
    await client.upsert('nulls', { city: 'Bonn' });
    const nulls = { playerAttributes: null, deviceToken: null, osType: null, guest: null };
    expect((await client.rest('POST', '/player', { playerUniqueId: 'nulls', ...nulls })).status).toBe(200);
    expect(await client.attributes('nulls')).toEqual({ city: 'Bonn' });
  });

  test.each([{ deviceToken: '' }, { deviceToken: '', osType: '' }, { osType: 'android' }])(
    'send %j',
    async (device) => {
      expect((await client.upsert('device', { city: 'Bonn' }, device)).status).toBe(200);
    },
  );

  test('send members, query parameters and headers that are unknown, which are ignored', async () => {
    const unknown = { utm: { source: 'x' }, devices: [{ a: 1 }], level: 1, referrerCode: null };
    const body = { playerUniqueId: 'more', playerAttributes: { city: 'Bonn', ...unknown }, ...unknown };
    expect((await client.rest('POST', '/player?source=x', body, { 'x-client': 'x' })).status).toBe(200);
    expect(await client.attributes('more')).toEqual({ city: 'Bonn' });
    expect((await client.referrals('more', '?sort=asc&page=1')).status).toBe(200);
    const event = { playerUniqueId: 'more', events: { visit: { page: '/' } }, context: unknown };
    expect((await client.rest('POST', '/event', event)).status).toBe(200);
  });

  test.each(['application/json; charset=UTF-8', 'application/json;charset=utf-8', 'APPLICATION/JSON'])(
    'send the content type %s',
    async (type) => {
      const body = { playerUniqueId: type };
      expect((await client.rest('POST', '/player', body, { 'content-type': type })).status).toBe(200);
    },
  );

  /** Sends exactly these headers, which `fetch` would change. */
  const send = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
    const url = new URL(`/api/v3.0/integrations${path}`, service().url);
    const [response] = await once(request(url, { method, headers, agent: false }).end(body), 'response');
    response.resume();
    return response.statusCode;
  };

  test.each(['toUpperCase', 'toLowerCase'] as const)('spell the headers of the keys in any case: %s', async (spell) => {
    const headers = Object.fromEntries(Object.entries(KEYS).map(([name, key]) => [name[spell](), key]));
    expect(await send('GET', '/transactions/known/coupon', headers)).toBe(200);
  });

  const JSON_TYPE = { 'Content-Type': 'application/json' };
  test.each([
    ['no body and no length', {}, undefined],
    ['a length of 0', { 'Content-Length': '0' }, undefined],
    ['the content type of JSON and no body', JSON_TYPE, undefined],
    ['an empty body in chunks', { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' }, ''],
    ['an empty object', { ...JSON_TYPE, 'Content-Length': '2' }, '{}'],
    ['null', { ...JSON_TYPE, 'Content-Length': '4' }, 'null'],
  ])('GET and DELETE with %s', async (name, headers, body) => {
    await client.upsert(name);
    const path = `/player/${encodeURIComponent(name)}`;
    expect(await send('GET', path, { ...KEYS, ...headers }, body)).toBe(200);
    expect(await send('DELETE', path, { ...KEYS, ...headers }, body)).toBe(200);
  });
});
