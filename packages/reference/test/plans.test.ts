import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { plansOf, statementsOf } from '../bench/plans.mjs';
import { findContacts } from '../src/store/contacts.ts';
import { countCoupons, findCoupon, listCoupons } from '../src/store/coupons.ts';
import { findPlayer, findPlayerId, hasSentEvent } from '../src/store/players.ts';
import { listFriends, readTotals } from '../src/store/referrals.ts';
import type { Queries } from '../src/store/store.ts';
import { sqlitePlace, startReference } from './kit.ts';

test('every read that grows with the data uses an index, in the statements that the program sends', async () => {
  const at = sqlitePlace();
  const { client, store, close } = await startReference({ at });
  await client.upsert('host');
  const statements = await statementsOf(store, async (queries: Queries) => {
    const { id = 0 } = (await findPlayerId(queries, { player_unique_id: 'host' })) ?? {};
    await findPlayer(queries, 'host');
    await findPlayerId(queries, { referral_code: 'x' });
    await hasSentEvent(queries, id, 'x');
    await readTotals(queries, id);
    await listFriends(queries, id, 200, 200);
    await findContacts(queries, [{ kind: 'email', value: 'x' }], 0);
    await listCoupons(queries, id);
    await countCoupons(queries, id, 'x');
    await findCoupon(queries, 'x');
  });
  await close();
  const plans = plansOf(join(at.dataDir, 'reference.db'), statements);
  expect(plans).toHaveLength(10);
  for (const plan of plans) expect(plan.replace('SCAN page;', '')).not.toContain('SCAN');
  // What a page does not show is not read.
  const page = statements.find(({ sql }) => sql.includes('"position"'))?.sql ?? '';
  expect(page).not.toMatch(/more_attributes|\*/);
});
