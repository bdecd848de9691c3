import { afterEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { until } from '../../../test/kit/until.ts';
import { openPostgres } from '../src/store/postgres.ts';
import { type Client, clientOf } from './client.ts';
import { type RunningReference, startReference } from './kit.ts';
import { type Place, POSTGRES } from './stores.ts';

for (const { name, place } of POSTGRES) {
  describe(name, () => {
    let at: Place;
    let reference: RunningReference;
    let client: Client;
    /** Another program's connection to the same database. */
    let other: pg.Client;
    const start = async (limits: pg.PoolConfig = {}, onConnectionError?: (error: Error) => void) => {
      at = await place();
      reference = await startReference({
        store: await openPostgres(at.databaseUrl ?? '', onConnectionError, limits),
      });
      client = clientOf(reference);
      other = new pg.Client({ connectionString: at.databaseUrl });
      await other.connect();
    };
    afterEach(async () => {
      await other.end();
      await reference.close();
      await at.remove();
    });
    const connections = async () => {
      const { rows } = await other.query(
        `select pid from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
      );
      return rows.map(({ pid }) => Number(pid));
    };
    const terminate = async () => {
      for (const pid of await connections()) await other.query('select pg_terminate_backend($1)', [pid]);
    };

    test('a statement that waits longer than its limit is ended; the request gets 503 and nothing is stored', async () => {
      await start({ statement_timeout: 200 });
      await client.upsert('locked', { city: 'Bonn' });
      await other.query('begin');
      await other.query("select id from players where player_unique_id = 'locked' for update");
      const refused = await client.upsert('locked', { city: 'Köln' });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(refused.body.message).toBe('The database cannot be reached; nothing of this request was stored');
      expect((await client.player('locked')).body.playerAttributes).toEqual({ city: 'Bonn' });
      await other.query('rollback');
      expect((await client.upsert('locked', { city: 'Köln' })).status).toBe(200);
    });

    test('requests wait for a connection no longer than the limit', async () => {
      await start({ max: 2, connectionTimeoutMillis: 200 });
      await client.upsert('locked');
      await Promise.all(Array.from({ length: 16 }, (_, number) => client.upsert(`p${number}`)));
      expect(await connections()).toHaveLength(2);

      await other.query('begin');
      await other.query("select id from players where player_unique_id = 'locked' for update");
      const waiting = [client.upsert('locked'), client.upsert('locked')];
      await until(async () => (await client.player('p0')).status === 503);
      await other.query('rollback');
      expect((await Promise.all(waiting)).map((reply) => reply.status)).toEqual([200, 200]);
      expect((await client.player('p0')).status).toBe(200);
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
        if (runs === 1) await terminate();
        await insert(`second of run ${runs}`);
      });
      expect(runs).toBe(2);
      expect(lost.length).toBeGreaterThan(0);
      const rows = await reference.store.read((queries) =>
        queries.selectFrom('counted_contacts').select('hash').orderBy('hash').execute(),
      );
      expect(rows).toEqual([{ hash: 'first of run 2' }, { hash: 'second of run 2' }]);
    });

    test('connections that are ended while they are idle are replaced', async () => {
      await start();
      await client.upsert('one');
      await terminate();
      expect((await client.upsert('two')).status).toBe(200);
      expect((await client.player('one')).status).toBe(200);
    });
  });
}
