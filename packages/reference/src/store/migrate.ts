import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import { OperatorError } from '../errors.ts';
import * as first from './migrations/0001-first.ts';
import * as countedContacts from './migrations/0002-counted-contacts.ts';

/** All migrations, in order. A released migration never changes. */
const MIGRATIONS: Record<string, Migration> = {
  '0001-first': first,
  '0002-counted-contacts': countedContacts,
};

/**
 * Migrates the tables to the version of this program, in one transaction. Throws an OperatorError if a newer program has
 * already migrated them further.
 * @param schema Where the tables are, on a database with schemas; other schemas may have tables of the same names.
 */
export async function migrate<Tables>(db: Kysely<Tables>, schema?: string): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => MIGRATIONS },
    ...(schema !== undefined && { migrationTableSchema: schema }),
  });
  const unknown = (await appliedMigrations(db, schema)).filter((name) => !(name in MIGRATIONS));
  if (unknown.length > 0) {
    throw new OperatorError(
      `The database is newer than this program: it has the migrations ${unknown.join(', ')}, which this program does not know. Run the program that made them, or a later one.`,
    );
  }
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

async function appliedMigrations<Tables>(db: Kysely<Tables>, schema: string | undefined): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  const exists = tables.some((table) => table.name === 'kysely_migration' && table.schema === schema);
  if (!exists) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map((row) => row.name);
}
