import { once } from 'node:events';
import { request } from 'node:http';
import { expect, test } from '@jest/globals';
import { KEYS } from './client.ts';
import { contentOf, onEachStore } from './kit.ts';

/* What is read, as clients in several languages are known to send it. */

/** Text that PostgreSQL cannot compress: an index entry takes all of its bytes. */
const RANDOM = Array.from({ length: 1_024 }, (_, index) => String.fromCharCode(33 + ((index * 7919) % 93))).join('');
const PLAIN = ['ü'.repeat(512), '漢'.repeat(341), RANDOM, ...'a..b .a x/..y a%2eb a/100% a\u200dZoë🎈'.split(' ')];

/** Ids, and how clients write them in a path. */
const IDS: [id: string, path: string][] = [
  ...PLAIN.map((id): [string, string] => [id, encodeURIComponent(id)]),
  ["$o'neill(1)*!,urn:x+tag@example.com", "$o'neill(1)*!,urn:x+tag@example.com"],
];

const dates = (joinDate: string) => `{"joinDate":"${joinDate}","lastOrderDate":"${joinDate}"}`;

const ATTRIBUTES: [sent: string, read: object][] = [
  [dates('2025-05-01'), { joinDate: '2025-05-01T00:00:00.000Z', lastOrderDate: '2025-05-01' }],
  [dates('2025-05-01T10:30'), { joinDate: '2025-05-01T10:30:00.000Z' }],
  [dates('2025-05-01T10:30+02:00'), { joinDate: '2025-05-01T08:30:00.000Z' }],
  [dates('2025-05-01T10:30:00.123456Z'), { joinDate: '2025-05-01T10:30:00.123Z' }],
  [dates('2025-05-01T01:30:00+02:00'), { joinDate: '2025-04-30T23:30:00.000Z', lastOrderDate: '2025-05-01' }],
  ['{"custom":{"a":9007199254740991,"b":-9.007199254740991e15}}', { custom: { a: 2 ** 53 - 1, b: 1 - 2 ** 53 } }],
  [JSON.stringify({ city: '🎈'.repeat(1_024) }), { city: '🎈'.repeat(1_024) }],
  ['{"city":"Bonn","utm":{"source":"x"},"devices":[{"a":1}],"level":1}', { city: 'Bonn' }],
];

onEachStore('clients', (client, service) => {
  test.each(IDS)('use the id %s, for both sides of a referral', async (id, path) => {
    const email = `${IDS.findIndex(([one]) => one === id)}@example.com`;
    const friend = `F${[...id].slice(1).join('')}`;
    expect((await client.upsert(id)).body.playerUniqueId).toBe(id);
    expect((await client.track(id, { visit: {} })).status).toBe(200);
    await client.leave(id, email);
    await client.upsert(friend, { email });
    expect((await client.rest('GET', `/player/${path}`)).body.playerUniqueId).toBe(id);
    expect((await client.rest('GET', `/transactions/${path}/coupon`)).status).toBe(200);
    const { referredFriends } = (await client.rest('GET', `/players/${path}/referrals`)).body;
    expect(referredFriends).toMatchObject([{ playerUniqueId: friend }]);
    expect((await client.rest('DELETE', `/player/${path}`)).status).toBe(200);
    expect((await client.player(id)).status).toBe(404);
  });

  test('number their users', async () => {
    expect((await client.track(4711, { visit: {} })).status).toBe(200);
    expect((await client.player('4711')).status).toBe(200);
  });

  test.each(ATTRIBUTES)('send the attributes %s', async (sent, read) => {
    const body = `{"playerUniqueId":${JSON.stringify(sent.slice(0, 99))},"playerAttributes":${sent}}`;
    expect((await client.rest('POST', '/player', body)).status).toBe(200);
    expect(await client.attributes(sent.slice(0, 99))).toMatchObject(read);
  });

  test.each([
    [{ deviceToken: '', osType: null }],
    [{ osType: 'android' }],
    [{ playerAttributes: null, utm: [{ a: 1 }] }],
  ])('send %j, which is ignored', async (more) => {
    const headers = { 'content-type': 'Application/JSON;charset=utf-8', 'x-client': 'x' };
    for (const path of ['player', 'event']) {
      const body = { playerUniqueId: 'more', ...(path === 'event' && { events: { visit: {} } }), ...more };
      expect((await client.rest('POST', `/${path}?source=x`, body, headers)).status).toBe(200);
    }
    expect((await client.referrals('more', '?sort=asc&page=1')).status).toBe(200);
  });

  test.each([
    ['{"a":null,"b":{}}', ['{}', '{}']],
    ['{"a":{"none":null,"empty":"","n":1}}', ['{"n":1}']],
    [
      '{"a":{"n":[0.1,1e3,-9007199254740991,1234567890.1234567],"t":"9007199254740993"}}',
      ['{"n":[0.1,1000,-9007199254740991,1234567890.1234567],"t":"9007199254740993"}'],
    ],
  ])(
    'send the events %s: what is absent is not stored, numbers as exactly as a double holds them',
    async (events, stored) => {
      const id = JSON.stringify(events);
      expect(
        (await client.rest('POST', '/event', `{"playerUniqueId":${JSON.stringify(id)},"events":${events}}`)).status,
      ).toBe(200);
      const { players, events: rows } = await contentOf(service());
      const player = players.find(({ player_unique_id }) => player_unique_id === id);
      expect(rows.filter(({ player_id }) => player_id === player?.id).map(({ metadata }) => metadata)).toEqual(stored);
    },
  );

  test('send query parameters without a value, which are absent', async () => {
    await client.upsert('pages');
    for (const query of ['?page=', '?limit=', '?page=&limit=']) {
      expect(await client.referrals('pages', query)).toMatchObject({ status: 200, body: { count: 0, total: 0 } });
    }
  });

  const JSON_TYPE = { 'content-type': 'application/json' };
  test.each([
    ['no body and no length', {}, undefined],
    ['the content type of JSON and no body', JSON_TYPE, undefined],
    ['an empty body in chunks', { ...JSON_TYPE, 'transfer-encoding': 'chunked' }, ''],
    ['an object', { ...JSON_TYPE, 'content-length': '2' }, '{}'],
  ])('read and delete with %s, and any spelling of the keys', async (name, more, body) => {
    await client.upsert(name);
    // `fetch` would change the headers.
    const send = async (method: string, headers: Record<string, string>) => {
      const url = new URL(`/api/v3.0/integrations/player/${name}`, service().url);
      const [response] = await once(request(url, { method, headers, agent: false }).end(body), 'response');
      response.resume();
      return response.statusCode;
    };
    expect(await send('GET', { apikey: KEYS.APIKey, ...more })).toBe(200);
    expect(await send('DELETE', { APIKEY: KEYS.APIKey, SecretKey: KEYS.secretKey, ...more })).toBe(200);
  });
});
