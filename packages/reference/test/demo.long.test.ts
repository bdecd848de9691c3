import { fork } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { seedDemo } from '../../src/reference/demo.ts';
import { loadProgramme } from '../../src/reference/programme/load.ts';
import { violations } from '../contract/document.ts';
import { startReference } from '../kit/reference.ts';
import { type Client, clientOf } from './client.ts';
import { environmentOf, forkReference, killedAfterTest, killLeftovers, MAIN } from './process.ts';
import { programmeWith } from './programmes.ts';
import { libsqlPlace } from './stores.ts';

test.each([
  ['the built-in programme', loadProgramme(undefined)],
  ['a programme by mobile with another action', programmeWith({ contact: 'mobile', actionEvent: 'subscribe' })],
])('the demo player of %s has friends and coupons that fit the contract', async (_name, programme) => {
  const reference = await startReference({ programme });
  const client = clientOf(reference);
  await seedDemo(reference.service);

  const [player, referrals, coupons] = [
    await client.player('demo-player'),
    await client.referrals('demo-player'),
    await client.coupons('demo-player'),
  ];
  expect(violations('contract#/components/schemas/Player', player.body)).toEqual([]);
  expect(violations('contract#/components/schemas/ReferralPage', referrals.body)).toEqual([]);
  expect(violations('contract#/components/schemas/CouponList', coupons.body)).toEqual([]);
  expect(referrals.body).toMatchObject({ count: 50, total: 60, totalPending: 30, totalActive: 30 });
  expect(coupons.body.coupons).toHaveLength(programme.groups.length * 2);

  // Only an empty store is seeded.
  await client.remove('demo-player');
  await seedDemo(reference.service);
  expect((await client.player('demo-player')).status).toBe(404);
  await reference.close();
});

afterEach(killLeftovers);

test('a demo that was cut off is completed by the next start, with nothing twice', async () => {
  const at = await libsqlPlace();
  const whole = await startReference();
  await seedDemo(whole.service);
  const expected = await shapeOf(clientOf(whole));
  await whole.close();

  const env = environmentOf(at);
  const log = join(at.dataDir, 'reference.db-wal');
  // Killed after the log has grown a little further each time.
  for (const size of [120_000, 400_000, 800_000]) {
    const child = killedAfterTest(fork(MAIN, ['--demo'], { env, stdio: 'ignore' }));
    const gone = once(child, 'exit');
    while ((await sizeOf(log)) < size && child.exitCode === null);
    child.kill('SIGKILL');
    await gone;
  }
  const service = await forkReference(env, ['--demo']);
  expect(await shapeOf(service.client)).toEqual(expected);
  await service.end('SIGTERM');
  await at.remove();
}, 60_000);

/** What there is of the demo player, without what differs from one seeding to the next. */
async function shapeOf(client: Client) {
  const { totalPending, totalActive } = (await client.referrals('demo-player')).body;
  const [player, friend] = [await client.player('demo-player'), await client.coupons('demo-friend-2')];
  const { coupons } = (await client.coupons('demo-player')).body;
  return {
    totals: [totalPending, totalActive],
    attributes: player.body.playerAttributes,
    coupons: coupons.map(({ group, isUsed }) => [group?.handle, isUsed]),
    friend: friend.body.coupons.map(({ group }) => group?.handle),
  };
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
