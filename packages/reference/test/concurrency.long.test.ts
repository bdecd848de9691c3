import { expect, test } from '@jest/globals';
import type { Reply } from './client.ts';
import { onEachStore, programmeWith } from './kit.ts';

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
  (client) => {
    /** Replies of all callers, each with one of these statuses. */
    const all = async (ask: (caller: number) => Promise<Reply>, statuses = [200]): Promise<Reply[]> => {
      const replies = await Promise.all(Array.from({ length: CALLERS }, (_, caller) => ask(caller)));
      expect(replies.map(({ status }) => status).filter((status) => !statuses.includes(status))).toEqual([]);
      return replies;
    };
    const couponsOf = async (playerUniqueId: string) => (await client.coupons(playerUniqueId)).body.coupons.length;
    const signUp = (id: string) => client.upsert(id, { email: `${id}@example.com` });
    const order = (id: string) => client.track(id, { place_order: {} });

    test('one player is created once, and no update is lost', async () => {
      const replies = await all((caller) => client.upsert('one', { custom: { [`key${caller}`]: caller } }));
      expect(new Set(replies.map(({ body }) => body.serviceId)).size).toBe(1);
      const custom = Object.fromEntries(Array.from({ length: CALLERS }, (_, caller) => [`key${caller}`, caller]));
      expect(await client.attributes('one')).toEqual({ custom });
    });

    test('a referral counts once and is rewarded once, whatever comes at the same time', async () => {
      await client.upsert('referrer');
      await client.leave('referrer', 'friend@example.com');
      await all((caller) => (caller % 2 ? signUp('friend') : client.track('friend', { visit: {} })));
      expect((await client.referrals('referrer')).body).toMatchObject({ total: 1, totalPending: 1 });
      expect(await couponsOf('friend')).toBe(1);

      await all((caller) => (caller % 4 ? order('friend') : client.upsert('friend', { city: 'Bonn' })));
      expect((await client.referrals('referrer')).body).toMatchObject({ total: 1, totalActive: 1 });
      expect([await couponsOf('friend'), await couponsOf('referrer')]).toEqual([2, 1]);
    });

    test('one contact given by many players at once counts for one of them', async () => {
      await client.upsert('host');
      await client.leave('host', 'twin@example.com');
      await all((caller) => client.upsert(`twin ${caller}`, { email: 'twin@example.com' }));
      const { referredFriends, total } = (await client.referrals('host')).body;
      expect([referredFriends.length, total]).toEqual([1, 1]);
    });

    test('players that refer each other do not block each other', async () => {
      for (const id of ['yin', 'yang']) await client.track(id, { visit: {} });
      await client.leave('yin', 'yang@example.com');
      await client.leave('yang', 'yin@example.com');
      await all((caller) => signUp(caller % 2 ? 'yin' : 'yang'));
      await all((caller) => order(caller % 2 ? 'yin' : 'yang'));
      for (const id of ['yin', 'yang']) {
        expect((await client.referrals(id)).body).toMatchObject({ total: 1, totalActive: 1 });
        expect(await couponsOf(id)).toBe(3);
      }
    });

    test('totals equal the list after friends come, act and go at once, and then their referrer', async () => {
      await client.upsert('busy');
      const path = await client.linkOf('busy');
      for (let number = 0; number < 8; number++) await client.leave('busy', `b${number}@example.com`);
      const ask = (caller: number) => {
        const id = `b${caller % 8}`;
        if (caller < 8) return signUp(id);
        return caller < 24 ? order(id) : client.remove(id);
      };
      await all(ask, [200, 404]);
      const { referredFriends, totalPending, totalActive, total } = (await client.referrals('busy')).body;
      const count = (status: string) => referredFriends.filter((friend) => friend.status === status).length;
      expect([totalPending, totalActive, total]).toEqual([count('pending'), count('active'), referredFriends.length]);
      const end = (caller: number) => {
        if (caller === CALLERS / 2) return client.remove('busy');
        return caller % 2 ? client.post(path, `contact=d${caller}%40example.com`) : signUp(`b${caller}`);
      };
      await all(end, [200, 404]);
      expect((await client.player('busy')).status).toBe(404);
    });
  },
  { programme: PROGRAMME },
);
