import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { migrate } from './migrate.ts';
import type { Store } from './store.ts';
import { StoreError } from './store-error.ts';
import type { Tables } from './tables.ts';

/**
 * What PostgreSQL says when transactions stood in each other's way: a serialization failure, a deadlock, a row that was
 * deleted while another came to hang on it. The loser has changed nothing and can try again.
 */
const IN_THE_WAY = new Set(['40001', '40P01', '23503']);
const TRIES = 10;

/** Opens a database that any number of processes may share. Throws a StoreError when it cannot be reached. */
export async function openPostgres(url: string): Promise<Store> {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'reference-service',
    connectionTimeoutMillis: 5_000,
    types: {
      getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
    },
  });
  // A connection that breaks while it is idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await migrate(db, await schemaOf(db));
  } catch (error) {
    await db.destroy();
    if (error instanceof StoreError) throw error;
    throw new StoreError(`The database of DATABASE_URL (${nameOf(url)}) cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return {
    name: nameOf(url),
    read: (work) => db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work),
    write: (work) => writeAgain(db, work, TRIES),
    close: () => db.destroy(),
  };
}

/** The schema that names without one are looked up in: the first of the search path. */
async function schemaOf(db: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ schema: string | null }>`select current_schema() as schema`.execute(db);
  const schema = rows[0]?.schema;
  if (schema) return schema;
  throw new StoreError('The search path of DATABASE_URL names no schema that exists.');
}

async function writeAgain<Result>(
  db: Kysely<Tables>,
  work: (queries: Transaction<Tables>) => Promise<Result>,
  tries: number,
): Promise<Result> {
  try {
    return await db.transaction().execute(work);
  } catch (error) {
    if (tries > 1 && error instanceof pg.DatabaseError && IN_THE_WAY.has(error.code ?? '')) {
      return writeAgain(db, work, tries - 1);
    }
    throw error;
  }
}

function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
