import { beforeAll, describe, expect, test } from '@jest/globals';
import { contactHash } from '../src/programme/contacts.ts';
import { readHashKey } from '../src/store/contacts.ts';
import type { Store } from '../src/store/store.ts';
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
    ['an order', ['place_order'], ACTIVE],
    ['an order among others', ['visit', 'place_order', 'other'], ACTIVE],
    ['a visit', ['visit'], PENDING],
  ])('%s before the first attributes counts when the contact matches, once', async (name, events, expected) => {
    const [referrer, friend, email] = [`host ${name}`, `guest ${name}`, `${name.replaceAll(' ', '-')}@guest.example`];
    await client.upsert(referrer);
    await client.leave(referrer, email);
    for (const event of [...events, ...events]) await client.track(friend, { [event]: {} });
    expect(await totals(referrer)).toEqual(NONE);
    await client.upsert(friend, { email });
    expect(await totals(referrer)).toEqual(expected);
    await client.track(friend, { place_order: {} });
    expect(await totals(referrer)).toEqual(ACTIVE);
    const handles = (await client.coupons(referrer)).body.coupons.map(({ group }) => group?.handle);
    expect(handles).toEqual(['thank-you']);
  });

  test.each<[body: object | undefined]>([
    [undefined],
    [{ email: null, city: null }],
    [{ custom: {} }],
    [{ custom: { a: null } }],
    [{ email: '', custom: { a: null, b: null } }],
  ])('a player created with %j is referred by its first attributes', async (attributes) => {
    const [name, email] = [JSON.stringify({ attributes }), `${JSON.stringify({ attributes }).length}@first.example`];
    await client.upsert(`r ${name}`);
    await client.leave(`r ${name}`, email);
    await client.upsert(`f ${name}`, attributes);
    await client.upsert(`f ${name}`, { email });
    expect(await totals(`r ${name}`)).toEqual(PENDING);
  });

  test('nobody refers themselves; the next referrer does', async () => {
    await client.upsert('self');
    await client.upsert('other');
    await client.leave('self', 'self@example.com');
    await client.leave('other', 'self@example.com');
    await client.upsert('self', { email: 'self@example.com' });
    expect([await totals('self'), await totals('other')]).toEqual([NONE, PENDING]);
  });

  test('an e-mail in the mobile refers nobody', async () => {
    await client.upsert('fox');
    await client.leave('fox', 'fox@example.com');
    await client.upsert('friend of fox', { mobile: 'fox@example.com' });
    expect(await totals('fox')).toEqual(NONE);
  });

  test('after a deletion, nothing in the store contains the contact; only its keyed hash is left', async () => {
    const email = 'forget.me@example.com';
    await client.upsert('lasting');
    await client.leave('lasting', email);
    await client.upsert('forgotten', { email, displayName: 'Forget Me' });
    expect(await wholeStore(service().reference.store)).toContain(email);
    await client.remove('forgotten');
    const left = await wholeStore(service().reference.store);
    expect(left).not.toContain('forget');
    expect(left).not.toContain('Forget Me');
    const key = await service().reference.store.read(readHashKey);
    expect(left).toContain(contactHash(key, { kind: 'email', value: email }));
    expect(left).not.toContain(contactHash('', { kind: 'email', value: email }));
    // Left again, a contact that has counted is not stored.
    await client.leave('lasting', email);
    expect(await wholeStore(service().reference.store)).not.toContain('forget');
  });

  describe('pages', () => {
    beforeAll(async () => {
      await client.upsert('popular');
      for (let number = 0; number < 7; number++) {
        await client.leave('popular', `fan${number}@example.com`);
        await client.upsert(`fan ${number}`, { email: `fan${number}@example.com` });
      }
    });

    test('has 50 friends on a page unless it is asked otherwise, and none behind the last', async () => {
      const totals = { total: 7, totalPending: 7, totalActive: 0 };
      expect((await client.referrals('popular')).body).toMatchObject({ count: 7, ...totals });
      const behind = (await client.referrals('popular', '?limit=200&page=999999999999999')).body;
      expect(behind).toEqual({ referredFriends: [], count: 0, ...totals });
    });

    const PAGES = ['0', '-1', '1.5', '', 'abc', '1e3', '0x1', '%20', '1&page=2', '99999999999999999999'];
    const LIMITS = ['0', '201', '-5', '1.0', 'NaN', '1&limit=1', 'null', 'Infinity', '%00'];
    test.each([...PAGES.map((page) => `page=${page}`), ...LIMITS.map((limit) => `limit=${limit}`)])(
      'returns 400 for ?%s',
      async (query) => {
        const refused = await client.referrals('popular', `?${query}`);
        expect(refused).toMatchObject({ status: 400, body: { code: 5 } });
        expect(refused.body.message).toMatch(/^(page|limit) must be a whole number from 1 /);
      },
    );
  });
});

