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
    const { status, body } = await client.upsert('one', ATTRIBUTES, { deviceToken: 'token', osType: 'ios' });
    const referralLink = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/r\/[\w-]{16}$/);
    const serviceId = expect.stringMatching(/^[\da-f-]{36}$/);
    expect([status, body]).toEqual([200, { playerUniqueId: 'one', serviceId, referralLink }]);
    const read = { playerUniqueId: 'one', playerAttributes: ATTRIBUTES, referralLink: body.referralLink };
    expect((await client.player('one')).body).toEqual(read);
  });

  test('an update keeps what it does not send, link and service id included, and merges custom by key', async () => {
    const created = await client.upsert('merged', ATTRIBUTES);
    const custom = { shoeSize: 43, hat: 'yes', constructor: 'x', toString: 1 };
    expect((await client.upsert('merged', { city: 'Bonn', custom })).body).toEqual(created.body);
    const merged = { favouriteColour: 'green', ...custom };
    expect(await client.attributes('merged')).toEqual({ ...ATTRIBUTES, city: 'Bonn', custom: merged });
  });

  test('nulls and empty texts say nothing: an e-mail with nulls beside it changes the e-mail alone', async () => {
    const nulls = Object.fromEntries(Object.keys(ATTRIBUTES).map((name) => [name, null]));
    await client.upsert('nulls', nulls);
    expect(await client.attributes('nulls')).toEqual({});
    await client.upsert('nulls', { ...ATTRIBUTES, custom: { ...ATTRIBUTES.custom, a: null } });
    await client.upsert('nulls', { ...nulls, city: '', email: 'new@example.com' });
    expect(await client.attributes('nulls')).toEqual({ ...ATTRIBUTES, email: 'new@example.com' });
  });

  test('Lang names a language of the account, in any case; another one is refused', async () => {
    const { referralLink } = (await client.upsert('polyglot')).body;
    const { headers, body } = await client.player('polyglot', { Lang: 'FR' });
    expect([headers.get('content-language'), body.referralLink]).toEqual(['fr', referralLink]);
    expect((await client.player('polyglot', { Lang: '' })).headers.get('content-language')).toBeNull();
    const refusal = { code: 5, message: 'Lang must be one of en, de, es, fr, ar' };
    expect(await client.player('polyglot', { Lang: 'tlh' })).toMatchObject({ status: 400, body: refusal });
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

  test('any number of events is kept with their metadata, and creates the player', async () => {
    const names = Array.from({ length: 20_000 }, (_, number) => [`event ${number}`, {}]);
    const events = { order: { amount: 12.5, tags: ['a', 1], note: 'x', '': 2 }, ...Object.fromEntries(names) };
    expect(await client.track('new', { ...events, bare: null })).toMatchObject({ status: 200, text: '' });
    expect((await client.player('new')).body).toMatchObject({ playerUniqueId: 'new', playerAttributes: {} });
    const stored = (await contentOf(service())).events.map(({ name, metadata }) => [name, JSON.parse(metadata)]);
    // As text, because a comparison of 20,000 items takes longer than the request.
    expect(JSON.stringify(stored)).toBe(JSON.stringify([...Object.entries(events), ['bare', {}]]));
  });
});
