import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { contactHash } from '../../src/reference/programme/contacts.ts';
import { hashKey } from '../../src/reference/programme/referral.ts';
import * as first from '../../src/reference/store/migrations/0001-first.ts';
import type { Queries, Store } from '../../src/reference/store/store.ts';
import { startReference } from '../kit/reference.ts';
import { clientOf } from './client.ts';
import { programmeWith } from './programmes.ts';
import { STORES } from './stores.ts';

/** Takes a store back to how the first version of the program left it, with rows of that version. */
function downgrade(store: Store): Promise<void> {
  return store.write(async (queries) => {
    for (const table of ['events', 'coupons', 'coupon_groups', 'referrals', 'contacts', 'totals', 'players']) {
      await sql`drop table ${sql.table(table)}`.execute(queries);
    }
    for (const table of ['counted_contacts', 'service_state'])
      await sql`drop table ${sql.table(table)}`.execute(queries);
    await sql`delete from kysely_migration where name <> '0001-first'`.execute(queries);
    await first.up(queries);
    await insertRows(queries);
  });
}

async function insertRows(queries: Queries): Promise<void> {
  const names = ['referrer', 'second', 'friend', 'waiting'];
  for (const [index, name] of names.entries()) {
    const attributes = name === 'friend' ? '{"email":"friend@example.com","mobile":"0049 151 1"}' : '{"city":"Bonn"}';
    await sql`insert into players (player_unique_id, service_id, referral_code, attributes, created_at)
      values (${name}, ${`s${index}`}, ${`c${index}`}, ${attributes}, 1746057600000)`.execute(queries);
    await sql`insert into totals (player_id, pending_friends) values (${index + 1}, ${index === 0 ? 1 : 0})`.execute(
      queries,
    );
  }
  await sql`insert into referrals (friend_id, referrer_id, status, referred_at) values (3, 1, 'pending', 1746057600001)`.execute(
    queries,
  );
  const contacts: [referrer: number, kind: string, value: string, countedFor: number | null][] = [
    [1, 'email', 'friend@example.com', 3],
    [2, 'email', 'friend@example.com', null],
    // The first of two contacts that become equal stays in the first place, a counted one in any.
    [2, 'mobile', '0020101234568', null],
    [1, 'mobile', '20101234568', null],
    [2, 'mobile', '20101234568', null],
    [1, 'mobile', '4915112345', null],
    [1, 'mobile', '004915112345', null],
    [1, 'mobile', '30111111', null],
    [1, 'mobile', '0030111111', 3],
  ];
  const now = Date.now();
  for (const [referrer, kind, value, countedFor] of contacts) {
    await sql`insert into contacts (referrer_id, kind, value, given_at, counted_for)
      values (${referrer}, ${kind}, ${value}, ${now}, ${countedFor})`.execute(queries);
  }
  await sql`insert into events (player_id, name, metadata, received_at) values (4, 'visit', '{}', 1)`.execute(queries);
}

test.each(STORES)('a store of the first version is migrated, on $name', async ({ place }) => {
  const at = await place();
  const before = await at.open();
  await downgrade(before);
  await before.close();

  const store = await at.open();
  const rows = await store.read((queries) =>
    queries
      .selectFrom('contacts')
      .select(['id', 'referrer_id', 'kind', 'value', 'counted_for'])
      .orderBy('id')
      .execute(),
  );
  expect(rows).toEqual([
    { id: 1, referrer_id: 1, kind: 'email', value: 'friend@example.com', counted_for: 3 },
    { id: 2, referrer_id: 2, kind: 'email', value: 'friend@example.com', counted_for: null },
    { id: 3, referrer_id: 2, kind: 'mobile', value: '20101234568', counted_for: null },
    { id: 4, referrer_id: 1, kind: 'mobile', value: '20101234568', counted_for: null },
    { id: 6, referrer_id: 1, kind: 'mobile', value: '4915112345', counted_for: null },
    { id: 9, referrer_id: 1, kind: 'mobile', value: '30111111', counted_for: 3 },
  ]);
  const counted = await store.read(async (queries) => {
    const key = await hashKey(queries);
    const hashes = [
      contactHash(key, { kind: 'email', value: 'friend@example.com' }),
      contactHash(key, { kind: 'mobile', value: '30111111' }),
    ];
    const found = await queries.selectFrom('counted_contacts').selectAll().orderBy('hash').execute();
    return [found, hashes.sort().map((hash) => ({ hash, counted_at: 1746057600001 }))];
  });
  expect(counted[0]).toEqual(counted[1]);

  const reference = await startReference({ store, programme: programmeWith({ contact: 'mobile' }) });
  const client = clientOf(reference);
  // A contact left as 00… before the migration is matched by +…, at the link where it was left first.
  await client.upsert('new', { mobile: '+20 101 234568' });
  expect((await client.referrals('second')).body).toMatchObject({ total: 1 });
  // A friend of the first version counts no second time.
  await client.remove('friend');
  await client.upsert('friend', { email: 'friend@example.com' });
  expect((await client.referrals('referrer')).body).toMatchObject({ total: 0 });
  expect((await client.report('waiting')).text).toContain('decided before the service stored reasons');
  await reference.close();
  await at.remove();
});
