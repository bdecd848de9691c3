import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from 'kysely';
import Database from 'libsql';
import { migrate } from './migrate.ts';
import type { Store } from './store.ts';
import { StoreError } from './store-error.ts';
import type { Tables } from './tables.ts';

/** Prepared statements kept for the next time; the program has far fewer texts, lists of values aside. */
const KEPT_STATEMENTS = 200;

/**
 * Opens a file, or `:memory:`, and makes it this process's own. Throws a StoreError when another process has it.
 *
 * SQLite runs in this process and on one connection, so reads and writes take turns and a read is never disturbed.
 */
export async function openLibsql(path: string): Promise<Store> {
  const database = openFile(path);
  if (path !== ':memory:') claim(database, path);
  database.exec('pragma foreign_keys = on');

  const kept = keepingStatements(database);
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new ImmediateDriver({ database: kept }),
      createIntrospector: (kysely) => new SqliteIntrospector(kysely),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  try {
    await migrate(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    name: path,
    read: (work) => db.connection().execute(work),
    write: (work) => db.transaction().execute(work),
    close: () => db.destroy(),
  };
}

function openFile(path: string): Database.Database {
  try {
    if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
    return new Database(path);
  } catch (error) {
    throw cannotBeUsed(path, error);
  }
}

function cannotBeUsed(path: string, error: unknown): StoreError {
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreError(`${path} cannot be used: ${reason}`, { cause: error });
}

/**
 * Takes the file for this process until it ends, however it ends: the lock is the operating system's, not a file that a
 * killed process would leave behind. The note beside it only says who has it.
 */
function claim(database: Database.Database, path: string): void {
  const note = `${path}.owner`;
  try {
    database.exec('pragma journal_mode = wal');
    database.exec('pragma locking_mode = exclusive');
    // An acknowledged write survives the loss of power, not only the loss of the process.
    database.exec('pragma synchronous = full');
    // The lock is taken by the first write, even by one that changes nothing.
    database.exec('begin immediate; commit');
  } catch (error) {
    database.close();
    if (!(error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY')) throw cannotBeUsed(path, error);
    throw new StoreError(
      `${path} is in use by ${readNote(note)}. One process at a time can have it: stop that one, or name another folder in DATA_DIR, or use PostgreSQL (DATABASE_URL).`,
    );
  }
  writeFileSync(
    note,
    `process ${process.pid}, started ${new Date(Date.now() - process.uptime() * 1000).toISOString()}\n`,
  );
}

/**
 * Writes the log back into the file, so that one whole file is left, and gives it to whoever wants it next. Closing alone
 * does neither before the last statement is collected as garbage.
 */
function release(database: Database.Database): void {
  if (!database.memory) {
    database.exec('pragma journal_mode = delete');
    database.exec('pragma locking_mode = normal');
    // The new mode comes with the next look at the file.
    database.prepare('select count(*) from sqlite_master').all();
  }
  database.close();
}

function readNote(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return 'another process';
  }
}

/** Takes the write lock at the beginning: a transaction that begins by reading could not always go on to write. */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

/** kysely prepares every query anew; this hands it the statement of the last time, the oldest going first. */
function keepingStatements(database: Database.Database): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => release(database),
    prepare(sql) {
      const kept = statements.get(sql);
      if (kept) return kept;
      const statement: SqliteStatement = database.prepare(sql);
      if (statements.size >= KEPT_STATEMENTS) statements.delete(statements.keys().next().value ?? '');
      statements.set(sql, statement);
      return statement;
    },
  };
}
