import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import { until } from '../../../test/kit/until.ts';
import { openPostgres } from '../src/store/postgres.ts';
import type { Queries } from '../src/store/store.ts';
import type { Client } from './client.ts';
import { endConnections, type Place, POSTGRES, type Reference, STORES, sqlitePlace, startReference } from './kit.ts';

const insert = (queries: Queries, hash: string) =>
  queries.insertInto('counted_contacts').values({ hash, counted_at: 1 }).execute();
const hashes = (queries: Queries) => queries.selectFrom('counted_contacts').select('hash').orderBy('hash').execute();

describe.each(STORES)('the store on $name', ({ name, place }) => {
  let at: Place;
  beforeEach(async () => {
    at = await place();
  });
  afterEach(() => at.remove());

  test('refuses a database of another version of the program, and leaves it as it is', async () => {
    const store = await at.open();
    await store.write((queries) =>
      sql`insert into kysely_migration (name, timestamp) values ('9999-future', '2099')`.execute(queries),
    );
    await store.close();
    const refusal = /^The database was made by another version of the service \(.*9999-future is missing\)/;
    await expect(at.open()).rejects.toThrow(refusal);
    await expect(at.open()).rejects.toThrow(refusal);
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
});

describe('a SQLite file', () => {
  let at: Place;
  beforeEach(async () => {
    at = await sqlitePlace();
  });
  afterEach(() => at.remove());

  test('belongs to one process: a second opening is refused and names the first, until that one ends', async () => {
    const first = await at.open();
    await expect(at.open()).rejects.toThrow(
      new RegExp(`reference\\.db is in use by process ${process.pid}, started 2.*DATA_DIR.*DATABASE_URL`),
    );
    await first.close();
    await (await at.open()).close();
  });

  test('is durable: a write-ahead log that is flushed with every commit', async () => {
    const store = await at.open();
    const pragma = async (name: string) => {
      const { rows } = await store.read((queries) => sql`pragma ${sql.raw(name)}`.execute(queries));
      return Object.values(Object(rows[0]));
    };
    expect(await pragma('journal_mode')).toEqual(['wal']);
    expect(await pragma('synchronous')).toEqual([2]);
    expect(await pragma('foreign_keys')).toEqual([1]);
    await store.close();
  });

  test('that is no database is left alone', async () => {
    const path = `${at.dataDir}/reference.db`;
    await writeFile(path, 'x'.repeat(5000));
    await expect(at.open()).rejects.toThrow('reference.db cannot be used: file is not a database');
    expect(await readFile(path, 'utf8')).toBe('x'.repeat(5000));
  });
});

for (const { name, place } of POSTGRES) {
  describe(name, () => {
    let at: Place;
    let reference: Reference;
    let client: Client;
    const start = async (limits: pg.PoolConfig = {}, onConnectionError?: (error: Error) => void) => {
      at = await place();
      reference = await startReference({ store: await openPostgres(at.databaseUrl ?? '', onConnectionError, limits) });
      client = reference.client;
      await client.upsert('one', { city: 'Bonn' });
    };
    afterEach(async () => {
      await reference.close();
      await at.remove();
    });
    /** Locks the row of the player until the returned function is called. */
    const lockRow = async () => {
      const other = new pg.Client({ connectionString: at.databaseUrl });
      await other.connect();
      await other.query("begin; select id from players where player_unique_id = 'one' for update");
      return () => other.end();
    };

    test('a statement that waits longer than its limit is ended; the request gets 503 and nothing is stored', async () => {
      await start({ statement_timeout: 200 });
      const unlock = await lockRow();
      const refused = await client.upsert('one', { city: 'Köln' });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(refused.body.message).toBe('The database cannot be reached; nothing of this request was stored');
      expect(await client.attributes('one')).toEqual({ city: 'Bonn' });
      await unlock();
      expect((await client.upsert('one', { city: 'Köln' })).status).toBe(200);
    });

    test('requests wait for a connection no longer than the limit', async () => {
      await start({ max: 2, connectionTimeoutMillis: 200 });
      const unlock = await lockRow();
      const waiting = [client.upsert('one'), client.upsert('one')];
      await until(async () => (await client.player('one')).status === 503);
      await unlock();
      expect((await Promise.all(waiting)).map((reply) => reply.status)).toEqual([200, 200]);
      expect((await client.player('one')).status).toBe(200);
    });

    test('a connection that is ended in the middle of a transaction is replaced, and the work is done again', async () => {
      const lost: Error[] = [];
      await start({}, (error) => lost.push(error));
      let runs = 0;
      await reference.store.write(async (queries) => {
        runs++;
        await insert(queries, `first of run ${runs}`);
        if (runs === 1) await endConnections(at);
        await insert(queries, `second of run ${runs}`);
      });
      expect(runs).toBe(2);
      expect(lost.length).toBeGreaterThan(0);
      const rows = await reference.store.read(hashes);
      expect(rows).toEqual([{ hash: 'first of run 2' }, { hash: 'second of run 2' }]);
    });

    test('has a tool of its own for backups', async () => {
      await start();
      const body = { message: 'PostgreSQL has its own tool: use pg_dump' };
      expect(await client.backup()).toMatchObject({ status: 409, body });
    });
  });
}
