import { afterEach, expect, jest, test } from '@jest/globals';
import { seedDemo } from '../src/demo/seed.ts';
import { troubleDemoPlayers } from '../src/demo/states.ts';
import { loadProgramme } from '../src/programme/file.ts';
import { clientOf } from './client.ts';
import { type ReferenceOptions, type RunningReference, startReference } from './kit.ts';
import { programmeWith } from './programmes.ts';

let reference: RunningReference | undefined;
afterEach(() => reference?.close());

async function startDemo(options: ReferenceOptions = {}) {
  reference = await startReference({ ...options, trouble: troubleDemoPlayers });
  await seedDemo(reference.service);
  return { client: clientOf(reference), service: reference.service };
}

test.each([
  ['the built-in programme', loadProgramme(undefined)],
  ['a programme by mobile with another action', programmeWith({ contact: 'mobile', actionEvent: 'subscribe' })],
])('seeds players, friends and coupons of %s, in an empty store alone', async (_name, programme) => {
  const { client, service } = await startDemo({ programme });
  expect((await client.referrals('demo-player')).body).toMatchObject({ total: 60, totalPending: 30, totalActive: 30 });
  expect((await client.coupons('demo-player')).body.coupons).toHaveLength(programme.groups.length * 2);
  expect((await client.referrals('demo-long-names')).body.total).toBe(9);
  await client.remove('demo-player');
  await seedDemo(service);
  expect((await client.player('demo-player')).status).toBe(404);
});

test('demo-empty has nothing; demo-long-names has long, right-to-left, emoji and blank names', async () => {
  const { client } = await startDemo();
  expect((await client.coupons('demo-empty')).body.coupons).toEqual([]);
  expect((await client.referrals('demo-empty')).body.total).toBe(0);
  const names = (await client.referrals('demo-long-names')).body.referredFriends.map((friend) => friend.displayName);
  expect(names.some((name = '') => name.length > 100)).toBe(true);
  expect(names.some((name = '') => /\p{Script=Arabic}/u.test(name))).toBe(true);
  expect(names.some((name = '') => /\p{Emoji_Presentation}/u.test(name))).toBe(true);
  expect(names.filter((name = '') => name.trim() === '')).toHaveLength(2);
});

test.each([
  ['demo-no-coupons', [200, 503, 200]],
  ['demo-no-friends', [200, 200, 503]],
  ['demo-throttled', [429, 429, 429]],
])('%s: player, coupons and friends return %j', async (id, statuses) => {
  const { client } = await startDemo();
  const replies = [await client.player(id), await client.coupons(id), await client.referrals(id)];
  expect(replies.map(({ status }) => status)).toEqual(statuses);
  for (const { status, headers } of replies) {
    expect(headers.get('retry-after')).toBe({ 200: null, 503: '1', 429: '5' }[status]);
  }
  expect((await client.coupons('demo-player')).status).toBe(200);
});

test('demo-slow-coupons: coupons hang until the service closes, the rest answers', async () => {
  const { client } = await startDemo();
  const hanging = client.coupons('demo-slow-coupons').then(
    () => 'answered',
    () => 'closed',
  );
  expect((await client.player('demo-slow-coupons')).status).toBe(200);
  expect((await client.referrals('demo-slow-coupons')).body.total).toBe(5);
  await reference?.close();
  reference = undefined;
  expect(await hanging).toBe('closed');
});

test('demo-coupons-come-back: its coupons fail for 5 s, and again when nobody has read them for 30 s', async () => {
  const { client } = await startDemo();
  let now = Date.now();
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
  const statuses: number[] = [];
  for (const after of [0, 4_900, 200, 29_000, 31_000, 5_000]) {
    now += after;
    statuses.push((await client.coupons('demo-coupons-come-back')).status);
  }
  clock.mockRestore();
  expect(statuses).toEqual([503, 503, 200, 200, 503, 200]);
  expect((await client.referrals('demo-coupons-come-back')).body.total).toBe(5);
});

test('demo-lost-event: the event is stored and the connection is cut', async () => {
  const { client, service } = await startDemo();
  await expect(client.track('demo-lost-event', { check_in: {} })).rejects.toThrow('fetch failed');
  const events = await service.store.read((queries) =>
    queries.selectFrom('events').select('name').where('name', '=', 'check_in').execute(),
  );
  expect(events).toHaveLength(1);
});

test('demo-event-then-down: the event is taken, then the reads of that player fail', async () => {
  const { client } = await startDemo();
  expect((await client.player('demo-event-then-down')).status).toBe(200);
  expect((await client.track('demo-event-then-down', { check_in: {} })).status).toBe(200);
  expect((await client.player('demo-event-then-down')).status).toBe(503);
  expect((await client.player('demo-player')).status).toBe(200);
});
