import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { loadProgramme } from '../src/programme/file.ts';
import type { Client } from './client.ts';
import { programmeWith } from './programmes.ts';
import { onEachStore } from './stores.ts';

const DAY = 24 * 60 * 60 * 1000;
const START = Date.parse('2025-05-01T00:00:00.000Z');
let clock = START;
const now = () => clock;
beforeEach(() => {
  clock = START;
});

onEachStore(
  'coupons of the built-in programme',
  (service) => {
    test('a coupon carries what its group says, the dates of its issue, and the group', async () => {
      const { client } = service();
      await client.upsert('mug');
      const { code } = (await client.give('mug', 'coffee-mug')).body;
      const { coupon, active, ...group } =
        loadProgramme(undefined).groups.find(({ handle }) => handle === 'coffee-mug') ?? {};
      expect((await client.coupons('mug')).body).toEqual({
        coupons: [
          {
            code,
            isUsed: false,
            value: 1,
            creationDate: '2025-05-01T00:00:00.000Z',
            couponType: 'free_product',
            product: coupon?.product,
            startAt: '2025-05-01T00:00:00.000Z',
            isExpired: false,
            collections: [],
            options: coupon?.options,
            group: { ...group, isAvailable: true, isValid: true, isActive: true },
          },
        ],
      });
      expect(coupon?.product).toMatchObject({ productId: 7_000_000_000_001, productDisplayName: ['Coffee mug'] });
    });

    test('a coupon expires ExpiryAfter days after its issue, the last moment included', async () => {
      const { client } = service();
      await client.upsert('expiring');
      const { code } = (await client.give('expiring', 'one-price')).body;
      const shown = async () => (await client.coupons('expiring')).body.coupons[0];
      expect(await shown()).toMatchObject({
        endAt: '2025-05-08T00:00:00.000Z',
        collections: [{ collectionName: 'Summer' }, { collectionName: 'Beach' }],
      });
      clock = START + 7 * DAY;
      expect(await shown()).toMatchObject({ isExpired: false });
      expect((await client.use(String(code))).status).toBe(200);
      clock += 1;
      expect(await shown()).toMatchObject({ isExpired: true, isUsed: true });
      expect(await client.use(String(code))).toMatchObject({
        status: 409,
        body: { message: 'The coupon has expired' },
      });
    });

    test('isAvailable says whether this player can obtain more', async () => {
      const { client } = service();
      await client.upsert('greedy');
      await client.give('greedy', 'thank-you');
      expect((await client.coupons('greedy')).body.coupons).toMatchObject([
        { group: { isAvailable: true, isActive: true } },
      ]);
      await client.give('greedy', 'thank-you');
      expect((await client.coupons('greedy')).body.coupons).toMatchObject([
        { group: { isAvailable: false, isActive: true, maxPerPlayer: 2 } },
        { group: { isAvailable: false } },
      ]);
      expect(await client.give('greedy', 'thank-you')).toMatchObject({ status: 409 });
    });

    test.each([
      ['an unknown player', (client: Client) => client.give('nobody', 'welcome'), 404, 'There is no player'],
      ['an unknown group', (client: Client) => client.give('nobody', 'gold'), 404, 'The programme has no group "gold"'],
      ['an unknown coupon', (client: Client) => client.use('NONE'), 404, 'There is no coupon'],
      ['a missing code', (client: Client) => client.call('POST', '/coupons/use', {}), 400, 'code is missing'],
    ])('the operator is told about %s', async (_name, ask, status, message) => {
      expect(await ask(service().client)).toMatchObject({
        status,
        body: { message: expect.stringContaining(message) },
      });
    });
  },
  { now },
);

const LIMITED = programmeWith({
  groups: [
    { handle: 'three', title: 'Three', maxPerPlayer: 3, coupon: { type: 'custom', options: { UsageLimit: 5 } } },
    { handle: 'endless', title: 'Endless', coupon: { type: 'custom' } },
    { handle: 'later', title: 'Later', coupon: { type: 'custom', startAt: '2025-05-02' } },
    { handle: 'off', title: 'Off', active: false, coupon: { type: 'custom' } },
    { handle: 'june', title: 'June', startDate: '2025-06-01', coupon: { type: 'custom' } },
    { handle: 'may', title: 'May', expiryDate: '2025-05-31', coupon: { type: 'custom' } },
  ],
  rewards: [
    { at: 'pending', to: 'referrer', group: 'three' },
    { at: 'pending', to: 'friend', group: 'endless' },
    { at: 'active', to: 'referrer', group: 'off' },
  ],
});

