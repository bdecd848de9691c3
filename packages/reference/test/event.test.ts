import { beforeAll, expect, test } from '@jest/globals';
import type { Client } from './client.ts';
import { onEachStore } from './stores.ts';

onEachStore('events', (service) => {
  let client: Client;
  beforeAll(() => {
    client = service().client;
  });
  const storedOf = async (playerUniqueId: string) => {
    const rows = await service().reference.store.read((queries) =>
      queries
        .selectFrom('events')
        .innerJoin('players', 'players.id', 'events.player_id')
        .select(['events.name', 'events.metadata'])
        .where('player_unique_id', '=', playerUniqueId)
        .orderBy('events.id')
        .execute(),
    );
    return rows.map(({ name, metadata }) => [name, JSON.parse(metadata)]);
  };

  test('events create the player when unknown, and are kept with their metadata', async () => {
    const events = { place_order: { amount: 12.5, categories: ['a', 'b'], note: 'x' }, visit: {} };
    expect(await client.track('new', events)).toMatchObject({ status: 200, text: '' });
    expect((await client.player('new')).body).toMatchObject({ playerUniqueId: 'new', playerAttributes: {} });
    expect(await storedOf('new')).toEqual(Object.entries(events));
  });

  test.each([
    ['a boolean', true],
    ['null', null],
    ['an object', { b: 1 }],
    ['an array with a boolean', [1, 'x', true]],
    ['an array in an array', [['x']]],
  ])('returns 400 for a metadata value that is %s, and stores nothing', async (name, value) => {
    expect(await client.track(name, { visit: { good: 1 }, bad: { k: value } })).toMatchObject({
      status: 400,
      body: {
        code: 5,
        message: expect.stringMatching(/^events\.bad\.k must be a number, text or an array of them$/),
      },
    });
    expect((await client.player(name)).status).toBe(404);
  });

  test.each([[8_192], [20_000]])('stores %d events of one request, in one transaction', async (count) => {
    const names = Array.from({ length: count }, (_, number) => `event ${number}`);
    const events = Object.fromEntries(names.map((name) => [name, {}]));
    expect(await client.track(`many ${count}`, events)).toMatchObject({ status: 200, text: '' });
    expect((await storedOf(`many ${count}`)).map(([name]) => name)).toEqual(names);
  });

  test('null in place of metadata is no metadata', async () => {
    expect((await client.track('bare', { visit: null })).status).toBe(200);
    expect(await storedOf('bare')).toEqual([['visit', {}]]);
  });

  test.each<[message: string, code: number, ...properties: string[]]>([
    ['The member "events.a" is repeated', 7, '"events":{"a":{},"b":{},"a":{}}', '"events":{"a":{},"\\u0061":{}}'],
    ['The member "events.a.k" is repeated', 7, '"events":{"a":{"k":1,"k":1}}'],
    ['The member "events" is repeated', 7, '"events":{"a":{}},"events":{"b":{}}'],
    ['events is missing', 4, '"other":1', '"events":null'],
    ['events must have at least one event', 5, '"events":{}'],
    ['events must be an object', 5, '"events":[{"a":{}}]'],
    ['events.b must be an object', 5, '"events":{"a":{},"b":"x"}'],
    ['events.a must be an object', 5, '"events":{"a":[]}'],
    ['must not be empty', 5, '"events":{"":{}}'],
    ['must not contain control characters', 5, '"events":{"a\\nb":{}}'],
    ['at most 256 characters', 5, `"events":{"${'x'.repeat(257)}":{}}`],
  ])('returns 400 with "%s", and stores nothing', async (message, code, ...properties) => {
    for (const property of properties) {
      const refused = await client.rest('POST', '/event', `{"playerUniqueId":"refused",${property}}`);
      expect(refused).toMatchObject({ status: 400, body: { code, message: expect.stringContaining(message) } });
    }
    expect((await client.player('refused')).status).toBe(404);
  });

  test('equal keys of different events are no repetition', async () => {
    const events = { a: { k: 1, '': 2 }, b: { k: 3 } };
    expect((await client.track('keys', events)).status).toBe(200);
    expect(await storedOf('keys')).toEqual(Object.entries(events));
  });
});
