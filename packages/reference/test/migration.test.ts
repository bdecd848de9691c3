import { existsSync } from 'node:fs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Kysely, Migrator, PostgresDialect, SqliteDialect, sql } from 'kysely';
import Database from 'libsql';
import pg from 'pg';
import { checkDatabase } from '../src/store/check.ts';
import { contactHash, keyedHash, readStoreKey } from '../src/store/contact-key.ts';
import { migrationsWith } from '../src/store/migrate.ts';
import { openStore } from '../src/store/open.ts';
import type { Queries } from '../src/store/store.ts';
import type { Tables } from '../src/store/tables.ts';
import { CONTACT_HASH_KEY, type Place, STORES, startReference } from './kit.ts';

const OLD = '0002-earlier-contacts';
const GONE = 'gone@old.example';

/** A database without the service. */
function rawDatabase({ databaseUrl, dataDir }: Place): Kysely<Tables> {
  const dialect = databaseUrl
    ? new PostgresDialect({ pool: new pg.Pool({ connectionString: databaseUrl, max: 1 }) })
    : new SqliteDialect({ database: new Database(`${dataDir}/reference.db`) });
  return new Kysely<Tables>({ dialect });
}

/** Runs statements on a database whose service is stopped. */
async function change(at: Place, work: (queries: Queries) => Promise<unknown>): Promise<void> {
  const db = rawDatabase(at);
  await work(db).finally(() => db.destroy());
}

/** The tables of the version before hashes had a key of the configuration: a player whose contact has counted was deleted. */
const makeOld = (at: Place) =>
  change(at, async (db) => {
    const migrations = migrationsWith('unused');
    const { error } = await new Migrator({
      db,
      provider: { getMigrations: async () => migrations },
    }).migrateTo(OLD);
    expect(error).toBeUndefined();
    const hash = keyedHash(await readStoreKey(db), `email:${GONE}`);
    await db.insertInto('counted_contacts').values({ hash, counted_at: 5 }).execute();
  });

