import { randomBytes } from 'node:crypto';
import { type Kysely, Migrator, PostgresAdapter, sql } from 'kysely';
import { OperatorError } from '../errors.ts';
import { reasonOf } from './store.ts';

/** All migrations, in order. A released migration never changes. */
const MIGRATIONS = { '0001-tables': { up: createTables }, '0002-earlier-contacts': { up: createEarlierContacts } };

/** Creates or migrates the tables. Throws an OperatorError if another version of the program has made them. */
export async function migrate<Tables>(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  const { error } = await migrator.migrateToLatest();
  if (!error) return;
  if (!reasonOf(error).startsWith('corrupted migrations')) throw error;
  throw new OperatorError(
    `The database was made by another version of the service (${reasonOf(error)}). Run that version, or give this one an empty database.`,
  );
}

/**
 * Players and what belongs to them. Every foreign key has an index: deleting a player reads all of them. Each statement
 * may run again: Kysely runs no migration of SQLite in a transaction.
 */
async function createTables<Tables>(db: Kysely<Tables>): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  // Neither database uses an id twice, so that nothing of a deleted player can become a new player's.
  const id = isPostgres ? 'bigint generated always as identity primary key' : 'integer primary key autoincrement';
  // SQLite compares text by its bytes. So must PostgreSQL, whatever the collation of the database is.
  const text = isPostgres ? 'text collate "C"' : 'text';
  for (const [name, columns] of Object.entries(tables(id, text))) {
    await sql.raw(`create table if not exists ${name} (${columns})`).execute(db);
  }
  for (const [name, on] of Object.entries(INDEXES)) {
    await sql.raw(`create index if not exists ${name} on ${on}`).execute(db);
  }
  const key = randomBytes(32).toString('base64url');
  await sql`insert into service_state (name, value) values ('contact-hash-key', ${key}) on conflict do nothing`.execute(
    db,
  );
}

async function createEarlierContacts<Tables>(db: Kysely<Tables>): Promise<void> {
  await sql`create table if not exists earlier_contacts (
    player_id bigint not null references players (id) on delete cascade, hash text not null,
    primary key (player_id, hash))`.execute(db);
  await sql`create index if not exists earlier_contacts_by_hash on earlier_contacts (hash, player_id)`.execute(db);
}

/** The columns of each table. The long ones come last: SQLite reads no further than the columns that a query names. */
function tables(id: string, text: string) {
  const player = 'references players (id) on delete cascade';
  return {
    players: `id ${id}, player_unique_id ${text} not null unique, service_id ${text} not null unique,
      referral_code ${text} not null unique, created_at bigint not null, device_token text, os_type text,
      display_name text, email text, mobile text, join_date text, more_attributes text`,
    totals: `player_id bigint primary key ${player}, pending_friends integer not null default 0,
      active_friends integer not null default 0, last_position integer not null default 0`,
    contacts: `id ${id}, referrer_id bigint not null ${player}, kind text not null check (kind in ('email', 'mobile')),
      value ${text} not null, given_at bigint not null, counted_for bigint ${player}, unique (referrer_id, kind, value)`,
    counted_contacts: 'hash text primary key, counted_at bigint not null',
    referrals: `friend_id bigint primary key ${player}, referrer_id bigint not null ${player},
      status text not null check (status in ('pending', 'active')), position integer not null,
      referred_at bigint not null`,
    coupons: `id ${id}, code ${text} not null unique, player_id bigint not null ${player}, group_handle ${text} not null,
      created_at bigint not null, start_at bigint, end_at bigint, usage_limit integer, uses integer not null default 0,
      definition text not null, check (usage_limit is null or uses <= usage_limit)`,
    events: `id ${id}, player_id bigint not null ${player}, name text not null, received_at bigint not null,
      metadata text not null`,
    service_state: 'name text primary key, value text not null',
  };
}

const INDEXES = {
  contacts_by_value: 'contacts (kind, value, id)',
  contacts_by_player: 'contacts (counted_for)',
  contacts_by_time: 'contacts (given_at) where counted_for is null',
  referrals_in_order: 'referrals (referrer_id, position, friend_id)',
  coupons_by_player: 'coupons (player_id, group_handle)',
  events_by_player_and_name: 'events (player_id, name, id)',
};
