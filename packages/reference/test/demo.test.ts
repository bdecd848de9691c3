import { expect, jest, test } from '@jest/globals';
import { seedDemo } from '../src/demo/seed.ts';
import { troubleDemoPlayers } from '../src/demo/states.ts';
import { contentOf, programmeWith, STORES, startReference } from './kit.ts';

const reference = await startReference({ trouble: troubleDemoPlayers });
await seedDemo(reference.service);

/** The statuses of a player, its coupons and its friends. */
const statusesOf = async (id: string) => {
  const { client } = reference;
  const replies = [await client.player(id), await client.coupons(id), await client.referrals(id)];
  return replies.map(({ status, headers }) => [status, headers.get('retry-after')]);
};
const [OK, DOWN, LIMITED] = [[200, null] as const, [503, '1'] as const, [429, '5'] as const];

test('demo-player has attributes and coupons of every group; demo-empty has nothing', async () => {
  const { client, service } = reference;
  const attributes = { displayName: 'Demo Player', custom: { shoeSize: 42 } };
  expect(await client.attributes('demo-player')).toMatchObject(attributes);
  const { coupons } = (await client.coupons('demo-player')).body;
  expect(coupons).toHaveLength(service.programme.groups.length * 2);
  expect(coupons.filter(({ isUsed }) => isUsed)).toHaveLength(1);
  expect(coupons.filter(({ isExpired }) => isExpired)).toHaveLength(2);
  const empty = [(await client.coupons('demo-empty')).body.coupons, (await client.referrals('demo-empty')).body.total];
  expect(empty).toEqual([[], 0]);
});

test('demo-late-contact left its contact at the link of demo-player, but sent a name first: it counts for no referral', async () => {
  const { client } = reference;
  const attributes = { displayName: 'Late Contact', email: 'late-contact@shop.example' };
  expect(await client.attributes('demo-late-contact')).toMatchObject(attributes);
  expect((await contentOf(reference)).contacts).toMatchObject([{ value: attributes.email }]);
  expect((await client.coupons('demo-late-contact')).body.coupons).toEqual([]);
  expect((await client.referrals('demo-player')).body.total).toBe(60);
});

test('demo-long-names has friends with long, right-to-left, emoji and blank names', async () => {
  const { referredFriends } = (await reference.client.referrals('demo-long-names')).body;
  const names = referredFriends.map(({ displayName = '' }) => displayName);
  for (const odd of [/.{100}/, /\p{Script=Arabic}/u, /\p{Emoji_Presentation}/u, /^\s*$/]) {
    expect(names).toContainEqual(expect.stringMatching(odd));
  }
});

test.each([
  ['demo-player', [OK, OK, OK]],
  ['demo-no-coupons', [OK, DOWN, OK]],
  ['demo-no-friends', [OK, OK, DOWN]],
  ['demo-throttled', [LIMITED, LIMITED, LIMITED]],
  ['demo-event-then-down', [DOWN, DOWN, DOWN]],
])('%s: after an event, player, coupons and friends return %j', async (id, expected) => {
  await reference.client.track(id, { greet: {} });
  expect(await statusesOf(id)).toEqual(expected);
});

test('demo-coupons-come-back: its coupons fail for 5 s, and again when nobody has read them for 30 s', async () => {
  let now = Date.now();
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
  const statuses: unknown[] = [];
  for (const after of [0, 4_900, 200, 29_000, 31_000, 5_000]) {
    now += after;
    statuses.push((await statusesOf('demo-coupons-come-back'))[1]);
  }
  clock.mockRestore();
  expect(statuses).toEqual([DOWN, DOWN, OK, OK, DOWN, OK]);
});

test('demo-lost-event: the event is stored and the connection is cut', async () => {
  await expect(reference.client.track('demo-lost-event', { check_in: {} })).rejects.toThrow('fetch failed');
  expect((await contentOf(reference)).events.filter(({ name }) => name === 'check_in')).toHaveLength(1);
});

test('demo-slow-coupons: coupons hang until the service closes; a programme by mobile is seeded too, by one of two', async () => {
  const programme = programmeWith({ contact: 'mobile', actionEvent: 'subscribe' });
  const options = { at: await STORES.at(-1)?.place(), programme, trouble: troubleDemoPlayers };
  const { client, service, close } = await startReference(options);
  await Promise.all([seedDemo(service), seedDemo(service)]);
  expect((await client.coupons('demo-player')).body.coupons).toHaveLength(2);
  expect((await client.referrals('demo-player')).body).toMatchObject({ total: 60, totalPending: 30, totalActive: 30 });
  const hanging = expect(client.coupons('demo-slow-coupons')).rejects.toThrow('fetch failed');
  expect((await client.referrals('demo-slow-coupons')).body.total).toBe(5);
  await close();
  await hanging;
});
