import { expect, test } from '@jest/globals';
import { until } from '../../../test/kit/until.ts';
import { contactHash, keyedHash, readStoreKey } from '../src/store/contact-key.ts';
import type { Client } from './client.ts';
import { CONTACT_HASH_KEY, contentOf, onEachStore, programmeWith } from './kit.ts';

const NONE = { total: 0, totalPending: 0, totalActive: 0 };
const PENDING = { total: 1, totalPending: 1, totalActive: 0 };
const ACTIVE = { total: 1, totalPending: 0, totalActive: 1 };

async function totals(client: Client, playerUniqueId: string) {
  const { total, totalPending, totalActive } = (await client.referrals(playerUniqueId)).body;
  return { total, totalPending, totalActive };
}
async function groups(client: Client, playerUniqueId: string) {
  return (await client.coupons(playerUniqueId)).body.coupons.map(({ group }) => group?.handle);
}
async function invite(client: Client, referrer: string, contact: string) {
  await client.upsert(referrer);
  expect((await client.leave(referrer, contact)).status).toBe(200);
}

const compares = (client: Client, kind: 'email' | 'mobile', rows: [string, string, object][]) =>
  test.each(rows)(`left as %s, of a friend with the ${kind} %s`, async (left, own, expected) => {
    const id = encodeURIComponent(`${left} ${own}`);
    await invite(client, `host of ${id}`, left);
    await client.upsert(`friend ${id}`, { [kind]: own });
    expect(await totals(client, `host of ${id}`)).toEqual(expected);
  });

