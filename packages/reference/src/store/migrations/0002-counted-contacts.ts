import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { contactHash } from '../../programme/contacts.ts';

/**
 * - `counted_contacts` remembers, by keyed hash, every contact that has counted once; the key is created here and never
 *   changes.
 * - The international prefix `00` is removed from mobile numbers. `+` was removed already.
 * - Players, coupons and events get what the operator's report and activity before the match need.
 */
export async function up<Tables>(db: Kysely<Tables>): Promise<void> {
  await sql`create table service_state (name text primary key, value text not null)`.execute(db);
  const key = randomBytes(32).toString('base64url');
  await sql`insert into service_state (name, value) values ('contact-hash-key', ${key})`.execute(db);

  await sql`create table counted_contacts (hash text primary key, counted_at bigint not null)`.execute(db);
  await removeInternationalPrefix(db);
  await rememberCountedContacts(db, key);
  await sql`create index contacts_by_time on contacts (given_at) where counted_for is null`.execute(db);

  await sql`alter table players add column first_attributes_at bigint`.execute(db);
  await sql`alter table players add column referral_outcome text`.execute(db);

  await sql`alter table coupons add column reason text`.execute(db);
  await sql`alter table coupons add column friend_id bigint references players (id) on delete set null`.execute(db);
  await sql`create index coupons_by_friend on coupons (friend_id)`.execute(db);

  await sql`create index events_by_player_and_name on events (player_id, name, id)`.execute(db);
  await sql`drop index events_by_player`.execute(db);
}

/** Of two contacts that become equal at one link, the one that has counted stays, else the first. */
async function removeInternationalPrefix<Tables>(db: Kysely<Tables>): Promise<void> {
  type Row = { id: number; referrer_id: number; value: string; counted_for: number | null };
  const { rows } = await sql<Row>`select id, referrer_id, value, counted_for from contacts
    where kind = 'mobile' and substr(value, 1, 2) = '00' order by id`.execute(db);
  for (const { id, referrer_id, value, counted_for } of rows) {
    const digits = value.slice(2);
    const { rows: others } = await sql<Row>`select id, counted_for from contacts
      where referrer_id = ${referrer_id} and kind = 'mobile' and value = ${digits}`.execute(db);
    const [other] = others;
    const isOtherKept = other && counted_for === null && (other.counted_for !== null || other.id < id);
    const removed = isOtherKept ? id : other?.id;
    if (removed !== undefined) await sql`delete from contacts where id = ${removed}`.execute(db);
    if (!isOtherKept) await sql`update contacts set value = ${digits} where id = ${id}`.execute(db);
  }
}

async function rememberCountedContacts<Tables>(db: Kysely<Tables>, key: string): Promise<void> {
  const { rows } = await sql<{ kind: 'email' | 'mobile'; value: string; referred_at: number | null }>`
    select contacts.kind, contacts.value, referrals.referred_at
    from contacts left join referrals on referrals.friend_id = contacts.counted_for
    where contacts.counted_for is not null`.execute(db);
  for (const { referred_at, ...contact } of rows) {
    await sql`insert into counted_contacts (hash, counted_at)
      values (${contactHash(key, contact)}, ${referred_at ?? 0}) on conflict do nothing`.execute(db);
  }
}
