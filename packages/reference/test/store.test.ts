import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { CompiledQuery } from 'kysely';
import type { Queries, Store } from '../src/store/store.ts';
import { clientOf } from './client.ts';
import { startReference } from './kit.ts';
import { type Place, STORES, sqlitePlace } from './stores.ts';

async function rowsOf(queries: Queries, sql: string): Promise<Record<string, unknown>[]> {
  return (await queries.executeQuery<Record<string, unknown>>(CompiledQuery.raw(sql))).rows;
}

/** Pretends that another program has changed the tables. */
async function mark(store: Store, change: string): Promise<void> {
  await store.write((queries) =>
    rowsOf(queries, `insert into kysely_migration (name, timestamp) values ('${change}', '2099')`),
  );
}

describe.each(STORES)('the store on $name', ({ name, place }) => {
  let at: Place;
  const withPlace = async () => {
    at = await place();
    return at;
  };
  afterEach(() => at.remove());

  test('finds what was written when it is opened again', async () => {
    const { open } = await withPlace();
    const first = await startReference({ store: await open() });
    await clientOf(first).upsert('stays', { city: 'Bonn' });
    await clientOf(first).give('stays', 'welcome');
    const coupons = (await clientOf(first).coupons('stays')).body;
    await first.close();

    const second = await startReference({ store: await open() });
    expect((await clientOf(second).player('stays')).body.playerAttributes).toEqual({ city: 'Bonn' });
    expect((await clientOf(second).coupons('stays')).body).toEqual(coupons);
    await second.close();
  });

  test('refuses a database of another version of the program, and leaves it as it is', async () => {
    const { open } = await withPlace();
    const store = await open();
    await mark(store, '9999-from-the-future');
    await store.close();
    const refusal = /^The database was made by another version of the service \(.*9999-from-the-future is missing\)/;
    await expect(open()).rejects.toThrow(refusal);
    await expect(open()).rejects.toThrow(refusal);
  });

  test('stores nothing of a request that fails half-way', async () => {
    const store = await (await withPlace()).open();
    const work = store.write(async (queries) => {
      await queries.insertInto('counted_contacts').values({ hash: 'half', counted_at: 1 }).execute();
      throw new Error('the other half');
    });
    await expect(work).rejects.toThrow('the other half');
    expect(await store.read((queries) => queries.selectFrom('counted_contacts').selectAll().execute())).toEqual([]);
    await store.close();
  });

  test('a read sees one state, whatever is written beside it', async () => {
    const store = await (await withPlace()).open();
    const count = (queries: Queries) => queries.selectFrom('counted_contacts').select('hash').execute();
    const write = (hash: string) =>
      store.write((queries) => queries.insertInto('counted_contacts').values({ hash, counted_at: 1 }).execute());
    let written: Promise<unknown> = Promise.resolve();
    const [before, after] = await store.read(async (queries) => {
      const rows = await count(queries);
      written = write('beside');
      // On PostgreSQL the write is done before the second look; on SQLite it waits its turn.
      if (name === 'PostgreSQL') await written;
      return [rows, await count(queries)];
    });
    await written;
    expect([before, after]).toEqual([[], []]);
    expect(await store.read(count)).toEqual([{ hash: 'beside' }]);
    await store.close();
  });
});

describe('a SQLite file', () => {
  test('belongs to one process: a second opening is refused and names the first, until that one ends', async () => {
    const at = await sqlitePlace();
    const first = await at.open();
    await expect(at.open()).rejects.toThrow(
      new RegExp(`reference\\.db is in use by process ${process.pid}, started 2.*DATA_DIR.*DATABASE_URL`),
    );
    await first.close();
    await (await at.open()).close();
    await at.remove();
  });

  test('is durable: a write-ahead log that is flushed with every commit', async () => {
    const at = await sqlitePlace();
    const store = await at.open();
    const [journal, synchronous, foreignKeys] = await store.read(async (queries) => {
      const pragma = async (name: string) => Object.values((await rowsOf(queries, `pragma ${name}`))[0] ?? {})[0];
      return [await pragma('journal_mode'), await pragma('synchronous'), await pragma('foreign_keys')];
    });
    expect([journal, synchronous, foreignKeys]).toEqual(['wal', 2, 1]);
    await store.close();
    await at.remove();
  });

  test('that is no database is left alone', async () => {
    const at = await sqlitePlace();
    const path = `${at.dataDir}/reference.db`;
    await writeFile(path, 'x'.repeat(5000));
    await expect(at.open()).rejects.toThrow('reference.db cannot be used: file is not a database');
    expect(await readFile(path, 'utf8')).toBe('x'.repeat(5000));
    await at.remove();
  });
});
