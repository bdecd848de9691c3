import { beforeAll, expect, test } from '@jest/globals';
import type { Client, Reply } from './client.ts';
import { programmeWith } from './programmes.ts';
import { onEachStore } from './stores.ts';

const CALLERS = 32;

/** Rewards without limit, so that a reward that is given twice would be seen. */
const PROGRAMME = programmeWith({
  rewards: [
    { at: 'pending', to: 'friend', group: 'any' },
    { at: 'active', to: 'friend', group: 'any' },
    { at: 'active', to: 'referrer', group: 'any' },
  ],
});

onEachStore(
  `${CALLERS} callers at once`,
  (service) => {
    let client: Client;
    beforeAll(() => {
      client = service().client;
    });
    const all = async (ask: (caller: number) => Promise<Reply>): Promise<Reply[]> => {
      const replies = await Promise.all(Array.from({ length: CALLERS }, (_, caller) => ask(caller)));
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
      return replies;
    };
    const couponsOf = async (playerUniqueId: string) => (await client.coupons(playerUniqueId)).body.coupons.length;

    test('one player is created once, and no update is lost', async () => {
      const replies = await all((caller) => client.upsert('one', { custom: { [`key${caller}`]: caller } }));
      expect(new Set(replies.map(({ body }) => body.serviceId)).size).toBe(1);
      const expected = Object.fromEntries(Array.from({ length: CALLERS }, (_, caller) => [`key${caller}`, caller]));
      expect((await client.player('one')).body.playerAttributes.custom).toEqual(expected);
    });

    test('a referral counts once and is rewarded once, whatever comes at the same time', async () => {
      await client.upsert('referrer');
      await client.leave('referrer', 'friend@example.com');
      await all((caller) =>
        caller % 2 ? client.upsert('friend', { email: 'friend@example.com' }) : client.track('friend', { visit: {} }),
      );
      expect((await client.referrals('referrer')).body).toMatchObject({ total: 1, totalPending: 1 });
      expect(await couponsOf('friend')).toBe(1);

      await all((caller) =>
        caller % 4 ? client.track('friend', { place_order: {} }) : client.upsert('friend', { city: 'Bonn' }),
      );
      expect((await client.referrals('referrer')).body).toMatchObject({ total: 1, totalActive: 1 });
      expect([await couponsOf('friend'), await couponsOf('referrer')]).toEqual([2, 1]);
    });

    test('one contact given by two players at once counts for one of them', async () => {
      await client.upsert('host');
      await client.leave('host', 'twin@example.com');
      await all((caller) => client.upsert(`twin ${caller}`, { email: 'twin@example.com' }));
      const { referredFriends, total } = (await client.referrals('host')).body;
      expect([referredFriends.length, total]).toEqual([1, 1]);
      expect(await couponsOf(String(referredFriends[0]?.playerUniqueId))).toBe(1);
    });

    test('players that refer each other do not block each other', async () => {
      for (const [one, other] of [
        ['yin', 'yang'],
        ['yang', 'yin'],
      ] as const) {
        await client.track(one, { visit: {} });
        await client.leave(one, `${other}@example.com`);
      }
      await all((caller) =>
        caller % 2
          ? client.upsert('yin', { email: 'yin@example.com' })
          : client.upsert('yang', { email: 'yang@example.com' }),
      );
      await all((caller) => client.track(caller % 2 ? 'yin' : 'yang', { place_order: {} }));
      for (const id of ['yin', 'yang']) {
        expect((await client.referrals(id)).body).toMatchObject({ total: 1, totalActive: 1 });
        expect(await couponsOf(id)).toBe(3);
      }
    });

    test('totals equal the list after friends come, act and go at once', async () => {
      await client.upsert('busy');
      for (let number = 0; number < 8; number++) await client.leave('busy', `b${number}@example.com`);
      const replies = await Promise.all(
        Array.from({ length: CALLERS }, (_, caller) => {
          const id = `b${caller % 8}`;
          if (caller < 8) return client.upsert(id, { email: `${id}@example.com` });
          if (caller < 24) return client.track(id, { place_order: {} });
          return client.remove(id);
        }),
      );
      expect(replies.map(({ status }) => status).filter((status) => status !== 200 && status !== 404)).toEqual([]);
      const { referredFriends, totalPending, totalActive, total } = (await client.referrals('busy')).body;
      const count = (status: string) => referredFriends.filter((friend) => friend.status === status).length;
      expect({ totalPending, totalActive, total }).toEqual({
        totalPending: count('pending'),
        totalActive: count('active'),
        total: referredFriends.length,
      });
    });

    test('landing pages, friends and the end of their referrer at once give no failure', async () => {
      const link = (await client.upsert('doomed')).body.referralLink;
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      await client.call('POST', new URL(link).pathname, 'contact=d0%40example.com', headers);
      const replies = await Promise.all(
        Array.from({ length: CALLERS }, (_, caller) => {
          if (caller === CALLERS / 2) return client.remove('doomed');
          if (caller % 2)
            return client.call('POST', new URL(link).pathname, `contact=d${caller}%40example.com`, headers);
          return client.upsert(`d${caller}`, { email: `d${caller}@example.com` });
        }),
      );
      expect(replies.map(({ status }) => status).filter((status) => status !== 200 && status !== 404)).toEqual([]);
      expect((await client.player('doomed')).status).toBe(404);
    });
  },
  { programme: PROGRAMME },
);
