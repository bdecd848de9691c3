import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { OperatorError } from '../errors.ts';
import { contactHasher } from './contact-key.ts';
import { type MigrationOptions, migrate } from './migrate.ts';
import { inTransaction, reasonOf, type Store, StoreUnavailable } from './store.ts';
import type { Tables } from './tables.ts';

/** Transactions in conflict: serialization failure, deadlock, a referenced row that was deleted. Nothing is stored. */
const CONFLICT = new Set(['40001', '40P01', '23503']);
/**
 * The server closes the connection, accepts none or no writes (shutdown, start, too many connections, a standby, a full
 * disk, a password that was changed), or the network fails.
 */
const LOST =
  /^(08\d{3}|25006|25P03|28\w{3}|3D000|53\d{3}|55000|57P0[123]|58\w{3}|EAI_AGAIN|E[A-Z]+)$|^Connection terminated|^Client has encountered a connection error/;
/** A statement that takes too long, no connection that is free in time, and one that is not made in time. */
const TIMEOUT = /^(57014|timeout exceeded when trying to connect|Connection terminated due to connection timeout)$/;

/** The encodings that store every character: PostgreSQL fails at one that another encoding does not have. */
const COMPLETE: ReadonlySet<string> = new Set(['UTF8', 'SQL_ASCII']);

/** TCP notices a dead host after minutes. A live one answers sooner: see the limits of the pool. */
const SILENCE_MS = 15_000;
/** How long a statement may take, and how long a transaction may pause. */
const LIMIT_MS = 10_000;
const ATTEMPTS = 10;
/** Pause before the next attempt after a lost connection, multiplied by the number of the attempt. */
const RETRY_PAUSE_MS = 20;
/** After this time no attempt follows a lost connection: the caller has given up, and it could overwrite a newer write. */
const RETRY_MS = 2_000;

export interface PostgresOptions extends MigrationOptions {
  /** Whether a statement that takes more than 10 s fails, as a request must. Default: true. */
  isLimited?: boolean;
}

/**
 * Opens a database that any number of processes can share. Throws an OperatorError if it cannot be reached.
 * @param onConnectionError Called when a connection is lost. The pool replaces the connection.
 */
export async function openPostgres(
  url: string,
  options: PostgresOptions,
  onConnectionError: (error: Error) => void,
): Promise<Store> {
  const { name, db: migrating } = connect(url, onConnectionError, false);
  let hashOf: Store['hashOf'];
  try {
    const { rows } = await sql<{ encoding: string }>`select getdatabaseencoding() as encoding`.execute(migrating);
    const { encoding = '' } = rows[0] ?? {};
    if (!COMPLETE.has(encoding)) throw new Error(`it has the encoding ${encoding}; create one with ENCODING 'UTF8'`);
    await migrate(migrating, options, async () => ({
      backup: 'none: the way back is a dump (pg_dump) from before this start',
    }));
    hashOf = await contactHasher(migrating, options.contactHashKey);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`The database of DATABASE_URL (${name}) cannot be used: ${reasonOf(error)}`);
  } finally {
    await migrating.destroy();
  }
  const { db } = connect(url, onConnectionError, options.isLimited);
  const begin = () => db.startTransaction();
  const snapshot = () => begin().setIsolationLevel('repeatable read').setAccessMode('read only');
  const write: Store['write'] = (work) => withRetry(() => inTransaction(begin(), work, isRefused));
  return {
    hashOf,
    // A read that loses its connection at the commit has stored nothing: it is repeated.
    read: (work) => withRetry(() => inTransaction(snapshot(), work, () => true)),
    write,
    erase: write,
    backup: undefined,
    close: () => db.destroy(),
  };
}

/**
 * The name is the address without user and password.
 * @param isLimited Whether what takes long fails, as a request must; a migration or an import can take minutes.
 */
export function connect(connectionString: string, onConnectionError: (error: Error) => void, isLimited = true) {
  const pool = new pg.Pool({
    connectionString,
    application_name: 'reference-service',
    max: 10,
    connectionTimeoutMillis: 5_000,
    statement_timeout: isLimited ? LIMIT_MS : 0,
    idle_in_transaction_session_timeout: isLimited ? LIMIT_MS : 0,
    keepAlive: true,
    types: {
      getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
    },
    stream: () => {
      const socket = new Socket();
      return socket.setTimeout(isLimited ? SILENCE_MS : 0, () =>
        socket.destroy(new Error('Connection terminated: no answer in time')),
      );
    },
  });
  // Without these listeners a lost connection ends the process: the pool reports idle ones, the client the one in use.
  pool.on('error', onConnectionError);
  pool.on('connect', (client) => client.on('error', onConnectionError));
  const { host, pathname } = new URL(connectionString);
  return { name: `postgres://${host}${pathname}`, db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }) };
}

const isRefused = (error: unknown) => error instanceof pg.DatabaseError && !LOST.test(codeOf(error));

async function withRetry<Result>(attempt: () => Promise<Result>): Promise<Result> {
  const end = performance.now() + RETRY_MS;
  for (let number = 1; ; number++) {
    try {
      return await attempt();
    } catch (error) {
      const code = codeOf(error);
      if (TIMEOUT.test(code)) throw new StoreUnavailable(true, error);
      const isLost = LOST.test(code);
      if (!isLost && !CONFLICT.has(code)) throw error;
      if (number === ATTEMPTS || (isLost && performance.now() > end)) throw new StoreUnavailable(true, error);
      if (isLost) await delay(RETRY_PAUSE_MS * number);
    }
  }
}

/** The code of an error; the message of one that has none, as errors of `pg` and its pool. */
function codeOf(error: unknown): string {
  return error instanceof Error ? String(('code' in error && error.code) || error.message) : '';
}
