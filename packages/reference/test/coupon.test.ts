import { beforeEach, expect, test } from '@jest/globals';
import { loadProgramme } from '../src/programme/file.ts';
import type { Client, Reply } from './client.ts';
import { onEachStore, programmeWith } from './kit.ts';

const DAY = 24 * 60 * 60 * 1000;
const START = Date.parse('2025-05-01T00:00:00.000Z');
let clock = START;
const now = () => clock;
beforeEach(() => {
  clock = START;
});

const couponsOf = async (client: Client, id: string) => (await client.coupons(id)).body.coupons;
const refusal = (message: string) => ({ status: 409, body: { code: 409, message } });
const NOT_AVAILABLE = refusal('The group is not available to the player now');

onEachStore(
  'coupons of the built-in programme',
  (client) => {
    test('a coupon carries what its group says, the dates of its issue, and the group', async () => {
      await client.upsert('mug');
      const { code } = (await client.give('mug', 'coffee-mug')).body;
      const found = loadProgramme(undefined).groups.find(({ handle }) => handle === 'coffee-mug');
      const { coupon, active, ...group } = found ?? {};
      const time = '2025-05-01T00:00:00.000Z';
      const flags = { isUsed: false, isExpired: false, couponType: 'free_product', value: 1, collections: [] };
      expect(await couponsOf(client, 'mug')).toEqual([
        {
          ...{ code, ...flags, creationDate: time, startAt: time, product: coupon?.product, options: coupon?.options },
          group: { ...group, isAvailable: true, isValid: true, isActive: true },
        },
      ]);
      expect(coupon?.product).toMatchObject({ productId: 7_000_000_000_001, productDisplayName: ['Coffee mug'] });
    });

    test('a coupon expires ExpiryAfter days after its issue, the last moment included', async () => {
      await client.upsert('expiring');
      const { code } = (await client.give('expiring', 'one-price')).body;
      const collections = [{ collectionName: 'Summer' }, { collectionName: 'Beach' }];
      clock = START + 7 * DAY;
      const shown = { endAt: '2025-05-08T00:00:00.000Z', collections };
      expect(await couponsOf(client, 'expiring')).toMatchObject([{ ...shown, isExpired: false, isUsed: false }]);
      expect((await client.use(code)).status).toBe(200);
      clock += 1;
      expect(await couponsOf(client, 'expiring')).toMatchObject([{ isExpired: true, isUsed: true }]);
      expect(await client.use(code)).toMatchObject(refusal('The coupon has expired'));
    });

    test('isAvailable says whether this player can obtain more', async () => {
      await client.upsert('greedy');
      for (const isAvailable of [true, false]) {
        await client.give('greedy', 'thank-you');
        const group = { isAvailable, isActive: true, maxPerPlayer: 2 };
        expect((await couponsOf(client, 'greedy')).at(-1)).toMatchObject({ group });
      }
      expect(await client.give('greedy', 'thank-you')).toMatchObject(NOT_AVAILABLE);
    });

    test.each<[message: string, status: number, ask: () => Promise<Reply>]>([
      ['There is no player with this playerUniqueId', 404, () => client.give('nobody', 'welcome')],
      ['The programme has no group "gold"', 404, () => client.give('nobody', 'gold')],
      ['There is no coupon with this code', 404, () => client.use('NONE')],
      ['code is missing', 400, () => client.call('POST', '/coupons/use', {})],
    ])('the operator is told: %s', async (message, status, ask) => {
      expect(await ask()).toMatchObject({ status, body: { message } });
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
});

onEachStore(
  'limits of coupons',
  (client) => {
    const atOnce = async (count: number, ask: () => Promise<Reply>) => {
      const replies = await Promise.all(Array.from({ length: count }, ask));
      const done = replies.filter(({ status }) => status === 200).map(({ body }) => body);
      return { done, refused: replies.filter(({ status }) => status === 409).length };
    };

    test('maxPerPlayer and UsageLimit hold when all ask at once; the operator is told the uses left', async () => {
      await client.upsert('crowded');
      const given = await atOnce(16, () => client.give('crowded', 'three'));
      expect([given.done.length, given.refused]).toEqual([3, 13]);
      expect(await couponsOf(client, 'crowded')).toHaveLength(3);
      const code = given.done[0]?.code ?? '';
      const used = await atOnce(16, () => client.use(code));
      expect([used.done.length, used.refused]).toEqual([5, 11]);
      expect(used.done).toEqual(expect.arrayContaining([{ code, uses: 2, usageLimit: 5, usesLeft: 3 }]));
      expect(await client.use(code)).toMatchObject(refusal('The usage limit of the coupon is reached'));
    });

    test('without limits a coupon is issued and used any number of times', async () => {
      await client.upsert('free');
      const { code } = (await client.give('free', 'endless')).body;
      for (let uses = 1; uses <= 3; uses++) expect((await client.use(code)).body).toEqual({ code, uses });
    });

    test('codes have 12 letters and digits that are not easily confused, each of them in use', async () => {
      await client.upsert('collector');
      const codes = (await atOnce(100, () => client.give('collector', 'endless'))).done.map(({ code }) => code);
      expect(new Set(codes).size).toBe(100);
      expect(codes.filter((code) => code.length !== 12)).toEqual([]);
      expect([...new Set(codes.join(''))].sort().join('')).toBe('23456789ABCDEFGHJKMNPQRSTVWXYZ');
    });

    test('a coupon is used neither before it starts nor after its group has ended', async () => {
      await client.upsert('punctual');
      const later = (await client.give('punctual', 'later')).body.code;
      const may = (await client.give('punctual', 'may')).body.code;
      expect(await client.use(later)).toMatchObject(refusal('The coupon cannot be used yet'));
      clock = Date.parse('2025-05-31');
      expect((await client.use(may)).status).toBe(200);
      clock += 1;
      expect((await client.use(later)).status).toBe(200);
      expect(await client.use(may)).toMatchObject(refusal('The group of the coupon is not active'));
      const group = { isValid: false, isActive: false, isAvailable: false };
      expect((await couponsOf(client, 'punctual'))[1]).toMatchObject({ isExpired: false, group });
      expect(await client.give('punctual', 'may')).toMatchObject(NOT_AVAILABLE);
      expect(await client.give('punctual', 'off')).toMatchObject(NOT_AVAILABLE);
    });

    test('a group is valid from its start date on', async () => {
      await client.upsert('early');
      clock = Date.parse('2025-06-01') - 1;
      expect(await client.give('early', 'june')).toMatchObject(NOT_AVAILABLE);
      clock += 1;
      expect((await client.give('early', 'june')).status).toBe(200);
      for (const is of [true, false]) {
        const group = { isValid: is, isActive: is, isAvailable: is };
        expect(await couponsOf(client, 'early')).toMatchObject([{ group }]);
        clock -= 1;
      }
    });
  },
  { programme: LIMITED, now },
);
