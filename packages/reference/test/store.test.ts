import { open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import Database from 'libsql';
import pg from 'pg';
import { openStore } from '../src/store/open.ts';
import { connect } from '../src/store/postgres.ts';
import type { Queries } from '../src/store/store.ts';
import {
  CONTACT_HASH_KEY,
  endConnections,
  found,
  lockRow,
  type Place,
  placeOf,
  query,
  STORES,
  startReference,
} from './kit.ts';

const insert = (queries: Queries, hash: string) =>
  queries.insertInto('counted_contacts').values({ hash, counted_at: 1 }).execute();
const hashes = (queries: Queries) =>
  queries.selectFrom('counted_contacts').select('hash').where('counted_at', '>', 0).orderBy('hash').execute();

/** The tables, and the rows of those that a migration would change. */
async function contentOf({ databaseUrl, dataDir }: Place): Promise<unknown> {
  const tables = ['kysely_migration', 'counted_contacts', databaseUrl ? 'information_schema.tables' : 'sqlite_master'];
  if (databaseUrl === undefined) {
    const database = new Database(`${dataDir}/reference.db`);
    const rows = tables.map((table) => database.prepare(`select * from ${table}`).all());
    database.close();
    return rows;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const rows = [];
  for (const table of tables) rows.push((await client.query(`select t::text from ${table} t order by 1`)).rows);
  await client.end();
  return rows;
}

describe.each(STORES)('the store on $name', ({ name, place }) => {
  let at: Place;
  beforeEach(async () => {
    at = await place();
  });

  test.each([
    ['a newer version', '9999-future', '0000'],
    ['0.1.0', '0001-first', '0001-tables'],
  ])('refuses a database of %s, and leaves it as it is', async (_version, step, replaced) => {
    const store = await at.open();
    await store.write(async (queries) => {
      // 0.1.0 had one step, in place of all those of today.
      await sql`delete from kysely_migration where name >= ${replaced} and ${replaced} > '0000'`.execute(queries);
      await sql`insert into kysely_migration (name, timestamp) values (${step}, '2099')`.execute(queries);
      await insert(queries, 'kept');
    });
    await store.close();
    const before = await contentOf(at);
    const refusal = new RegExp(`^The database was made by another version of the service .*${step} is missing`);
    for (let opening = 0; opening < 2; opening++) await expect(at.open()).rejects.toThrow(refusal);
    expect(await contentOf(at)).toEqual(before);
  });

  test('a read sees one state, whatever is written beside it', async () => {
    const store = await at.open();
    let written: Promise<unknown> = Promise.resolve();
    const seen = await store.read(async (queries) => {
      const before = await hashes(queries);
      written = store.write((writing) => insert(writing, 'beside'));
      // On PostgreSQL the write is done before the second look; on SQLite it waits its turn.
      if (name === 'PostgreSQL') await written;
      return [before, await hashes(queries)];
    });
    await written;
    expect(seen).toEqual([[], []]);
    expect(await store.read(hashes)).toEqual([{ hash: 'beside' }]);
    await store.close();
  });

  if (name === 'PostgreSQL') {
    test('ends a statement that waits longer than its limit; the request gets 503 and nothing is stored', async () => {
      const open = () =>
        openStore(
          { databaseUrl: `${at.databaseUrl}?statement_timeout=2000`, dataDir: '', contactHashKey: CONTACT_HASH_KEY },
          () => {},
        );
      const { client } = await startReference({ at: { ...at, open } });
      await client.upsert('locked', { city: 'Bonn' });
      const unlock = await lockRow(at, 'locked');
      const refused = await client.upsert('locked', { city: 'Köln' });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(refused.body.message).toBe('The database cannot be used; nothing of this request was stored');
      expect(await client.attributes('locked')).toEqual({ city: 'Bonn' });
      await unlock();
      expect((await client.upsert('locked', { city: 'Köln' })).status).toBe(200);
      expect((await client.backup()).body.message).toBe('PostgreSQL has its own tool: use pg_dump');
    });

    test('in an encoding without some characters is refused, and left empty', async () => {
      const name = `latin_${process.pid}`;
      await query(`create database ${name} template template0 encoding 'LATIN1' locale 'C'`);
      const { href } = new URL(`/${name}`, at.databaseUrl);
      const refused = placeOf(href, '').open();
      await expect(refused).rejects.toThrow("it has the encoding LATIN1; create one with ENCODING 'UTF8'");
      const { db } = connect(href, () => {});
      expect(await db.introspection.getTables({ withInternalKyselyTables: true })).toEqual([]);
      await db.destroy();
      await query(`drop database ${name} with (force)`);
    });

    test('that takes no writes, or that nobody may use, is 503 and says that nothing was stored', async () => {
      const { client } = await startReference({ at });
      await client.upsert('kept', { city: 'Bonn' });
      const name = at.databaseUrl?.split('/').at(-1);
      for (const [refused, accepted] of [
        ['set default_transaction_read_only = on', 'reset default_transaction_read_only'],
        ['allow_connections = false', 'allow_connections = true'],
      ]) {
        await query(`alter database ${name} ${refused}`);
        await endConnections(at);
        expect(await client.upsert('kept', { city: 'Köln' })).toMatchObject({
          status: 503,
          body: { message: 'The database cannot be used; nothing of this request was stored' },
        });
        await query(`alter database ${name} ${accepted}`);
        await endConnections(at);
        expect(await client.attributes('kept')).toEqual({ city: 'Bonn' });
      }
    });

    test('that is in conflict in each of ten attempts says that nothing was stored', async () => {
      const store = await at.open();
      let runs = 0;
      const conflict = async (queries: Queries) => {
        await insert(queries, `of run ${++runs}`);
        await sql`do $$ begin raise exception using errcode = '40P01'; end $$`.execute(queries);
      };
      await expect(store.write(conflict)).rejects.toMatchObject({ name: 'StoreUnavailable', nothingStored: true });
      expect([runs, await store.read(hashes)]).toEqual([10, []]);
      await store.close();
    });

    test('replaces a connection that is ended in the middle of a transaction, and does the work again', async () => {
      const lost: Error[] = [];
      const store = await openStore(
        { databaseUrl: at.databaseUrl, dataDir: '', contactHashKey: CONTACT_HASH_KEY },
        (error) => lost.push(error),
      );
      let runs = 0;
      await store.write(async (queries) => {
        await insert(queries, `first of run ${++runs}`);
        if (runs === 1) await endConnections(at);
        await insert(queries, `second of run ${runs}`);
      });
      expect(lost.length).toBeGreaterThan(0);
      expect(await store.read(hashes)).toEqual([{ hash: 'first of run 2' }, { hash: 'second of run 2' }]);
      await store.close();
    });

    const codes = ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'];
    test(`does work again that fails with ${codes}; not if it began 2 s ago, nor a commit`, async () => {
      const connect = jest.spyOn(Socket.prototype, 'connect');
      const sockets = (): Socket[] => connect.mock.contexts.flatMap((one) => (one instanceof Socket ? one : []));
      const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
      const store = await at.open();
      const fail = (code = '') =>
        code && sockets().map((socket) => socket.destroy(Object.assign(new Error(), { code })));
      for (const code of [...codes, 'ERR_OTHER']) {
        await expect(store.write(async () => fail(code))).rejects.toMatchObject({ nothingStored: false });
      }
      clock.mockReturnValueOnce(-2_001);
      const late = store.write((queries) => insert(queries, `${fail(codes.pop())}`));
      await expect(late).rejects.toMatchObject({ nothingStored: true });
      await store.write((queries) => insert(queries, `${fail(codes.pop())}`));
      clock.mockRestore();
      await store.close();
    });
    return;
  }

  test('belongs to one process: a second opening is refused and names the first, until that one ends', async () => {
    const first = await at.open();
    await expect(at.open()).rejects.toThrow(
      new RegExp(`reference\\.db is in use by process ${process.pid}, started 2.*DATA_DIR.*DATABASE_URL`),
    );
    await first.close();
    await (await at.open()).close();
  });

  test('that cannot be rebuilt after a deletion says so; the next deletion does it, also one that finds nothing', async () => {
    const { client } = await startReference({ at });
    await client.upsert('gone', { email: 'gone@secret.example' });
    const unknown = { status: 503, body: { message: expect.stringContaining('it is not known') } };
    await rename(at.dataDir, `${at.dataDir}.moved`);
    for (let time = 0; time < 2; time++) {
      expect(await client.remove('gone')).toMatchObject(unknown);
      expect(await found(`${at.dataDir}.moved`, { email: 'gone@secret.example' })).toEqual([]);
    }
    await rename(`${at.dataDir}.moved`, at.dataDir);
    expect((await client.remove('gone')).status).toBe(404);
  });

  test('that is full is 503 and says that nothing was stored; reads go on', async () => {
    const { client, store } = await startReference({ at });
    await client.upsert('kept', { city: 'Bonn' });
    await store.read((queries) => sql`pragma max_page_count = 1`.execute(queries));
    expect(await client.track('kept', { large: { text: 'x'.repeat(100_000) } })).toMatchObject({
      status: 503,
      body: { message: 'The database cannot be used; nothing of this request was stored' },
    });
    expect(await client.attributes('kept')).toEqual({ city: 'Bonn' });
  });

  test('whose disk fails at a read is 503, as at a write', async () => {
    const { client, store } = await startReference({ at });
    await client.upsert('kept');
    const failing = () => Promise.reject(new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_READ'));
    for (const run of [store.read, store.write]) {
      await expect(run(failing)).rejects.toMatchObject({ name: 'StoreUnavailable', nothingStored: true });
    }
    expect(await client.attributes('kept')).toEqual({});
  });

  test('keeps a backup that was just made, when the clock was ahead and is corrected', async () => {
    let now = Date.parse('2031-05-01');
    const { client } = await startReference({ at, now: () => now });
    const backups = [(await client.backup()).text];
    now++;
    backups.push((await client.backup()).text);
    now = Date.parse('2030-05-01');
    backups.push((await client.backup()).text);
    const kept = await readdir(`${at.dataDir}/backups`);
    expect(kept.sort().map((name) => `${at.dataDir}/backups/${name}`)).toEqual(
      [backups[2], backups[1]].map((text = '') => JSON.parse(text).file),
    );
  });

  test('is durable: a write-ahead log that is flushed with every commit', async () => {
    const store = await at.open();
    const modes = sql`select journal_mode, synchronous from pragma_journal_mode, pragma_synchronous`;
    const { rows } = await store.read((queries) => modes.execute(queries));
    expect(rows).toEqual([{ journal_mode: 'wal', synchronous: 2 }]);
    await store.close();
  });

  test('that is no database, or is damaged, is left alone and named', async () => {
    const path = `${at.dataDir}/reference.db`;
    await writeFile(path, 'x'.repeat(5000));
    await expect(at.open()).rejects.toThrow('reference.db cannot be used: file is not a database');
    expect(await readFile(path, 'utf8')).toBe('x'.repeat(5000));
    await rm(path);
    await (await at.open()).close();
    const file = await open(path, 'r+');
    await file.write(Buffer.alloc(4_096, 0xee), 0, 4_096, 4_096);
    await file.close();
    await expect(at.open()).rejects.toThrow('reference.db cannot be used: database disk image is malformed');
  });
});
