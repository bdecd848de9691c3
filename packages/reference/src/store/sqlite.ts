import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Kysely, SqliteDialect, sql } from 'kysely';
import Database from 'libsql';
import { OperatorError } from '../errors.ts';
import { contactHasher } from './contact-key.ts';
import { type MigrationOptions, migrate } from './migrate.ts';
import { inTransaction, type Queries, reasonOf, type Store, StoreUnavailable } from './store.ts';
import type { Tables } from './tables.ts';

/** The largest file that is rebuilt after each deletion: about 6 ms for each MB. A larger one is left as it is. */
const MAX_REBUILD_BYTES = 16 * 1024 * 1024;

/**
 * Opens a file for this process alone. Throws an OperatorError if another process has it open.
 *
 * SQLite runs in this process on one connection, so reads and writes run one after the other. Statements are prepared
 * for each query and not kept: those of long lists of values would fill the memory.
 */
export async function openSqlite(path: string, options: MigrationOptions): Promise<Store> {
  const database = openFile(path);
  lock(database, path);
  // What is deleted is overwritten with zeros.
  database.exec('pragma foreign_keys = on; pragma secure_delete = on; pragma temp_store = memory');
  const prepare = (text: string) => database.prepare(text);
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: { close: () => unlock(database), prepare } }),
  });
  let hashOf: Store['hashOf'];
  try {
    await migrate(db, options, async () => ({ backup: await backup(database, path, 'before-migration', Date.now()) }));
    hashOf = await contactHasher(db, options.contactHashKey);
    await checkpoint(db);
  } catch (error) {
    // On a full disk, this fails too.
    await db.destroy().catch(() => {});
    throw error instanceof Database.SqliteError ? cannotBeUsed(path, error) : error;
  }
  let isRebuildDue = false;
  return {
    read: (work) => db.connection().execute(work).catch(unavailable),
    hashOf,
    write: (work) => transact(db, work),
    erase: (work) =>
      db.connection().execute(async (connection) => {
        const [erased] = await Promise.allSettled([transact(connection, work)]);
        isRebuildDue ||= erased.status === 'fulfilled';
        // Also after a deletion that finds nothing: it may repeat one whose rebuild failed.
        if (isRebuildDue)
          await rebuild(connection, path).catch((error) => Promise.reject(new StoreUnavailable(false, error)));
        isRebuildDue = false;
        if (erased.status === 'rejected') throw erased.reason;
        return erased.value;
      }),
    async backup(keep, now) {
      const file = await backup(database, path, 'reference', now);
      await removeOldBackups(file, keep);
      return file;
    },
    close: () => db.destroy(),
  };
}

/** The disk is full or fails, or the file can only be read. */
const UNUSABLE = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/;

function unavailable(error: unknown): never {
  const isUnusable = error instanceof Database.SqliteError && UNUSABLE.test(error.code);
  throw isUnusable ? new StoreUnavailable(true, error) : error;
}

async function transact<Result>(db: Kysely<Tables>, work: (queries: Queries) => Promise<Result>): Promise<Result> {
  return inTransaction(db.startTransaction(), work).catch(unavailable);
}

/**
 * Removes all but the newest `keep` backups of the name that `file` has, and parts that killed processes have left.
 * `file` itself stays, whatever the clock says.
 */
async function removeOldBackups(file: string, keep: number): Promise<void> {
  const [folder, prefix] = [dirname(file), basename(file).replace(/\d{4}-.*$/, '')];
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix)).sort();
  const others = names.filter((name) => name.endsWith('.db') && name !== basename(file));
  const old = others.reverse().slice(keep - 1);
  const parts = names.filter((name) => name.endsWith('.part'));
  for (const name of [...old, ...parts]) await rm(join(folder, name), { force: true });
}

/** Removes copies of rows that have moved, which are left in free space of their old pages, and what the log holds. */
async function rebuild(db: Kysely<Tables>, path: string): Promise<void> {
  try {
    if (statSync(path).size <= MAX_REBUILD_BYTES) await sql`vacuum`.execute(db);
  } finally {
    await checkpoint(db);
  }
}

/** Writes the write-ahead log into the file and empties it: it still holds the rows as they were before a deletion. */
async function checkpoint(db: Kysely<Tables>): Promise<void> {
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
}

/**
 * Writes a copy to the folder `backups` beside the file at `path`, and returns the path of the copy. Blocks the process
 * while it copies (about 15 ms for each MB), so that the copy is one consistent state. It gets its name when it is
 * complete and on the disk, which SQLite does not see to.
 */
async function backup(database: Database.Database, path: string, name: string, now: number): Promise<string> {
  const folder = resolve(dirname(path), 'backups');
  const target = join(folder, `${name}-${new Date(now).toISOString().replaceAll(':', '-')}.db`);
  const part = `${target}.part`;
  await mkdir(folder, { recursive: true });
  try {
    database.prepare('vacuum into ?').run(part);
    const file = await open(part, 'r');
    await file.sync();
    await file.close();
    await rename(part, target);
    return target;
  } finally {
    await rm(part, { force: true });
  }
}

function openFile(path: string): Database.Database {
  try {
    mkdirSync(dirname(path), { recursive: true });
    return new Database(path);
  } catch (error) {
    throw cannotBeUsed(path, error);
  }
}

const cannotBeUsed = (path: string, cause: unknown) => new OperatorError(`${path} cannot be used: ${reasonOf(cause)}`);

/**
 * Locks the file until this process ends, also when it is killed: the lock belongs to the operating system. The file
 * `*.owner` beside it only tells who has the lock.
 */
function lock(database: Database.Database, path: string): void {
  const ownerFile = `${path}.owner`;
  try {
    // A committed write survives a power failure (`full`), not only a crash of the process.
    database.exec('pragma journal_mode = wal; pragma locking_mode = exclusive; pragma synchronous = full');
    // The first write takes the lock, even one that changes nothing.
    database.exec('begin immediate; commit');
  } catch (error) {
    database.close();
    if (!(error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY')) throw cannotBeUsed(path, error);
    throw new OperatorError(
      `${path} is in use by ${existsSync(ownerFile) ? readFileSync(ownerFile, 'utf8').trim() : 'another process'}. Only one process can use it: stop that process, or set another folder in DATA_DIR, or use PostgreSQL (DATABASE_URL). Commands ask it with REFERENCE_OPERATOR_PORT.`,
    );
  }
  const startedAt = new Date(Date.now() - process.uptime() * 1000);
  writeFileSync(ownerFile, `process ${process.pid}, started ${startedAt.toISOString()}\n`);
}

/**
 * Writes the write-ahead log back into the file and unlocks it. Closing alone does neither until the last statement is
 * garbage-collected.
 */
function unlock(database: Database.Database): void {
  database.exec('pragma journal_mode = delete; pragma locking_mode = normal');
  // The locking mode takes effect with the next read.
  database.prepare('select count(*) from sqlite_master').all();
  database.close();
}
