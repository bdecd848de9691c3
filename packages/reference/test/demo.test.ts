import { afterEach, expect, jest, test } from '@jest/globals';
import { seedDemo } from '../src/demo/seed.ts';
import { troubleDemoPlayers } from '../src/demo/states.ts';
import { loadProgramme } from '../src/programme/file.ts';
import { contentOf, programmeWith, type Reference, startReference } from './kit.ts';

let reference: Reference;
afterEach(() => reference.close());

async function startDemo(programme = loadProgramme(undefined)) {
  reference = await startReference({ programme, trouble: troubleDemoPlayers });
  await seedDemo(reference.service);
  return reference.client;
}

test.each([
  ['the built-in programme', loadProgramme(undefined)],
  ['a programme by mobile with another action', programmeWith({ contact: 'mobile', actionEvent: 'subscribe' })],
])('seeds players, friends and coupons of %s, in an empty store alone', async (_name, programme) => {
  const client = await startDemo(programme);
  const totals = { count: 50, total: 60, totalPending: 30, totalActive: 30 };
  expect((await client.referrals('demo-player')).body).toMatchObject(totals);
  const { coupons } = (await client.coupons('demo-player')).body;
  expect(coupons).toHaveLength(programme.groups.length * 2);
  expect(coupons.filter(({ isUsed }) => isUsed)).toHaveLength(1);
  expect((await client.referrals('demo-long-names')).body.total).toBe(9);
  await client.remove('demo-player');
  await seedDemo(reference.service);
  expect((await client.player('demo-player')).status).toBe(404);
});

test('demo-player has attributes and two expired coupons, demo-empty nothing, demo-long-names odd names', async () => {
  const client = await startDemo();
  const attributes = { displayName: 'Demo Player', custom: { shoeSize: 42 } };
  expect(await client.attributes('demo-player')).toMatchObject(attributes);
  const { coupons } = (await client.coupons('demo-player')).body;
  expect(coupons.filter(({ isExpired }) => isExpired)).toHaveLength(2);
  expect((await client.coupons('demo-empty')).body.coupons).toEqual([]);
  expect((await client.referrals('demo-empty')).body.total).toBe(0);
  const { referredFriends } = (await client.referrals('demo-long-names')).body;
  const names = referredFriends.map(({ displayName = '' }) => displayName);
  for (const odd of [/.{100}/, /\p{Script=Arabic}/u, /\p{Emoji_Presentation}/u, /^\s*$/]) {
    expect(names).toContainEqual(expect.stringMatching(odd));
  }
});

test.each([
  ['demo-no-coupons', [200, 503, 200]],
  ['demo-no-friends', [200, 200, 503]],
  ['demo-throttled', [429, 429, 429]],
])('%s: player, coupons and friends return %j', async (id, statuses) => {
  const client = await startDemo();
  const replies = [await client.player(id), await client.coupons(id), await client.referrals(id)];
  expect(replies.map(({ status }) => status)).toEqual(statuses);
  for (const { status, headers } of replies) {
    expect(headers.get('retry-after')).toBe({ 200: null, 503: '1', 429: '5' }[status]);
  }
  expect((await client.coupons('demo-player')).status).toBe(200);
});

test('demo-slow-coupons: coupons hang until the service closes, the rest answers', async () => {
  const client = await startDemo();
  const hanging = expect(client.coupons('demo-slow-coupons')).rejects.toThrow('fetch failed');
  expect((await client.player('demo-slow-coupons')).status).toBe(200);
  expect((await client.referrals('demo-slow-coupons')).body.total).toBe(5);
  await reference.app.close();
  await hanging;
});

test('demo-coupons-come-back: its coupons fail for 5 s, and again when nobody has read them for 30 s', async () => {
  const client = await startDemo();
  let now = Date.now();
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
  const statuses: number[] = [];
  for (const after of [0, 4_900, 200, 29_000, 31_000, 5_000]) {
    now += after;
    statuses.push((await client.coupons('demo-coupons-come-back')).status);
  }
  clock.mockRestore();
  expect(statuses).toEqual([503, 503, 200, 200, 503, 200]);
});

test('demo-lost-event: the event is stored and the connection is cut', async () => {
  const client = await startDemo();
  await expect(client.track('demo-lost-event', { check_in: {} })).rejects.toThrow('fetch failed');
  expect((await contentOf(reference)).events.filter(({ name }) => name === 'check_in')).toHaveLength(1);
});

test('demo-event-then-down: the event is taken, then the reads of that player fail', async () => {
  const client = await startDemo();
  expect((await client.player('demo-event-then-down')).status).toBe(200);
  expect((await client.track('demo-event-then-down', { check_in: {} })).status).toBe(200);
  expect((await client.player('demo-event-then-down')).status).toBe(503);
  expect((await client.player('demo-player')).status).toBe(200);
});