/** Every row of every table, as text. */
function wholeStore(store: Store): Promise<string> {
  return store.read(async (queries) => {
    const tables = ['players', 'totals', 'contacts', 'counted_contacts', 'referrals', 'coupons', 'events'] as const;
    const rows = await Promise.all(tables.map((table) => queries.selectFrom(table).selectAll().execute()));
    return JSON.stringify(rows);
  });
}

/** Whether a number left on the landing page and one of the attributes are one contact: 1 if they are. */
const MOBILES: [left: string, attributes: object, total: number][] = [
  ['0151 1234567', { mobile: '+49 151 1234567' }, 0],
  ['+49 (151) 123-451', { mobile: '0049151123451' }, 1],
  ['0020101234568', { mobile: '+20101234568' }, 1],
  ['+20101234569', { mobile: '0020 10 123 4569' }, 1],
  ['+49 (151) 123-46', { mobile: '49 151 12346' }, 1],
  ['0151 12349', { mobile: '(0151) 12349' }, 1],
  ['+49 151 12350', { mobile: '+49 151 12351' }, 0],
  ['4915112347', { email: '4915112347' }, 0],
];

onEachStore(
  'referrals by mobile',
  (service) => {
    test.each(MOBILES)('%s and %j', async (left, attributes, total) => {
      const { client } = service();
      await client.upsert(`referrer ${left}`);
      expect((await client.leave(`referrer ${left}`, left)).status).toBe(200);
      await client.upsert(`friend ${left}`, attributes);
      expect((await client.referrals(`referrer ${left}`)).body.total).toBe(total);
    });
  },
  { programme: programmeWith({ contact: 'mobile' }) },
);

const DAY = 24 * 60 * 60 * 1000;
let clock = Date.parse('2025-05-01');
onEachStore(
  'a contact that nobody signs up with',
  (service) => {
    const leave = async (referrer: string, email: string) => {
      await service().client.upsert(referrer);
      await service().client.leave(referrer, email);
    };
    const total = async (referrer: string) => (await service().client.referrals(referrer)).body.total;

    test('counts until the last moment of its last day', async () => {
      await leave('in time', 'last@example.com');
      clock += 30 * DAY;
      await service().client.upsert('last', { email: 'last@example.com' });
      expect(await total('in time')).toBe(1);
    });

    test('expires; then the next referrer wins', async () => {
      await leave('too early', 'slow@example.com');
      clock += 1;
      await leave('next', 'slow@example.com');
      clock += 30 * DAY;
      await service().client.upsert('slow', { email: 'slow@example.com' });
      expect([await total('too early'), await total('next')]).toEqual([0, 1]);
    });

    test('left again after it expired, takes its place behind the others', async () => {
      await leave('lapsed', 'back@example.com');
      clock += 30 * DAY;
      await leave('steady', 'back@example.com');
      clock += 1;
      await leave('lapsed', 'back@example.com');
      await service().client.upsert('back', { email: 'back@example.com' });
      expect([await total('lapsed'), await total('steady')]).toEqual([0, 1]);
    });

    test('left again before it expires, expires at its time', async () => {
      await leave('renewing', 'renewed@example.com');
      clock += 20 * DAY;
      await leave('renewing', 'renewed@example.com');
      clock += 11 * DAY;
      await service().client.upsert('renewed', { email: 'renewed@example.com' });
      expect(await total('renewing')).toBe(0);
    });

    test('left again after it expired, counts', async () => {
      await leave('twice', 'twice@example.com');
      clock += 31 * DAY;
      await leave('twice', 'twice@example.com');
      await service().client.upsert('returned', { email: 'twice@example.com' });
      expect(await total('twice')).toBe(1);
    });

    test('alone counts for nobody', async () => {
      await leave('alone', 'never@example.com');
      clock += 31 * DAY;
      await service().client.upsert('never', { email: 'never@example.com' });
      expect(await total('alone')).toBe(0);
    });
  },
  { programme: programmeWith({ contactExpiryDays: 30 }), now: () => clock },
);
