import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from './client.ts';
import { programmeWith } from './programmes.ts';
import { onEachStore } from './stores.ts';

onEachStore('referrals', (service) => {
  let client: Client;
  beforeAll(() => {
    client = service().client;
  });
  const totals = async (playerUniqueId: string) => {
    const { total, totalPending, totalActive } = (await client.referrals(playerUniqueId)).body;
    return { total, totalPending, totalActive };
  };
  const PENDING = { total: 1, totalPending: 1, totalActive: 0 };
  const ACTIVE = { total: 1, totalPending: 0, totalActive: 1 };
  const NONE = { total: 0, totalPending: 0, totalActive: 0 };

  test('the whole story: link, landing page, sign-up, order, coupons for both', async () => {
    await client.upsert('ann');
    expect(await client.leave('ann', 'bob@example.com')).toMatchObject({ status: 200 });
    expect(await totals('ann')).toEqual(NONE);

    await client.upsert('bob', {
      email: 'bob@example.com',
      displayName: 'Bob',
      mobile: '0123456',
      joinDate: '2025-05-01',
    });
    expect((await client.referrals('ann')).body).toEqual({
      referredFriends: [
        {
          playerUniqueId: 'bob',
          displayName: 'Bob',
          email: 'bob@example.com',
          mobileNumber: '0123456',
          joinDate: '2025-05-01T00:00:00.000Z',
          status: 'pending',
        },
      ],
      count: 1,
      ...PENDING,
    });
    expect((await client.coupons('bob')).body.coupons).toMatchObject([{ group: { handle: 'welcome' } }]);
    expect((await client.coupons('ann')).body.coupons).toEqual([]);

    await client.track('bob', { place_order: { amount: 12 } });
    expect((await client.referrals('ann')).body).toMatchObject({ referredFriends: [{ status: 'active' }], ...ACTIVE });
    expect((await client.coupons('ann')).body.coupons).toMatchObject([{ group: { handle: 'thank-you' } }]);
    expect((await client.coupons('bob')).body.coupons).toHaveLength(2);

    await client.track('bob', { place_order: { amount: 12 } });
    expect(await totals('ann')).toEqual(ACTIVE);
    expect((await client.coupons('ann')).body.coupons).toHaveLength(1);
  });

  test.each([
    ['e-mail, trimmed and in any case', 'Cat@Example.com', { email: ' cat@example.COM ' }, PENDING],
    ['another e-mail', 'dog@example.com', { email: 'hen@example.com' }, NONE],
    ['no attributes at all', 'eel@example.com', undefined, NONE],
    ['an e-mail that stands in the mobile', 'fox@example.com', { mobile: 'fox@example.com' }, NONE],
  ])('counts by %s', async (name, left, attributes, expected) => {
    await client.upsert(`referrer of ${name}`);
    await client.leave(`referrer of ${name}`, left);
    await client.upsert(`friend by ${name}`, attributes);
    expect(await totals(`referrer of ${name}`)).toEqual(expected);
  });

  test('only the first attributes count: given later, an e-mail refers nobody', async () => {
    await client.upsert('late referrer');
    await client.leave('late referrer', 'late@example.com');
    await client.upsert('late', { city: 'Bonn' });
    await client.upsert('late', { email: 'late@example.com' });
    expect(await totals('late referrer')).toEqual(NONE);
  });

  test.each([
    ['an event', (id: string) => client.track(id, { visit: {} })],
    ['an upsert without attributes', (id: string) => client.upsert(id)],
    ['an upsert with nulls alone', (id: string) => client.upsert(id, { email: null, city: null })],
  ])('a player created by %s is referred by its first attributes', async (name, create) => {
    await client.upsert(`r ${name}`);
    await client.leave(`r ${name}`, `${name.replaceAll(' ', '-')}@example.com`);
    await create(`f ${name}`);
    await client.upsert(`f ${name}`, { email: `${name.replaceAll(' ', '-')}@example.com` });
    expect(await totals(`r ${name}`)).toEqual(PENDING);
  });

  test('an action before the referral does not make it active; one after it does', async () => {
    await client.upsert('early referrer');
    await client.leave('early referrer', 'early@example.com');
    await client.track('early', { place_order: {} });
    await client.upsert('early', { email: 'early@example.com' });
    expect(await totals('early referrer')).toEqual(PENDING);
    await client.track('early', { other: {} });
    expect(await totals('early referrer')).toEqual(PENDING);
    await client.track('early', { other: {}, place_order: {} });
    expect(await totals('early referrer')).toEqual(ACTIVE);
  });

  test('the first referrer to whom the contact was given wins, and the contact counts once', async () => {
    await client.upsert('first');
    await client.upsert('second');
    await client.leave('first', 'shared@example.com');
    await client.leave('second', 'shared@example.com');
    await client.leave('first', 'shared@example.com');
    await client.upsert('shared', { email: 'shared@example.com' });
    await client.upsert('shared', { email: 'shared@example.com' });
    await client.upsert('a second account', { email: 'shared@example.com' });
    expect([await totals('first'), await totals('second')]).toEqual([PENDING, NONE]);
  });

  test('nobody refers themselves; the next referrer does', async () => {
    await client.upsert('self');
    await client.upsert('other');
    await client.leave('self', 'self@example.com');
    await client.leave('other', 'self@example.com');
    await client.upsert('self', { email: 'self@example.com' });
    expect([await totals('self'), await totals('other')]).toEqual([NONE, PENDING]);
  });

  test('a deleted friend is counted no more; created again, it counts as new', async () => {
    await client.upsert('keeper');
    await client.leave('keeper', 'goer@example.com');
    for (const [event, before, after] of [
      ['visit', PENDING, NONE],
      ['place_order', ACTIVE, NONE],
    ] as const) {
      await client.upsert('goer', { email: 'goer@example.com' });
      await client.track('goer', { [event]: {} });
      expect(await totals('keeper')).toEqual(before);
      await client.remove('goer');
      expect(await totals('keeper')).toEqual(after);
      expect((await client.referrals('keeper')).body.referredFriends).toEqual([]);
    }
  });

  test('with its referrer gone, a friend acts on alone, and a contact is the next referrer’s', async () => {
    await client.upsert('gone');
    await client.upsert('next');
    await client.leave('gone', 'orphan@example.com');
    await client.leave('gone', 'heir@example.com');
    await client.leave('next', 'heir@example.com');
    await client.upsert('orphan', { email: 'orphan@example.com' });
    await client.remove('gone');
    expect((await client.track('orphan', { place_order: {} })).status).toBe(200);
    await client.upsert('heir', { email: 'heir@example.com' });
    expect(await totals('next')).toEqual(PENDING);
  });

  describe('pages', () => {
    beforeAll(async () => {
      await client.upsert('popular');
      for (let number = 0; number < 7; number++) {
        await client.leave('popular', `fan${number}@example.com`);
        await client.upsert(`fan ${number}`, { email: `fan${number}@example.com` });
      }
    });

    test.each([
      ['', [0, 1, 2, 3, 4, 5, 6]],
      ['?limit=3', [0, 1, 2]],
      ['?limit=3&page=2', [3, 4, 5]],
      ['?limit=3&page=3', [6]],
      ['?limit=3&page=4', []],
      ['?limit=200&page=999999999999999', []],
    ])('%j', async (query, fans) => {
      const { referredFriends, ...rest } = (await client.referrals('popular', query)).body;
      expect(referredFriends.map(({ playerUniqueId }) => playerUniqueId)).toEqual(
        fans.map((number) => `fan ${number}`),
      );
      expect(rest).toEqual({ count: fans.length, total: 7, totalPending: 7, totalActive: 0 });
    });

    test.each([
      'page=0',
      'page=-1',
      'page=1.5',
      'page=',
      'page=abc',
      'page=1e3',
      'page=0x1',
      'page=%20',
      'page=1&page=2',
      'page=99999999999999999999',
      'limit=0',
      'limit=201',
      'limit=-5',
      'limit=1.0',
      'limit=NaN',
      'limit=1&limit=1',
      'limit=null',
      'limit=Infinity',
      'limit=%00',
    ])('refuses ?%s', async (query) => {
      const refused = await client.referrals('popular', `?${query}`);
      expect(refused).toMatchObject({ status: 400, body: { code: 5 } });
      expect(refused.body.message).toMatch(/^(page|limit) must be a whole number from 1 /);
    });
  });
});

onEachStore(
  'referrals by mobile',
  (service) => {
    test.each([
      ['+49 (151) 123-45', { mobile: '004915112345' }, 0],
      ['+49 (151) 123-46', { mobile: '49 151 12346' }, 1],
      ['4915112347', { email: '4915112347' }, 0],
    ])('%s and %j', async (left, attributes, total) => {
      const { client } = service();
      await client.upsert(`referrer ${left}`);
      expect((await client.leave(`referrer ${left}`, left)).status).toBe(200);
      await client.upsert(`friend ${left}`, attributes);
      expect((await client.referrals(`referrer ${left}`)).body.total).toBe(total);
    });
  },
  { programme: programmeWith({ contact: 'mobile' }) },
);