onEachStore('referrals', (client, service) => {
  test('a customer whose contact is left at a link counts for nobody, also when deleted and created again', async () => {
    const email = 'old@customer.example';
    for (const attributes of [{ city: 'Bonn' }, { email }]) await client.upsert('old', attributes);
    await invite(client, 'host of old', email);
    await client.remove('old');
    expect(JSON.stringify(await contentOf(service()))).not.toContain(email);
    await client.leave('host of old', email);
    await client.upsert('old', { email });
    expect(await totals(client, 'host of old')).toEqual(NONE);
  });
  test('a contact that a player changed before its deletion counts no more than its last one', async () => {
    const [first, last] = ['first@changed.example', 'last@changed.example'];
    for (const email of [first, last]) await client.upsert('changed', { email });
    await client.remove('changed');
    for (const email of [first, last]) await invite(client, `host of ${email}`, email);
    await client.upsert('changed', { email: first });
    for (const email of [first, last]) expect(await totals(client, `host of ${email}`)).toEqual(NONE);
  });
  test('the whole story: link, landing page, sign-up, order, coupons for both', async () => {
    await invite(client, 'ann', ' BOB@example.com ');
    const [shown, mobileNumber] = [{ email: 'bob@example.com', displayName: 'Bob' }, '0123456'];
    await client.upsert('bob', { ...shown, mobile: mobileNumber, joinDate: '2025-05-01' });
    const bob = { playerUniqueId: 'bob', ...shown, mobileNumber, joinDate: '2025-05-01T00:00:00.000Z' };
    const page = { referredFriends: [{ ...bob, status: 'pending' }], count: 1, ...PENDING };
    expect((await client.referrals('ann')).body).toEqual(page);
    expect([await groups(client, 'ann'), await groups(client, 'bob')]).toEqual([[], ['welcome']]);

    for (let orders = 0; orders < 2; orders++) {
      await client.track('bob', { place_order: { amount: 12 } });
      const page = { referredFriends: [{ ...bob, status: 'active' }], count: 1, ...ACTIVE };
      expect((await client.referrals('ann')).body).toEqual(page);
      expect(await groups(client, 'ann')).toEqual(['thank-you']);
      expect(await groups(client, 'bob')).toEqual(['welcome', 'thank-you']);
    }
  });

  test.each([
    [undefined, PENDING],
    [{ email: '', custom: { a: null } }, PENDING],
    [{ city: 'Bonn' }, NONE],
  ])(
    'of a player created with %j, the first attributes decide, and no later ones: %j',
    async (attributes, expected) => {
      const friend = `friend ${JSON.stringify({ attributes })}`;
      const emails = [`${friend.length}@first.example`, `${friend.length}@later.example`];
      for (const email of emails) await invite(client, `host of ${friend}`, email);
      await client.upsert(friend, attributes);
      for (const email of emails) await client.upsert(friend, { email });
      expect(await totals(client, `host of ${friend}`)).toEqual(expected);
    },
  );

  compares(client, 'email', [
    ['eva@xn--bcher-kva.example', 'Eva@BÜCHER.example', PENDING],
    ['ida@ü/x.example', 'ida@ü', NONE],
    ['\u202buma@mail.example\u202c', 'uma@mail.example', PENDING],
    ['leo@mail.example', 'l\u00ade\u200bo@mail.example', PENDING],
    ['zoe\u0308@mail.example', 'zo\u00eb@mail.example', PENDING],
    ['mailto:max%2Bshop@mail.example?subject=Hi', 'Max+Shop@mail.example', PENDING],
    ['Ada Doe <ada@mail.example>', 'ada@mail.example', PENDING],
    ['(tom@mail.example).', 'tom@mail.example', PENDING],
    ['ｋｅｎ＠ｍａｉｌ．ｅｘａｍｐｌｅ', 'ken@mail.example', PENDING],
    ['kim٧@mail.example', 'kim7@mail.example', PENDING],
    ['"Lou Doe"@mail.example', '"lou doe"@MAIL.example', PENDING],
    ['"amy"@mail.example', 'amy@mail.example', PENDING],
    ['「jun@mail.example」、', 'jun@mail.example', PENDING],
    ['eli@mail.example، ', 'eli@mail.example', PENDING],
    ['gus@mail.example!', '• gus@mail.example?', PENDING],
    ['İlker@mail.example', 'ilker@mail.example', PENDING],
    ['.ivy@mail.example', 'ivy@mail.example', NONE],
    ['ann.o@mail.example', 'anno@mail.example', NONE],
    ['udo@ü：80', 'udo@ö：80', NONE],
  ]);

  test('after a deletion, nothing in the store contains the contact; only its keyed hash is left', async () => {
    const email = 'forget.me@example.com';
    const content = async () => JSON.stringify(await contentOf(service()));
    await invite(client, 'lasting', email);
    await client.upsert('forgotten', { email, displayName: 'Forget Me' });
    // An address that the player had for a time.
    const earlier = 'forget.earlier@example.com';
    await client.leave('lasting', earlier);
    for (const one of [earlier, email]) await client.upsert('forgotten', { email: one });
    expect(await content()).toMatch(/forget.me@.*forget.earlier@/);
    await client.remove('forgotten');
    expect(await totals(client, 'lasting')).toEqual(NONE);
    expect(await content()).not.toMatch(/forget/i);
    const storeKey = await service().store.read(readStoreKey);
    expect(await content()).toContain(contactHash(CONTACT_HASH_KEY, storeKey, { kind: 'email', value: email }));
    // Who has the database, and so its key, cannot try addresses.
    for (const key of ['', storeKey]) expect(await content()).not.toContain(keyedHash(key, `email:${email}`));
    // Left again, a contact that has counted is not stored, and does not count again.
    for (const one of [email, earlier]) await client.leave('lasting', one);
    expect(await content()).not.toContain('forget');
    for (const one of [email, earlier]) await client.upsert(`again ${one}`, { email: one });
    expect(await totals(client, 'lasting')).toEqual(NONE);
  });

  test('a contact that has counted has no row at any link any more, only its keyed hash', async () => {
    const value = 'once@counted.example';
    for (const referrer of ['first to count', 'second to count']) await invite(client, referrer, value);
    const rows = async () => (await contentOf(service())).contacts.filter((contact) => contact.value === value);
    expect(await rows()).toHaveLength(2);
    await client.upsert('counted', { email: value });
    expect([await totals(client, 'first to count'), await totals(client, 'second to count')]).toEqual([PENDING, NONE]);
    await client.leave('second to count', value);
    expect(await rows()).toEqual([]);
    const storeKey = await service().store.read(readStoreKey);
    const hash = contactHash(CONTACT_HASH_KEY, storeKey, { kind: 'email', value });
    expect((await contentOf(service())).counted).toContainEqual({ hash, counted_at: expect.any(Number) });
  });

  test('who follows the pages while friends sign up sees each friend once; behind the last page is none', async () => {
    const emails = Array.from({ length: 120 }, (_, number) => `f${number}@example.com`);
    await client.upsert('popular');
    for (const email of emails) await client.leave('popular', email);
    const waiting = [...emails];
    const signUp = async () => {
      for (let email = waiting.pop(); email; email = waiting.pop()) await client.upsert(email, { email });
    };
    const signUps = Promise.all(Array.from({ length: 8 }, signUp));
    const seen: string[] = [];
    // Pages of two: a friend that is inserted before the end of the list would be seen, or missed, at once.
    await until(async () => {
      const { referredFriends } = (await client.referrals('popular', `?limit=2&page=${seen.length / 2 + 1}`)).body;
      if (referredFriends.length === 2) seen.push(...referredFriends.map(({ playerUniqueId }) => playerUniqueId));
      return seen.length >= emails.length;
    }, 100_000);
    await signUps;
    expect([...seen].sort()).toEqual([...emails].sort());
    const all = { total: 120, totalPending: 120, totalActive: 0 };
    expect((await client.referrals('popular')).body).toMatchObject({ count: 50, ...all });
    const behind = (await client.referrals('popular', '?limit=200&page=999999999999999')).body;
    expect(behind).toEqual({ referredFriends: [], count: 0, ...all });
  });
});

