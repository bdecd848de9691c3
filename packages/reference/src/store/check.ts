import { existsSync } from 'node:fs';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { OperatorError } from '../errors.ts';
import { contactHasher } from './contact-key.ts';
import { versionOf } from './migrate.ts';
import { reasonOf } from './store.ts';
import type { Tables } from './tables.ts';

/**
 * Checks whether the service can start with a database, and changes nothing: it is whole, of this version or an older
 * one, and its contact hashes belong to `contactHashKey`. Returns what a person compares with the lost one.
 */
export async function checkDatabase(
  place: { databaseUrl: string | undefined; file: string | undefined },
  contactHashKey: string,
): Promise<object> {
  const { name, db } = await openForReading(place);
  try {
    const { made, due, unknown } = await versionOf(db, contactHashKey);
    if (made.length === 0) throw new OperatorError('it has no tables of the service');
    if (unknown.length > 0)
      throw new OperatorError(`it is of another version of the service, a newer one or 0.1.0 (${unknown})`);
    if (place.file !== undefined) await requireWhole(db);
    // The first versions had no key of the configuration.
    if (made.includes('0003-contact-hash-key')) await contactHasher(db, contactHashKey);
    const counts: Record<string, number> = {};
    for (const table of ['players', 'referrals', 'coupons', 'events'] as const) {
      const query = db.selectFrom(table).select((select) => select.fn.countAll().as('count'));
      counts[table] = Number((await query.executeTakeFirstOrThrow()).count);
    }
    return { database: name, ...counts, due };
  } catch (error) {
    throw new OperatorError(`The service cannot use ${name}: ${reasonOf(error)}`);
  } finally {
    await db.destroy();
  }
}

async function openForReading({ databaseUrl, file }: Parameters<typeof checkDatabase>[0]) {
  if (file !== undefined) {
    if (!existsSync(file)) throw new OperatorError(`There is no file ${file}.`);
    const { default: Database } = await import('libsql');
    const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(file) }) });
    return { name: file, db };
  }
  if (databaseUrl === undefined) throw new OperatorError('Name the backup: restore --check BACKUP');
  const { connect } = await import('./postgres.ts');
  return connect(databaseUrl, () => {}, false);
}

async function requireWhole(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db);
  const problems = rows.map((row) => row.integrity_check).filter((problem) => problem !== 'ok');
  if (problems.length > 0) throw new OperatorError(problems.slice(0, 3).join(', '));
}
