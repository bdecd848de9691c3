import { randomBytes } from 'node:crypto';
import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import { OperatorError } from '../errors.ts';
import { keyedHash, keyMark, readStoreKey } from './contact-key.ts';
import { isPostgres, reasonOf, slicesOf } from './store.ts';
import type { Tables } from './tables.ts';

/** All migrations, in order. A released migration never changes. */
export const migrationsWith = (contactHashKey: string): Record<string, Migration> => ({
  '0001-tables': { up: createTables },
  '0002-earlier-contacts': { up: (db) => run(db, EARLIER_CONTACTS) },
  '0003-contact-hash-key': { up: (db) => hashAgain(db, contactHashKey) },
  '0004-form-counts': { up: (db) => run(db, FORM_COUNTS) },
});

export interface MigrationOptions {
  /** The key of the configuration for hashes of contacts. */
  contactHashKey: string;
  /** Told before the tables of an older version are changed, and of each step that was done. Default: nobody. */
  onStep?: ((step: Record<string, unknown>, message: string) => void) | undefined;
}

/**
 * Creates or migrates the tables. Throws an OperatorError if a newer version of the program has made them; they are
 * then left as they are.
 * @param keep Keeps a copy of tables that are going to be changed; returns what the log tells of it.
 */
export async function migrate(
  db: Kysely<Tables>,
  { contactHashKey, onStep = () => {} }: MigrationOptions,
  keep: () => Promise<Record<string, unknown>>,
): Promise<void> {
  const migrations = migrationsWith(contactHashKey);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { made, due, unknown } = await versionOf(db, contactHashKey);
  const isOlder = made.length > 0 && due.length > 0 && unknown.length === 0;
  if (isOlder) onStep({ ...(await keep()), due }, 'the tables of an older version are changed');
  const { error, results = [] } = await migrator.migrateToLatest();
  if (isOlder) {
    for (const { migrationName: step, status } of results) onStep({ step, status }, 'a step of the migration');
  }
  if (!error) return;
  if (!reasonOf(error).startsWith('corrupted migrations')) throw error;
  throw new OperatorError(
    `The database was made by another version of the service (${reasonOf(error)}). Run that version, or give this one an empty database.`,
  );
}

/** The migrations that a database has had (none if it is empty), that are due, and that are of a newer version. */
export async function versionOf(db: Kysely<Tables>, contactHashKey: string) {
  const known = Object.keys(migrationsWith(contactHashKey));
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  const isEmpty = !tables.some(({ name }) => name === 'kysely_migration');
  const query = sql<{ name: string }>`select name from kysely_migration order by name`;
  const made = isEmpty ? [] : (await query.execute(db)).rows.map(({ name }) => name);
  return {
    made,
    due: known.filter((name) => !made.includes(name)),
    unknown: made.filter((name) => !known.includes(name)),
  };
}

/** Hashes that were made by the key in the database alone get the key of the configuration too. */
async function hashAgain(db: Kysely<Tables>, contactHashKey: string): Promise<void> {
  const work = async (queries: Kysely<Tables>) => {
    const counted = await queries.selectFrom('counted_contacts').selectAll().execute();
    // A process that did it was killed before Kysely noted the step: on SQLite these are two transactions.
    if (counted.some(({ counted_at }) => counted_at === 0)) return;
    const earlier = await queries.selectFrom('earlier_contacts').selectAll().execute();
    const again = <Row extends { hash: string }>(row: Row) => ({ ...row, hash: keyedHash(contactHashKey, row.hash) });
    await queries.deleteFrom('counted_contacts').execute();
    await queries.deleteFrom('earlier_contacts').execute();
    const mark = { hash: keyMark(contactHashKey, await readStoreKey(queries)), counted_at: 0 };
    for (const rows of slicesOf([mark, ...counted.map(again)], 1_000)) {
      await queries.insertInto('counted_contacts').values(rows).execute();
    }
    for (const rows of slicesOf(earlier.map(again), 1_000)) {
      await queries.insertInto('earlier_contacts').values(rows).execute();
    }
    // A contact that has counted needs no row any more, and every row expires.
    await sql`delete from contacts where counted_for in (select friend_id from referrals)`.execute(queries);
    await sql`drop index if exists contacts_by_time`.execute(queries);
    await sql`create index contacts_by_time on contacts (given_at)`.execute(queries);
  };
  // On SQLite Kysely begins no transaction for a migration; an import has one.
  await (isPostgres(db) || db.isTransaction ? work(db) : db.transaction().execute(work));
}

/**
 * Players and what belongs to them. Every foreign key has an index: deleting a player reads all of them. Each statement
 * may run again: Kysely runs no migration of SQLite in a transaction.
 */
async function createTables(db: Kysely<Tables>): Promise<void> {
  // Neither database uses an id twice, so that nothing of a deleted player can become a new player's.
  const id = isPostgres(db) ? 'bigint generated always as identity primary key' : 'integer primary key autoincrement';
  // SQLite compares text by its bytes. So must PostgreSQL, whatever the collation of the database is.
  const text = isPostgres(db) ? 'text collate "C"' : 'text';
  const columns = Object.entries(tables(id, text));
  await run(
    db,
    columns.map((table) => `create table if not exists ${table[0]} (${table[1]})`),
  );
  await run(
    db,
    Object.entries(INDEXES).map(([name, on]) => `create index if not exists ${name} on ${on}`),
  );
  const key = randomBytes(32).toString('base64url');
  const insert = sql`insert into service_state (name, value) values ('contact-hash-key', ${key}) on conflict do nothing`;
  await insert.execute(db);
}

async function run(db: Kysely<Tables>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const EARLIER_CONTACTS = [
  `create table if not exists earlier_contacts (player_id bigint not null references players (id) on delete cascade,
    hash text not null, primary key (player_id, hash))`,
  'create index if not exists earlier_contacts_by_hash on earlier_contacts (hash, player_id)',
];

const FORM_COUNTS = [
  'create table if not exists form_counts (key text primary key, count integer not null, until bigint not null)',
];

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
