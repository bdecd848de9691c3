import { expect, test } from '@jest/globals';
import { until } from '../../../test/kit/until.ts';
import { onEachStore } from './stores.ts';

const FRIENDS = 160;
const SIGN_UPS_AT_ONCE = 8;

onEachStore('pages of friends', (service) => {
  test('who follows them while friends sign up sees each friend once', async () => {
    const { client } = service();
    await client.upsert('host');
    for (let number = 0; number < FRIENDS; number++) await client.leave('host', `f${number}@example.com`);
    let next = 0;
    const signUp = async () => {
      while (next < FRIENDS) {
        const number = next++;
        expect((await client.upsert(`f${number}`, { email: `f${number}@example.com` })).status).toBe(200);
      }
    };
    const signUps = Promise.all(Array.from({ length: SIGN_UPS_AT_ONCE }, signUp));
    const seen: string[] = [];
    // Pages of two: a friend that is inserted before the end of the list would be seen, or missed, at once.
    await until(async () => {
      const { referredFriends } = (await client.referrals('host', `?limit=2&page=${seen.length / 2 + 1}`)).body;
      if (referredFriends.length === 2) seen.push(...referredFriends.map(({ playerUniqueId }) => playerUniqueId));
      return seen.length >= FRIENDS;
    }, 50_000);
    await signUps;
    expect(new Set(seen).size).toBe(FRIENDS);
  }, 60_000);
});
