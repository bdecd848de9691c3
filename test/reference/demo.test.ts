import { expect, test } from '@jest/globals';
import { seedDemo } from '../../src/reference/demo.ts';
import { loadProgramme } from '../../src/reference/programme/load.ts';
import { violations } from '../contract/document.ts';
import { startReference } from '../kit/reference.ts';
import { clientOf } from './client.ts';
import { programmeWith } from './programmes.ts';

test.each([
  ['the built-in programme', loadProgramme(undefined)],
  ['a programme by mobile with another action', programmeWith({ contact: 'mobile', actionEvent: 'subscribe' })],
])('the demo player of %s has friends and coupons that fit the contract', async (_name, programme) => {
  const reference = await startReference({ programme });
  const client = clientOf(reference);
  await seedDemo(reference.app, reference.service);

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
  await seedDemo(reference.app, reference.service);
  expect((await client.player('demo-player')).status).toBe(404);
  await reference.close();
});
