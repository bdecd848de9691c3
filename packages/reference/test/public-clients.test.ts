import { request } from 'node:http';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from './client.ts';
import { onEachStore } from './stores.ts';

/* What clients in several languages are known to send. */

onEachStore('public clients', (service) => {
  let client: Client;
  beforeAll(async () => {
    client = service().client;
    await client.upsert('known', { email: 'known@example.com' });
  });
  /** Sends a request with exactly these headers and this path, which `fetch` would change. */
  const send = (method: string, path: string, headers: Record<string, string>, body?: string) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const { hostname, port } = new URL(service().reference.url);
      const options = { hostname, port, method, path: `/api/v3.0/integrations${path}`, headers, agent: false };
      request(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode, text }));
      })
        .on('error', reject)
        .end(body);
    });
  const [API_KEY, SECRET] = ['an-api-key', 'a-secret-key'];
  const CALLS: [method: string, path: string, body?: object][] = [
    ['POST', '/player', { playerUniqueId: 'spelled' }],
    ['GET', '/player/known'],
    ['GET', '/transactions/known/coupon'],
    ['GET', '/players/known/referrals?page=1&limit=50'],
    ['POST', '/event', { playerUniqueId: 'known', events: { visit: {} } }],
    ['DELETE', '/player/spelled'],
  ];

  describe.each(['APIKey', 'apiKey', 'ApiKey', 'apikey', 'APIKEY', 'Apikey'])('the header %s', (name) => {
    test.each(['secretKey', 'SecretKey', 'secretkey', 'SECRETKEY'])('with %s on every call', async (secret) => {
      for (const [method, path, body] of CALLS) {
        const headers = { [name]: API_KEY, [secret]: SECRET, 'Content-Type': 'application/json' };
        const { status } = await send(method, path, headers, body && JSON.stringify(body));
        expect([method, path, status]).toEqual([method, path, 200]);
      }
    });
  });

  test('twenty nulls: every member that the client does not know', async () => {
    const nulls = Object.fromEntries(
      'displayName firstName lastName mobile gender email dateOfBirth joinDate tags country city zip totalSpent totalOrders lastOrderDate avgOrderAmount custom'
        .split(' ')
        .map((name) => [name, null]),
    );
    const body = { playerUniqueId: 'nulls', playerAttributes: nulls, deviceToken: null, osType: null, guest: null };
    expect(Object.keys(nulls).length + 3).toBe(20);
    await client.upsert('nulls', { city: 'Bonn', custom: { a: 1 } }, { deviceToken: 't', osType: 'ios' });
    expect(await client.rest('POST', '/player', body)).toMatchObject({
      status: 200,
      body: { playerUniqueId: 'nulls', serviceId: expect.any(String), referralLink: expect.any(String) },
    });
    expect((await client.player('nulls')).body.playerAttributes).toEqual({ city: 'Bonn', custom: { a: 1 } });
    expect((await client.rest('POST', '/player', { ...body, playerAttributes: null })).status).toBe(200);
  });

  test.each([
    ['an e-mail address', 'un.escaped+tag@example.com', '/un.escaped+tag@example.com'],
    ['a colon and commas', 'urn:user:1,2', '/urn:user:1,2'],
    ['a dollar sign and brackets', '$user(1)!', '/$user(1)!'],
    ['an apostrophe and a star', "o'neill*", "/o'neill*"],
    ['a half-escaped id', 'a b&c=d', '/a%20b&c=d'],
  ])('ids in paths that are not escaped: %s', async (_name, id, path) => {
    await client.upsert(id, { city: 'Bonn' });
    const headers = { APIKey: API_KEY, secretKey: SECRET };
    for (const [method, prefix, suffix] of [
      ['GET', '/player', ''],
      ['GET', '/transactions', '/coupon'],
      ['GET', '/players', '/referrals'],
      ['DELETE', '/player', ''],
    ] as const) {
      const { status } = await send(method, `${prefix}${path}${suffix}`, headers);
      expect([method, prefix, status]).toEqual([method, prefix, 200]);
    }
    expect((await client.player(id)).status).toBe(404);
  });

  test.each([
    ['no body and no length', {}, undefined],
    ['a length of 0', { 'Content-Length': '0' }, undefined],
    ['the content type of JSON and no body', { 'Content-Type': 'application/json' }, undefined],
    ['an empty body in chunks', { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' }, ''],
    ['an empty object', { 'Content-Type': 'application/json', 'Content-Length': '2' }, '{}'],
    ['null', { 'Content-Type': 'application/json', 'Content-Length': '4' }, 'null'],
  ])('GET and DELETE with %s', async (name, headers, body) => {
    await client.upsert(name);
    const keys = { APIKey: API_KEY, secretKey: SECRET };
    const path = `/player/${encodeURIComponent(name)}`;
    for (const method of ['GET', 'DELETE']) {
      expect((await send(method, path, { ...keys, ...headers }, body)).status).toBe(200);
    }
  });

  test('an empty body where one is required is an error of the client, not of the service', async () => {
    for (const path of ['/player', '/event']) {
      const { status, text } = await send('POST', path, { APIKey: API_KEY, 'Content-Type': 'application/json' });
      expect([status, JSON.parse(text)]).toEqual([400, { code: 4, message: 'The body is missing' }]);
    }
  });

  test('unknown members at every level, in the query and in the headers are ignored', async () => {
    const unknown = { utm: { source: 'x' }, devices: [{ a: 1 }], level: 1, referrerCode: null };
    const body = { playerUniqueId: 'more', playerAttributes: { city: 'Bonn', ...unknown }, ...unknown };
    const headers = { APIKey: API_KEY, 'Content-Type': 'application/json; charset=utf-8', 'X-Client': 'x' };
    expect((await send('POST', '/player?source=x', headers, JSON.stringify(body))).status).toBe(200);
    expect((await client.player('more')).body.playerAttributes).toEqual({ city: 'Bonn' });
    expect((await client.referrals('more', '?sort=asc&page=1')).status).toBe(200);
    const event = { playerUniqueId: 'more', events: { visit: { page: '/' } }, context: unknown };
    expect((await send('POST', '/event', headers, JSON.stringify(event))).status).toBe(200);
  });

  test('reads numbers as ids and null as no metadata', async () => {
    expect((await client.track(4_711, { place_order: null })).status).toBe(200);
    expect((await client.player('4711')).status).toBe(200);
  });
});