onEachStore(
  'limits of coupons',
  (service) => {
    let client: Client;
    beforeAll(() => {
      client = service().client;
    });

    test('maxPerPlayer holds when all ask at once', async () => {
      await client.upsert('crowded');
      const replies = await Promise.all(Array.from({ length: 16 }, () => client.give('crowded', 'three')));
      expect(replies.map(({ status }) => status).sort()).toEqual([...Array(3).fill(200), ...Array(13).fill(409)]);
      expect((await client.coupons('crowded')).body.coupons).toHaveLength(3);
    });

    test('UsageLimit holds when all use at once', async () => {
      await client.upsert('user');
      const { code } = (await client.give('user', 'three')).body;
      const replies = await Promise.all(Array.from({ length: 16 }, () => client.use(String(code))));
      expect(replies.map(({ status }) => status).sort()).toEqual([...Array(5).fill(200), ...Array(11).fill(409)]);
      // The operator sees how many uses are left; the interface only tells that there was one.
      const used = replies.filter(({ status }) => status === 200).map(({ body }) => body);
      expect(used.map((body) => ({ ...body }))).toEqual(
        expect.arrayContaining([{ code, uses: 2, usageLimit: 5, usesLeft: 3 }]),
      );
    });

    test('without limits a coupon is issued and used any number of times', async () => {
      await client.upsert('free');
      const { code } = (await client.give('free', 'endless')).body;
      for (let uses = 1; uses <= 3; uses++) expect((await client.use(String(code))).body).toEqual({ code, uses });
    });

    test('codes have 12 letters and digits that are not easily confused, each of them in use', async () => {
      await client.upsert('collector');
      const replies = await Promise.all(Array.from({ length: 100 }, () => client.give('collector', 'endless')));
      const codes = replies.map(({ body }) => String(body.code));
      expect(codes.filter((code) => code.length !== 12)).toEqual([]);
      expect(new Set(codes).size).toBe(100);
      expect([...new Set(codes.join(''))].sort().join('')).toBe('23456789ABCDEFGHJKMNPQRSTVWXYZ');
    });

    test('rewards stop at maxPerPlayer, and a group that is off gives none; the referrals count on', async () => {
      await client.upsert('star');
      for (let number = 0; number < 5; number++) await client.leave('star', `s${number}@example.com`);
      await Promise.all(
        Array.from({ length: 5 }, async (_, number) => {
          await client.upsert(`s${number}`, { email: `s${number}@example.com` });
          await client.track(`s${number}`, { place_order: {} });
        }),
      );
      expect((await client.referrals('star')).body).toMatchObject({ total: 5, totalActive: 5 });
      const handles = (await client.coupons('star')).body.coupons.map(({ group }) => group?.handle);
      expect(handles).toEqual(['three', 'three', 'three']);
      expect((await client.coupons('s4')).body.coupons).toHaveLength(1);
    });

    test('a coupon is used neither before it starts nor after its group has ended', async () => {
      await client.upsert('punctual');
      const later = String((await client.give('punctual', 'later')).body.code);
      const may = String((await client.give('punctual', 'may')).body.code);
      expect(await client.use(later)).toMatchObject({
        status: 409,
        body: { message: 'The coupon cannot be used yet' },
      });
      clock = Date.parse('2025-05-31');
      expect((await client.use(may)).status).toBe(200);
      clock += 1;
      expect((await client.use(later)).status).toBe(200);
      expect(await client.use(may)).toMatchObject({
        status: 409,
        body: { message: 'The group of the coupon is not active' },
      });
      expect((await client.coupons('punctual')).body.coupons[1]).toMatchObject({
        isExpired: false,
        group: { isValid: false, isActive: false, isAvailable: false },
      });
      expect((await client.give('punctual', 'may')).status).toBe(409);
      expect((await client.give('punctual', 'off')).status).toBe(409);
    });

    test('a group is valid from its start date on', async () => {
      await client.upsert('early');
      const group = async () => (await client.coupons('early')).body.coupons[0]?.group;
      clock = Date.parse('2025-06-01') - 1;
      expect((await client.give('early', 'june')).status).toBe(409);
      clock += 1;
      expect((await client.give('early', 'june')).status).toBe(200);
      expect(await group()).toMatchObject({ isValid: true, isActive: true, isAvailable: true });
      clock -= 1;
      expect(await group()).toMatchObject({ isValid: false, isActive: false, isAvailable: false });
    });
  },
  { programme: LIMITED, now },
);
