import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import * as first from './migrations/0001-first.ts';
import { StoreError } from './store-error.ts';

/** Every change of the tables, in order. A number that was released never changes; a new change gets a new number. */
const MIGRATIONS: Record<string, Migration> = {
  '0001-first': first,
};

/**
 * Brings the tables to what this program expects. Throws a StoreError when a newer program has changed them already.
 * @param schema Where the tables are, on a database that has schemas; other schemas may have tables of the same names.
 */
export async function migrate<Tables>(db: Kysely<Tables>, schema?: string): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => MIGRATIONS },
    ...(schema !== undefined && { migrationTableSchema: schema }),
  });
  const unknown = (await migrationsDone(db, schema)).filter((name) => !(name in MIGRATIONS));
  if (unknown.length > 0) {
    throw new StoreError(
      `The database is newer than this program: it has the changes ${unknown.join(', ')}, which this program does not know. Run the program that made them, or a later one.`,
    );
  }
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

/** The names of the changes that the database has already; none in an empty one. */
async function migrationsDone<Tables>(db: Kysely<Tables>, schema: string | undefined): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  const isThere = tables.some((table) => table.name === 'kysely_migration' && table.schema === schema);
  if (!isThere) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map((row) => row.name);
}
