import { afterEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { until } from '../../../test/kit/until.ts';
import { openPostgres } from '../src/store/postgres.ts';
import type { Client } from './client.ts';
import { endConnections, type Place, POSTGRES, type Reference, startReference } from './kit.ts';

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
        const insert = (hash: string) =>
          queries.insertInto('counted_contacts').values({ hash, counted_at: 1 }).execute();
        runs++;
        await insert(`first of run ${runs}`);
        if (runs === 1) await endConnections(at);
        await insert(`second of run ${runs}`);
      });
      expect(runs).toBe(2);
      expect(lost.length).toBeGreaterThan(0);
      const rows = await reference.store.read((queries) =>
        queries.selectFrom('counted_contacts').select('hash').orderBy('hash').execute(),
      );
      expect(rows).toEqual([{ hash: 'first of run 2' }, { hash: 'second of run 2' }]);
    });

    test('has a tool of its own for backups', async () => {
      await start();
      const body = { message: 'PostgreSQL has its own tool: use pg_dump' };
      expect(await client.backup()).toMatchObject({ status: 409, body });
    });
  });
}
