import { beforeAll, expect, test } from '@jest/globals';
import type { Client } from './client.ts';
import { onEachStore } from './stores.ts';

const LONGEST = [
  'x'.repeat(1_024),
  'ü'.repeat(512),
  '漢'.repeat(341),
  '🎈'.repeat(256),
  // Text that PostgreSQL cannot compress: an index entry takes all of its bytes.
  Array.from({ length: 1_024 }, (_, index) => String.fromCharCode(33 + ((index * 7919) % 93))).join(''),
];

onEachStore('ids of players', (service) => {
  let client: Client;
  beforeAll(() => {
    client = service().client;
  });

  test.each(LONGEST.map((id) => [id]))('may have 1,024 bytes of UTF-8 (row %#)', async (id) => {
    expect(Buffer.byteLength(id)).toBeGreaterThan(1_020);
    const email = `id${LONGEST.indexOf(id)}@example.com`;
    expect((await client.upsert(id, { email })).body.playerUniqueId).toBe(id);
    expect((await client.track(id, { visit: {} })).status).toBe(200);
    expect((await client.player(id)).body.playerUniqueId).toBe(id);

    // Both sides of a referral have such an id.
    const friend = `F${[...id].slice(1).join('')}`;
    await client.leave(id, `friend.${email}`);
    await client.upsert(friend, { email: `friend.${email}` });
    expect((await client.referrals(id)).body.referredFriends).toMatchObject([{ playerUniqueId: friend }]);
    expect((await client.remove(friend)).status).toBe(200);
    expect((await client.remove(id)).status).toBe(200);
  });

  test.each(['x'.repeat(1_025), 'ü'.repeat(513), '漢'.repeat(342)])('may not have more (row %#)', async (id) => {
    const message = 'playerUniqueId must have at most 1024 bytes of UTF-8';
    for (const reply of [await client.upsert(id), await client.track(id, { a: {} }), await client.player(id)]) {
      expect(reply).toMatchObject({ status: 400, body: { code: 5, message } });
    }
  });

  test.each(['\u061c', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069'])(
    'may not contain the bidirectional control %j',
    async (control) => {
      const message = 'playerUniqueId must not contain bidirectional control characters';
      const id = `a${control}b`;
      for (const reply of [await client.upsert(id), await client.track(id, { a: {} }), await client.player(id)]) {
        expect(reply).toMatchObject({ status: 400, body: { code: 5, message } });
      }
    },
  );

  test.each(['\u05d0\u05d1', '\u0627\u0644', 'a\u200db'])('may be written from right to left: %s', async (id) => {
    expect((await client.upsert(id)).status).toBe(200);
    expect((await client.player(id)).body.playerUniqueId).toBe(id);
  });
});