describe.each(STORES)('a database of the previous version, on $name', ({ name, place }) => {
  let at: Place;
  beforeEach(async () => {
    at = await place();
  });

  test('is changed with a line for each step; its hashes hold under the new key, and the old ones are gone', async () => {
    await makeOld(at);
    const lines: [Record<string, unknown>, string][] = [];
    const onStep = (step: Record<string, unknown>, message: string) => void lines.push([step, message]);
    const open = () => openStore({ ...at, contactHashKey: CONTACT_HASH_KEY, onStep }, () => {});
    const { client, store, close } = await startReference({ at: { ...at, open } });
    const due = ['0003-contact-hash-key', '0004-form-counts'];
    const steps = due.map((step) => [{ step, status: 'Success' }, 'a step of the migration']);
    expect(lines).toMatchObject([[{ due }, 'the tables of an older version are changed'], ...steps]);
    const storeKey = await store.read(readStoreKey);
    const hashes = await store.read((queries) =>
      queries.selectFrom('counted_contacts').selectAll().where('counted_at', '>', 0).execute(),
    );
    const hash = contactHash(CONTACT_HASH_KEY, storeKey, { kind: 'email', value: GONE });
    expect(hashes).toEqual([{ hash, counted_at: 5 }]);
    await client.upsert('host');
    await client.leave('host', GONE);
    await client.upsert('again', { email: GONE });
    expect((await client.referrals('host')).body.total).toBe(0);
    await close();
    // The second start changes nothing.
    await (await open()).close();
    expect(lines).toHaveLength(3);
    if (name === 'PostgreSQL') return expect(lines[0]?.[0]['backup']).toMatch('pg_dump');
    const backup = String(lines[0]?.[0]['backup']);
    expect(existsSync(backup)).toBe(true);
    const copy = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(backup) }) });
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(copy);
    expect(rows.at(-1)?.name).toBe(OLD);
    await copy.destroy();
  });

  test('of which a process was killed before it had noted a step, is changed by the next start', async () => {
    await makeOld(at);
    await (await at.open()).close();
    await change(at, (db) => sql`delete from kysely_migration where name > ${OLD}`.execute(db));
    const { client } = await startReference({ at });
    await client.upsert('host');
    await client.leave('host', GONE);
    await client.upsert('again', { email: GONE });
    expect((await client.referrals('host')).body.total).toBe(0);
  });

  test('that had the key already is checked for it, whatever else is due', async () => {
    await (await at.open()).close();
    await change(at, (db) => sql`delete from kysely_migration where name > '0003-contact-hash-key'`.execute(db));
    const check = (key: string) => {
      const file = name === 'SQLite' ? `${at.dataDir}/reference.db` : undefined;
      return checkDatabase({ databaseUrl: at.databaseUrl, file }, key);
    };
    expect(await check(CONTACT_HASH_KEY)).toMatchObject({ players: 0, due: ['0004-form-counts'] });
    await expect(check('another-key-of-at-least-32-characters')).rejects.toThrow('CONTACT_HASH_KEY is not the key');
    at = await place();
    await makeOld(at);
    expect(await check('x')).toMatchObject({ due: ['0003-contact-hash-key', '0004-form-counts'] });
  });

  if (name === 'PostgreSQL') {
    test('has no limit of time for a step of the migration, nor for an import', async () => {
      await makeOld(at);
      await change(at, async (db) => {
        await sql`create table limits_seen (statement text, idle text)`.execute(db);
        await sql`create function see() returns event_trigger language plpgsql as $$ begin
          insert into limits_seen values (current_setting('statement_timeout'),
            current_setting('idle_in_transaction_session_timeout')); end $$`.execute(db);
        await sql`create event trigger see on ddl_command_end execute function see()`.execute(db);
      });
      await (await at.open()).close();
      const seen = sql<{ statement: string; idle: string }>`select distinct statement, idle from limits_seen`;
      await change(at, async (db) => expect((await seen.execute(db)).rows).toEqual([{ statement: '0', idle: '0' }]));
      const now = sql`select current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as idle`;
      for (const [isLimited, limit] of [
        [true, '10s'],
        [false, '0'],
      ] as const) {
        const store = await openStore({ ...at, isLimited, contactHashKey: CONTACT_HASH_KEY }, () => {});
        expect((await store.read((queries) => now.execute(queries))).rows).toEqual([{ statement: limit, idle: limit }]);
        await store.close();
      }
    });
  }

  test('a new database is made without a line', async () => {
    const lines: unknown[] = [];
    const options = { ...at, contactHashKey: CONTACT_HASH_KEY, onStep: (step: unknown) => void lines.push(step) };
    await (await openStore(options, () => {})).close();
    expect(lines).toEqual([]);
  });
});

describe.each(STORES)('the keys of contact hashes, on $name', ({ place }) => {
  let at: Place;
  beforeEach(async () => {
    at = await place();
    await (await at.open()).close();
  });

  test('another CONTACT_HASH_KEY is refused; the right one still opens', async () => {
    const other = openStore({ ...at, contactHashKey: 'another-key-of-at-least-32-characters' }, () => {});
    await expect(other).rejects.toThrow(/^CONTACT_HASH_KEY is not the key of this database/);
    await (await at.open()).close();
  });

  test.each<[what: string, work: (queries: Queries) => Promise<unknown>, message: RegExp]>([
    [
      'rows of another store',
      (queries) => queries.insertInto('counted_contacts').values({ hash: 'mark of another', counted_at: 0 }).execute(),
      /belong to 2 stores\. A restore was partial, or went into a database where the service had started/,
    ],
    [
      'no hashes',
      (queries) => queries.deleteFrom('counted_contacts').execute(),
      /belong to 0 stores\. A restore was partial/,
    ],
    [
      'no key',
      (queries) => queries.deleteFrom('service_state').execute(),
      /has no key for contact hashes\. A restore was partial/,
    ],
    [
      'the key of another store',
      (queries) => queries.updateTable('service_state').set({ value: 'another' }).execute(),
      /^CONTACT_HASH_KEY is not the key of this database/,
    ],
  ])('with %s, the start is refused', async (_what, work, message) => {
    await change(at, work);
    await expect(at.open()).rejects.toThrow(message);
  });
});
