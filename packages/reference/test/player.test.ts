import { beforeAll, expect, test } from '@jest/globals';
import type { Client } from './client.ts';
import { onEachStore } from './stores.ts';

const ATTRIBUTES = {
  displayName: 'Player One',
  firstName: 'Player',
  lastName: 'One',
  mobile: '+49 151 1234567',
  gender: 'F',
  email: 'one@example.com',
  dateOfBirth: '1990-04-01T00:00:00.000Z',
  joinDate: '2024-02-29T12:00:00.000Z',
  tags: 'vip,newsletter',
  country: 'DE',
  city: 'Berlin',
  zip: '10115',
  totalSpent: 420.5,
  totalOrders: 7,
  lastOrderDate: '2025-05-01',
  avgOrderAmount: 60.07,
  custom: { favouriteColour: 'green', shoeSize: 42 },
};

onEachStore('players', (service) => {
  let client: Client;
  beforeAll(() => {
    client = service().client;
  });

  test('a player is created, and read back with every attribute', async () => {
    const created = await client.upsert('one', ATTRIBUTES, { deviceToken: 'token', osType: 'ios' });
    expect(created.status).toBe(200);
    expect(created.body).toEqual({
      playerUniqueId: 'one',
      serviceId: expect.stringMatching(/^[\da-f-]{36}$/),
      referralLink: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/r\/[\w-]{16}$/),
    });
    const read = await client.player('one');
    expect(read).toMatchObject({ status: 200 });
    expect(read.body).toEqual({
      playerUniqueId: 'one',
      playerAttributes: ATTRIBUTES,
      referralLink: created.body.referralLink,
    });
  });

  test('an update keeps what it does not send, link and service id included, and merges custom by key', async () => {
    const created = await client.upsert('merged', ATTRIBUTES);
    const updated = await client.upsert('merged', { city: 'Bonn', custom: { shoeSize: 43, hat: 'yes' } });
    expect(updated.body).toEqual(created.body);
    expect((await client.player('merged')).body.playerAttributes).toEqual({
      ...ATTRIBUTES,
      city: 'Bonn',
      custom: { favouriteColour: 'green', shoeSize: 43, hat: 'yes' },
    });
  });

  test('nulls and empty texts say nothing: an e-mail with nulls beside it changes the e-mail alone', async () => {
    await client.upsert('nulls', ATTRIBUTES);
    const nulls = Object.fromEntries(Object.keys(ATTRIBUTES).map((name) => [name, null]));
    await client.upsert('nulls', { ...nulls, city: '', email: 'new@example.com' }, { deviceToken: null, osType: null });
    expect((await client.player('nulls')).body.playerAttributes).toEqual({ ...ATTRIBUTES, email: 'new@example.com' });
    await client.upsert('only-nulls', nulls);
    expect((await client.player('only-nulls')).body.playerAttributes).toEqual({});
    await client.upsert('null-custom', { custom: { a: null, b: 1 } });
    expect((await client.player('null-custom')).body.playerAttributes).toEqual({ custom: { b: 1 } });
  });

  test('ids are case-sensitive, and a whole number is read as its digits', async () => {
    await client.upsert('Player One', { city: 'Bonn' });
    await client.upsert('player one', { city: 'Köln' });
    expect((await client.player('Player One')).body.playerAttributes.city).toBe('Bonn');
    expect((await client.player('player one')).body.playerAttributes.city).toBe('Köln');
    expect((await client.upsert(4711)).body.playerUniqueId).toBe('4711');
    await client.track(4711, { visit: {} });
    expect((await client.player('4711')).status).toBe(200);
  });

  test.each([
    ['a deviceToken without its osType', { deviceToken: 't' }, 400],
    ['a deviceToken with an osType of null', { deviceToken: 't', osType: null }, 400],
    ['an empty deviceToken', { deviceToken: '' }, 200],
    ['an osType alone', { osType: 'android' }, 200],
  ])('%s', async (name, more, status) => {
    const reply = await client.upsert(name, { city: 'Bonn' }, more);
    expect(reply.status).toBe(status);
    if (status === 400) expect(reply.body.message).toBe('osType must be given with a deviceToken');
    expect((await client.player(name)).status).toBe(status === 200 ? 200 : 404);
  });

  test('Lang names a language of the account, in any case; another one is refused', async () => {
    const { referralLink } = (await client.upsert('polyglot')).body;
    const french = await client.player('polyglot', { Lang: 'FR' });
    expect(french.headers.get('content-language')).toBe('fr');
    expect(french.body.referralLink).toBe(referralLink);
    expect((await client.player('polyglot', { Lang: '' })).headers.get('content-language')).toBeNull();
    expect(await client.player('polyglot', { Lang: 'tlh' })).toMatchObject({
      status: 400,
      body: { code: 5, message: 'Lang must be one of en, de, es, fr' },
    });
  });

  test('a deleted player is gone, with what belonged to it; created again, it is new', async () => {
    const before = await client.upsert('deleted', ATTRIBUTES);
    await client.give('deleted', 'welcome');
    expect(await client.remove('deleted')).toMatchObject({ status: 200, text: '' });
    for (const reply of [client.player, client.coupons, client.referrals, client.remove]) {
      expect(await reply('deleted')).toMatchObject({ status: 404, body: { code: 101 } });
    }
    const after = await client.upsert('deleted');
    expect(after.body.serviceId).not.toBe(before.body.serviceId);
    expect(after.body.referralLink).not.toBe(before.body.referralLink);
    expect((await client.player('deleted')).body.playerAttributes).toEqual({});
    expect((await client.coupons('deleted')).body).toEqual({ coupons: [] });
  });

  test.each(['application/json; charset=UTF-8', 'application/json;charset=utf-8', 'APPLICATION/JSON'])(
    'a body of type %s is read',
    async (type) => {
      const headers = { 'content-type': type };
      expect((await client.rest('POST', '/player', { playerUniqueId: type }, headers)).status).toBe(200);
      expect((await client.player(type)).status).toBe(200);
    },
  );
});
