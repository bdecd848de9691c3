import { beforeEach, expect, test } from '@jest/globals';
import { loadProgramme } from '../src/programme/file.ts';
import type { Client, Reply } from './client.ts';
import { onEachStore, programmeWith } from './kit.ts';

const START = '2025-05-01T00:00:00.000Z';
let clock = Date.parse(START);
const now = () => clock;
beforeEach(() => {
  clock = Date.parse(START);
});

const couponsOf = async (client: Client, id: string) => (await client.coupons(id)).body.coupons;
const ACTIVE = { isValid: true, isActive: true, isAvailable: true };
const INACTIVE = { isValid: false, isActive: false, isAvailable: false };
const NOT_AVAILABLE = 'The group is not available to the player now';
const NOT_ACTIVE = 'The group of the coupon is not active';
const NOT_YET = 'The coupon cannot be used yet';

onEachStore(
  'a coupon of the built-in programme',
  (client) => {
    test('carries what its group says, the dates of its issue, and the group', async () => {
      await client.upsert('one');
      const { code } = (await client.give('one', 'coffee-mug')).body;
      const found = loadProgramme(undefined).groups.find(({ handle }) => handle === 'coffee-mug');
      const { coupon, active, ...group } = found ?? {};
      const flags = { isUsed: false, isExpired: false, couponType: 'free_product', value: 1, collections: [] };
      const { product, options } = coupon ?? {};
      const mug = {
        code,
        ...flags,
        creationDate: START,
        startAt: START,
        product,
        options,
        group: { ...group, ...ACTIVE },
      };
      await client.give('one', 'one-price');
      const collections = [{ collectionName: 'Summer' }, { collectionName: 'Beach' }];
      const [first, second] = await couponsOf(client, 'one');
      expect(first).toEqual(mug);
      // Seven days of the options.
      expect(second).toMatchObject({ endAt: '2025-05-08T00:00:00.000Z', collections });
    });
  },
  { now },
);

const coupon = { type: 'custom' as const };
const LIMITED = programmeWith({
  groups: [
    { handle: 'three', title: 'Three', maxPerPlayer: 3, coupon: { ...coupon, options: { UsageLimit: 5 } } },
    { handle: 'endless', title: 'Endless', coupon },
    { handle: 'week', title: 'Week', coupon: { ...coupon, options: { ExpiryAfter: 7 } } },
    { handle: 'later', title: 'Later', coupon: { ...coupon, startAt: '2025-05-02', options: { ExpiryAfter: 7 } } },
    { handle: 'off', title: 'Off', active: false, coupon },
    { handle: 'may', title: 'May', startDate: START, expiryDate: '2025-05-31', coupon },
    { handle: 'day', title: 'Day', coupon: { ...coupon, endAt: '2025-05-01' } },
  ],
});

onEachStore(
  'the limits of coupons',
  (client, service) => {
    const atOnce = async (count: number, ask: () => Promise<Reply>) => {
      const replies = await Promise.all(Array.from({ length: count }, ask));
      const done = replies.filter(({ status }) => status === 200).map(({ body }) => body);
      return { done, refused: replies.filter(({ status }) => status === 409).length };
    };

    test('hold when all ask at once; the operator is told the uses left', async () => {
      await client.upsert('crowded');
      const given = await atOnce(16, () => client.give('crowded', 'three'));
      expect([given.done.length, given.refused]).toEqual([3, 13]);
      const code = given.done[0]?.code ?? '';
      const used = await atOnce(16, () => client.use(code));
      expect([used.done.length, used.refused]).toEqual([5, 11]);
      expect(used.done).toEqual(expect.arrayContaining([{ code, uses: 2, usageLimit: 5, usesLeft: 3 }]));
      expect(await client.use(code)).toMatchObject({ body: { message: 'The usage limit of the coupon is reached' } });
      const group = { isAvailable: false, isActive: true, maxPerPlayer: 3 };
      expect(await couponsOf(client, 'crowded')).toMatchObject([{ group }, { group }, { group }]);
    });

    test('are open where a group has none; codes have 12 letters and digits that are not easily confused', async () => {
      await client.upsert('free');
      const codes = (await atOnce(100, () => client.give('free', 'endless'))).done.map(({ code }) => code);
      expect([new Set(codes).size, codes.join('').length]).toEqual([100, 1200]);
      expect([...new Set(codes.join(''))].sort().join('')).toBe('23456789ABCDEFGHJKMNPQRSTVWXYZ');
      const code = codes[0] ?? '';
      // As of a programme that had no limits: after the last time that a date can hold.
      await service().store.write((queries) => queries.updateTable('coupons').set({ end_at: 9e15 }).execute());
      for (let uses = 1; uses <= 3; uses++) expect((await client.use(code)).body).toEqual({ code, uses });
      const used = (await couponsOf(client, 'free')).filter(({ isUsed }) => isUsed);
      expect(used).toMatchObject([{ code, group: ACTIVE }]);
    });

    /** A coupon's group, a time after its issue, how it is shown then, and why it cannot be used then. */
    test.each<[group: string, later: string, shown: object, refusal?: string]>([
      ['week', '2025-05-08', { isExpired: false, isUsed: false }],
      ['week', '2025-05-08T00:00:00.001Z', { isExpired: true, isUsed: false }, 'The coupon has expired'],
      ['later', '2025-05-01T23:59:59.999Z', { startAt: '2025-05-02T00:00:00.000Z' }, NOT_YET],
      ['later', '2025-05-02', { group: ACTIVE }],
      ['later', '2025-05-09', { isExpired: false }],
      ['may', '2025-05-31T23:59:59.999Z', { group: ACTIVE }],
      ['may', '2025-06-01', { isExpired: false, group: INACTIVE }, NOT_ACTIVE],
    ])('%s, at %s: %j', async (group, later, shown, refusal = '') => {
      const id = `${group} ${later}`;
      await client.upsert(id);
      const { code } = (await client.give(id, group)).body;
      clock = Date.parse(later);
      expect(await couponsOf(client, id)).toMatchObject([shown]);
      const { groups } = LIMITED;
      // Also as a group that the programme has no longer.
      for (const known of [groups, [], groups]) {
        const { status, body } = await client.use(code);
        expect([status, body.message]).toEqual(refusal ? [409, refusal] : [200, undefined]);
        LIMITED.groups = known;
      }
    });

    test.each<[message: string, status: number, ask: () => Promise<Reply>, time?: string]>([
      [NOT_AVAILABLE, 409, () => client.give('asking', 'off')],
      [NOT_AVAILABLE, 409, () => client.give('asking', 'may'), '2025-04-30T23:59:59.999Z'],
      [NOT_AVAILABLE, 409, () => client.give('asking', 'may'), '2025-06-01'],
      [NOT_AVAILABLE, 409, () => client.give('asking', 'day'), '2025-05-02'],
      ['There is no player with this playerUniqueId', 404, () => client.give('nobody', 'three')],
      ['The programme has no group "gold"', 404, () => client.give('nobody', 'gold')],
      ['There is no coupon with this code', 404, () => client.use('NONE')],
      ['code is missing', 400, () => client.operate('/coupons/use', {})],
    ])('the operator is told: %s', async (message, status, ask, time = START) => {
      await client.upsert('asking');
      clock = Date.parse(time);
      expect(await ask()).toMatchObject({ status, body: { message } });
    });
  },
  { programme: LIMITED, now },
);
