import { request } from 'node:http';
import { beforeAll, expect, test } from '@jest/globals';
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
  const KEYS = { APIKey: 'an-api-key', secretKey: 'a-secret-key' };

  test.each([
    ['APIKEY', 'SECRETKEY'],
    ['apikey', 'secretkey'],
  ])('spell the headers %s and %s', async (name, secret) => {
    const headers = { [name]: KEYS.APIKey, [secret]: KEYS.secretKey };
    expect((await send('GET', '/transactions/known/coupon', headers)).status).toBe(200);
  });

  test('send null for every object that they do not know', async () => {
    await client.upsert('nulls', { city: 'Bonn' });
    const nulls = { playerUniqueId: 'nulls', playerAttributes: null, deviceToken: null, osType: null, guest: null };
    expect((await client.rest('POST', '/player', nulls)).status).toBe(200);
    expect((await client.player('nulls')).body.playerAttributes).toEqual({ city: 'Bonn' });
  });

  test.each([
    ['an e-mail address', 'un.escaped+tag@example.com', '/un.escaped+tag@example.com'],
    ['a colon and commas', 'urn:user:1,2', '/urn:user:1,2'],
    ['a dollar sign and brackets', '$user(1)!', '/$user(1)!'],
    ['an apostrophe and a star', "o'neill*", "/o'neill*"],
    ['a half-escaped id', 'a b&c=d', '/a%20b&c=d'],
    ['an escaped at sign', 'user@example.com', '/user%40example.com'],
    ['a slash and a percent sign', 'a/100%', '/a%2F100%25'],
    ['an emoji', 'Zoë 🎈', `/${encodeURIComponent('Zoë 🎈')}`],
  ])('send ids in paths with %s', async (_name, id, path) => {
    await client.upsert(id, { city: 'Bonn' });
    for (const [method, prefix, suffix] of [
      ['GET', '/player', ''],
      ['GET', '/transactions', '/coupon'],
      ['GET', '/players', '/referrals'],
      ['DELETE', '/player', ''],
    ] as const) {
      const { status } = await send(method, `${prefix}${path}${suffix}`, KEYS);
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
    const path = `/player/${encodeURIComponent(name)}`;
    for (const method of ['GET', 'DELETE']) {
      expect((await send(method, path, { ...KEYS, ...headers }, body)).status).toBe(200);
    }
  });

  test('unknown members at every level, in the query and in the headers are ignored', async () => {
    const unknown = { utm: { source: 'x' }, devices: [{ a: 1 }], level: 1, referrerCode: null };
    const body = { playerUniqueId: 'more', playerAttributes: { city: 'Bonn', ...unknown }, ...unknown };
    const headers = { ...KEYS, 'Content-Type': 'application/json; charset=utf-8', 'X-Client': 'x' };
    expect((await send('POST', '/player?source=x', headers, JSON.stringify(body))).status).toBe(200);
    expect((await client.player('more')).body.playerAttributes).toEqual({ city: 'Bonn' });
    expect((await client.referrals('more', '?sort=asc&page=1')).status).toBe(200);
    const event = { playerUniqueId: 'more', events: { visit: { page: '/' } }, context: unknown };
    expect((await send('POST', '/event', headers, JSON.stringify(event))).status).toBe(200);
  });
});