onEachStore(
  'a contact of a programme by mobile',
  (client) => {
    compares(client, 'mobile', [
      ['0151 1234567', '+49 151 1234567', NONE],
      ['+49 (151) 123-451', '0049151123451', PENDING],
      ['+33 6 12 34 56 01', '\u2066+33612345601\u2069', PENDING],
      ['+٣٣ ٦ ١٢ ٣٤ ٥٦ ٠٢', '0033 6 12 34 56 02', PENDING],
      ['+33 6 12 34 56 03', '+۳۳ ۶ ۱۲ ۳۴ ۵۶ ۰۳', PENDING],
      ['०९८७६५४३२१०', '09876543210', PENDING],
      ['＋３３−６−１２−３４−５６−０４', '+33 6 12 34 56 04', PENDING],
      ['+33 (0)6 12 34 56 05', '+33–6–12–34–56–05', PENDING],
      ['0033 (0) 6 12 34 56 06', '(+33) 612345606', PENDING],
      ['tel:+33-6-12-34-56-07', '+33 6 12 34 56 07', PENDING],
      ['+33 6 12 34 56 08', '+33 6 12 34 56 09', NONE],
      ['+52 1 55 1234 5601', '+52 55 1234 5601', PENDING],
      ['0052 045 55 1234 5602', '+52 01 55 1234 5602', PENDING],
      ['+54 11 2345 6701', '+54 9 11 2345 6701', PENDING],
      ['+55 11 8765 4301', '+55 (11) 98765-4301', PENDING],
      ['+55 11 3765 4302', '+55 11 93765 4302', NONE],
    ]);
  },
  { programme: programmeWith({ contact: 'mobile' }) },
);

onEachStore(
  'a contact of a programme by mobile in one country',
  (client) => {
    compares(client, 'mobile', [
      ['0171 2345601', '+49 171 2345601', PENDING],
      ['+49 (0) 171 2345602', '0171/234 56 02', PENDING],
      ['49 171 2345606', '0171 2345606', PENDING],
      ['49 (0) 171 2345607', '0049 (0) 171 2345607', PENDING],
      ['0171·2345608', '+49 171 2345608', PENDING],
      ['0171_234_5609', '0171\t2345609', PENDING],
      ['0171ー234ー5610', '0 0 49 171 2345610', PENDING],
      ['+41 79 234 56 04', '0041 79 234 56 04', PENDING],
      ['+41 79 234 56 05', '079 234 56 05', NONE],
    ]);
  },
  { programme: programmeWith({ contact: 'mobile', country: 'DE' }) },
);

onEachStore(
  'a contact of a programme by mobile in a country that dials another prefix than 00',
  (client) => {
    compares(client, 'mobile', [
      ['0011 61 412 345 601', '0412 345 601', PENDING],
      ['0011 49 171 2345602', '0049 171 2345602', PENDING],
      ['61 412 345 603', '+61 (0)412 345 603', PENDING],
    ]);
  },
  { programme: programmeWith({ contact: 'mobile', country: 'AU' }) },
);

onEachStore(
  'a contact of a programme by mobile in a country that had prefixes for mobile phones',
  (client) => {
    compares(client, 'mobile', [
      ['044 55 1234 5601', '+52 1 55 1234 5601', PENDING],
      ['045 33 1234 5602', '33 1234 5602', PENDING],
      ['01 55 1234 5603', '52 1 55 1234 5603', PENDING],
      ['1 551 234 5604', '+1 551 234 5604', PENDING],
      ['0044 7911 123405', '+44 7911 123405', PENDING],
    ]);
  },
  { programme: programmeWith({ contact: 'mobile', country: 'MX' }) },
);

const DAY = 24 * 60 * 60 * 1000;
let clock = Date.parse('2025-05-01');
onEachStore(
  'a contact that nobody signs up with for 30 days',
  (client) => {
    /** Links where it is left, and the time between; then a friend signs up with it. */
    test.each<[what: string, steps: (string | number)[], winner: string | undefined]>([
      ['counts until the last moment of its last day', ['one', 30 * DAY], 'one'],
      ['expires; then the next referrer wins', ['one', 1, 'two', 30 * DAY], 'two'],
      ['left again after it expired, takes its place behind the others', ['one', 30 * DAY, 'two', 1, 'one'], 'two'],
      ['left again after it expired, counts', ['one', 31 * DAY, 'one'], 'one'],
      ['left again before it expires, lasts anew in its place', ['one', 20 * DAY, 'two', 'one', 30 * DAY], 'one'],
    ])('%s', async (what, steps, winner) => {
      const email = `${what.length}.${steps.length}@example.com`;
      for (const referrer of ['one', 'two']) await client.upsert(`${what}: ${referrer}`);
      for (const step of steps) {
        if (typeof step === 'number') clock += step;
        else await client.leave(`${what}: ${step}`, email);
      }
      await client.upsert(`${what}: friend`, { email });
      // Without the attribute, a friend joined when it was created.
      const friend = { playerUniqueId: `${what}: friend`, joinDate: new Date(clock).toISOString() };
      for (const referrer of ['one', 'two']) {
        const { referredFriends } = (await client.referrals(`${what}: ${referrer}`)).body;
        expect(referredFriends).toMatchObject(referrer === winner ? [friend] : []);
      }
    });
  },
  { programme: programmeWith({ contactExpiryDays: 30 }), now: () => clock },
);
