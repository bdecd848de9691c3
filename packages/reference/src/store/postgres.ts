import { setTimeout as delay } from 'node:timers/promises';
import {
  type DatabaseIntrospector,
  Kysely,
  PostgresDialect,
  PostgresIntrospector,
  sql,
  type TableMetadata,
} from 'kysely';
import pg from 'pg';
import type { ReferenceConfig } from '../config.ts';
import { OperatorError } from '../errors.ts';
import { migrate } from './migrate.ts';
import { type Queries, reasonOf, type Store, StoreUnavailable } from './store.ts';
import type { Tables } from './tables.ts';

export type PostgresSettings = ReferenceConfig['database'] & {
  /** Called when a connection is lost. The pool replaces the connection. */
  onConnectionError?: (error: Error) => void;
};

/** Transactions in conflict: serialization failure, deadlock, a referenced row that was deleted. Nothing is stored. */
const CONFLICT = new Set(['40001', '40P01', '23503']);
/** The server closes the connection or accepts none: shutdown, start, too many connections. Class 08 is added below. */
const CONNECTION_LOST = new Set(['57P01', '57P02', '57P03', '53300', '25P03', 'ECONNRESET', 'ECONNREFUSED', 'EPIPE']);
const STATEMENT_TIMEOUT = '57014';
/** Errors of `pg` and its pool that have no code. */
const CONNECTION_MESSAGE =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/;

const ATTEMPTS = 10;
/** Pause before the next attempt after a lost connection, multiplied by the number of the attempt. */
const RETRY_PAUSE_MS = 20;

/** Opens a database that any number of processes can share. Throws an OperatorError if it cannot be reached. */
export async function openPostgres(url: string, settings: PostgresSettings): Promise<Store> {
  const pool = createPool(url, settings);
  const db = new Kysely<Tables>({ dialect: new OneSchemaDialect({ pool }) });
  try {
    await migrate(db, await schemaOf(db));
  } catch (error) {
    await db.destroy();
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`The database of DATABASE_URL (${nameOf(url)}) cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return {
    name: nameOf(url),
    read: (work) =>
      withRetry(() => inTransaction(db, 'start transaction isolation level repeatable read read only', work)),
    write: (work) => withRetry(() => inTransaction(db, 'begin', work)),
    check: async () => void (await sql`select 1`.execute(db)),
    backup: undefined,
    close: () => db.destroy(),
  };
}

function createPool(
  url: string,
  { poolSize, statementTimeoutMs, connectTimeoutMs, onConnectionError = () => {} }: PostgresSettings,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'reference-service',
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    keepAlive: true,
    types: {
      getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
    },
  });
  // Without these listeners a lost connection ends the process: the pool reports idle ones, the client the one in use.
  pool.on('error', onConnectionError);
  pool.on('connect', (client) => client.on('error', onConnectionError));
  return pool;
}

/**
 * For migrations, Kysely would look at the tables of all schemas, and fail when another session drops one of them at that
 * moment. Here it sees the tables of the current schema.
 */
class OneSchemaDialect extends PostgresDialect {
  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new OneSchemaIntrospector(db);
  }
}

class OneSchemaIntrospector extends PostgresIntrospector {
  readonly #db: Kysely<unknown>;

  constructor(db: Kysely<unknown>) {
    super(db);
    this.#db = db;
  }

  /** The columns are left out: no migration needs them. */
  override async getTables(): Promise<TableMetadata[]> {
    const { rows } = await sql<{ name: string; schema: string }>`
      select tablename as name, schemaname as schema from pg_catalog.pg_tables where schemaname = current_schema()
    `.execute(this.#db);
    return rows.map(({ name, schema }) => ({ name, schema, isView: false, columns: [] }));
  }
}

/** The first schema of the search path, where tables without a schema name are. */
async function schemaOf(db: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ schema: string | null }>`select current_schema() as schema`.execute(db);
  const schema = rows[0]?.schema;
  if (schema) return schema;
  throw new OperatorError('The search path of DATABASE_URL names no schema that exists.');
}

/**
 * A transaction on one connection. Kysely's own does not tell a failed commit from failed work, and only the latter may be
 * tried again: when the connection is lost during the commit, the write may be stored.
 */
function inTransaction<Result>(
  db: Kysely<Tables>,
  begin: string,
  work: (queries: Queries) => Promise<Result>,
): Promise<Result> {
  return db.connection().execute(async (connection) => {
    await sql.raw(begin).execute(connection);
    let result: Result;
    try {
      result = await work(connection);
    } catch (error) {
      // On a lost connection the rollback fails too; the server has then rolled back already.
      await sql`rollback`.execute(connection).catch(() => {});
      throw error;
    }
    await sql`commit`.execute(connection).catch((error: unknown) => {
      throw isConnectionLost(error) ? new StoreUnavailable(false, error) : error;
    });
    return result;
  });
}

async function withRetry<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let number = 1; ; number++) {
    try {
      return await attempt();
    } catch (error) {
      const isLost = isConnectionLost(error);
      if (codeOf(error) === STATEMENT_TIMEOUT) throw new StoreUnavailable(true, error);
      if (!isLost && !CONFLICT.has(codeOf(error))) throw error;
      if (number === ATTEMPTS) throw isLost ? new StoreUnavailable(true, error) : error;
      if (isLost) await delay(RETRY_PAUSE_MS * number);
    }
  }
}

function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  if (CONNECTION_LOST.has(code) || /^08...$/.test(code)) return true;
  return error instanceof Error && CONNECTION_MESSAGE.test(error.message);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}
