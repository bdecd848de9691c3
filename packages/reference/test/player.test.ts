import { expect, test } from '@jest/globals';
import { contentOf, onEachStore } from './kit.ts';

const ATTRIBUTES = {
  ...{ displayName: 'Player One', firstName: 'Player', lastName: 'One', gender: 'F', mobile: '+49 151 1234567' },
  ...{ email: 'one@example.com', tags: 'vip,newsletter', country: 'DE', city: 'Berlin', zip: '10115' },
  ...{ dateOfBirth: '1990-04-01T00:00:00.000Z', joinDate: '2024-02-29T12:00:00.000Z', lastOrderDate: '2025-05-01' },
  ...{ totalSpent: 420.5, totalOrders: 7, avgOrderAmount: 60.07, custom: { favouriteColour: 'green', shoeSize: 42 } },
};

onEachStore('players', (client, service) => {
  test('a player is created, and read back with every attribute', async () => {
    const created = await client.upsert('one', ATTRIBUTES, { deviceToken: 'token', osType: 'ios' });
    expect(created).toMatchObject({ status: 200 });
    expect(created.body).toEqual({
      playerUniqueId: 'one',
      serviceId: expect.stringMatching(/^[\da-f-]{36}$/),
      referralLink: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/r\/[\w-]{16}$/),
    });
    const { referralLink } = created.body;
    const read = await client.player('one');
    expect(read.status).toBe(200);
    expect(read.body).toEqual({ playerUniqueId: 'one', playerAttributes: ATTRIBUTES, referralLink });
  });

  test('an update keeps what it does not send, link and service id included, and merges custom by key', async () => {
    const created = await client.upsert('merged', ATTRIBUTES);
    const updated = await client.upsert('merged', { city: 'Bonn', custom: { shoeSize: 43, hat: 'yes' } });
    expect(updated.body).toEqual(created.body);
    const custom = { favouriteColour: 'green', shoeSize: 43, hat: 'yes' };
    expect(await client.attributes('merged')).toEqual({ ...ATTRIBUTES, city: 'Bonn', custom });
  });

  test('nulls and empty texts say nothing: an e-mail with nulls beside it changes the e-mail alone', async () => {
    await client.upsert('nulls', ATTRIBUTES);
    const nulls = Object.fromEntries(Object.keys(ATTRIBUTES).map((name) => [name, null]));
    await client.upsert('nulls', { ...nulls, city: '', email: 'new@example.com' }, { deviceToken: null, osType: null });
    expect(await client.attributes('nulls')).toEqual({ ...ATTRIBUTES, email: 'new@example.com' });
    await client.upsert('only-nulls', nulls);
    expect(await client.attributes('only-nulls')).toEqual({});
    await client.upsert('null-custom', { custom: { a: null, b: 1 } });
    expect(await client.attributes('null-custom')).toEqual({ custom: { b: 1 } });
  });

  test('Lang names a language of the account, in any case; another one is refused', async () => {
    const { referralLink } = (await client.upsert('polyglot')).body;
    const french = await client.player('polyglot', { Lang: 'FR' });
    expect(french.headers.get('content-language')).toBe('fr');
    expect(french.body.referralLink).toBe(referralLink);
    expect((await client.player('polyglot', { Lang: '' })).headers.get('content-language')).toBeNull();
    const body = { code: 5, message: 'Lang must be one of en, de, es, fr' };
    expect(await client.player('polyglot', { Lang: 'tlh' })).toMatchObject({ status: 400, body });
  });

  test('a deleted player is gone, with what belonged to it; created again, it is new', async () => {
    const before = await client.upsert('deleted', ATTRIBUTES);
    await client.give('deleted', 'welcome');
    expect(await client.remove('deleted')).toMatchObject({ status: 200, text: '' });
    for (const ask of [client.player, client.coupons, client.referrals, client.remove]) {
      expect(await ask('deleted')).toMatchObject({ status: 404, body: { code: 101 } });
    }
    const after = await client.upsert('deleted');
    expect(after.body.serviceId).not.toBe(before.body.serviceId);
    expect(after.body.referralLink).not.toBe(before.body.referralLink);
    expect(await client.attributes('deleted')).toEqual({});
    expect((await client.coupons('deleted')).body).toEqual({ coupons: [] });
  });

  const eventsOf = async (playerUniqueId: string) => {
    const { players, events } = await contentOf(service());
    const player = players.find(({ player_unique_id }) => player_unique_id === playerUniqueId);
    return events
      .filter(({ player_id }) => player_id === player?.id)
      .map(({ name, metadata }) => [name, JSON.parse(metadata)]);
  };

  test('events create the player when unknown, and are kept with their metadata', async () => {
    const events = { order: { amount: 12.5, tags: ['a', 1], note: 'x', '': 2 }, visit: {}, other: { amount: 3 } };
    expect(await client.track('new', { ...events, bare: null })).toMatchObject({ status: 200, text: '' });
    expect((await client.player('new')).body).toMatchObject({ playerUniqueId: 'new', playerAttributes: {} });
    expect(await eventsOf('new')).toEqual([...Object.entries(events), ['bare', {}]]);
  });

  test('any number of events is stored: 20,000 of one request', async () => {
    const names = Array.from({ length: 20_000 }, (_, number) => `event ${number}`);
    const events = Object.fromEntries(names.map((name) => [name, {}]));
    expect(await client.track('many', events)).toMatchObject({ status: 200, text: '' });
    expect((await eventsOf('many')).map(([name]) => name)).toEqual(names);
  });
});
