import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { sql } from 'kysely';
import { OperatorError } from '../errors.ts';
import { contactHasher } from './contact-key.ts';
import { migrationsWith } from './migrate.ts';
import { isPostgres, type Queries, reasonOf, type Store } from './store.ts';
import type { Tables } from './tables.ts';

/*
 * All data as lines of JSON: `{"version"}` first, then `{"table", "row"}` for each row, and `{"end"}` with the number of rows.
 * Both databases read the lines of each other, so a service moves from SQLite to PostgreSQL with them.
 */

type Row = Record<string, unknown>;

/** The tables in an order in which rows can be added, with their primary keys. */
const TABLES: [table: keyof Tables, ...key: [string, ...string[]]][] = [
  ['service_state', 'name'],
  ['players', 'id'],
  ['totals', 'player_id'],
  ['contacts', 'id'],
  ['counted_contacts', 'hash'],
  ['earlier_contacts', 'player_id', 'hash'],
  ['referrals', 'friend_id'],
  ['coupons', 'id'],
  ['events', 'id'],
];

/** The versions of the tables, which are the migrations, and the present one. */
const VERSIONS = Object.keys(migrationsWith(''));
const VERSION = VERSIONS.at(-1);

/** At most 13 parameters for each: SQLite takes 32,766 in a statement, PostgreSQL 65,535. */
const ROWS_PER_STATEMENT = 500;

/** Writes the lines of one snapshot. */
export async function exportLines(store: Store, write: (line: string) => void): Promise<void> {
  const once = onlyOnce('Export again.');
  await store.read(async (queries) => {
    once();
    let count = 0;
    write(JSON.stringify({ version: VERSION }));
    for (const [table, ...key] of TABLES) {
      const columns = sql.join(key.map((column) => sql.ref(column)));
      for (let after: unknown[] = []; ; ) {
        const isNext = after.length > 0 ? sql`(${columns}) > (${sql.join(after)})` : sql`true`;
        const query = sql<Row>`select * from ${sql.table(table)} where ${isNext} order by ${columns} limit ${ROWS_PER_STATEMENT}`;
        const { rows } = await query.execute(queries);
        count += rows.length;
        for (const row of rows) write(JSON.stringify({ table, row }));
        const last = rows.at(ROWS_PER_STATEMENT - 1);
        if (!last) break;
        after = key.map((column) => last[column]);
      }
    }
    write(JSON.stringify({ end: count }));
  });
}

/**
 * Reads the lines of this version or an older one into a store without players, in one transaction. Returns how many rows each
 * table got.
 */
export async function importLines(
  store: Store,
  input: Readable,
  contactHashKey: string,
): Promise<Record<string, number>> {
  const once = onlyOnce('Import again.');
  return store.write(async (queries) => {
    once();
    if (await queries.selectFrom('players').select('id').limit(1).executeTakeFirst()) {
      throw new OperatorError('The database has players. Import into an empty one.');
    }
    for (const table of ['service_state', 'counted_contacts'] as const) await queries.deleteFrom(table).execute();
    const { version, counts } = await addRows(queries, input);
    // Each migration can run again, and finds the rows as the older version left them.
    const migrations = migrationsWith(contactHashKey);
    for (const name of VERSIONS.slice(VERSIONS.indexOf(version) + 1)) await migrations[name]?.up(queries);
    await contactHasher(queries, contactHashKey);
    return counts;
  });
}

async function addRows(queries: Queries, input: Readable) {
  const counts: Record<string, number> = {};
  let version = '';
  let [table, rows]: [keyof Tables | undefined, Row[]] = [undefined, []];
  let [number, isWhole] = [0, false];
  const flush = async () => {
    if (table) counts[table] = (counts[table] ?? 0) + rows.length;
    if (table && rows.length > 0) await insert(queries, table, rows);
    rows = [];
  };
  for await (const line of createInterface({ input })) {
    number++;
    try {
      const read: { version?: string; table?: string; row?: Row; end?: number } = JSON.parse(line);
      if (number === 1) {
        version = read.version ?? '';
        if (VERSIONS.includes(version)) continue;
        throw new Error(`it is of the version ${read.version}, and this service knows those up to ${VERSION}`);
      }
      if (isWhole) throw new Error('it follows the end');
      const count = number - 2;
      isWhole = read.end === count;
      if (isWhole) continue;
      if (read.end !== undefined) throw new Error(`it counts ${read.end} rows, and ${count} came`);
      const [known] = TABLES.find(([name]) => name === read.table) ?? [];
      if (!known || !read.row) throw new Error('it has no row of a table');
      if (known !== table || rows.length === ROWS_PER_STATEMENT) await flush();
      table = known;
      rows.push(read.row);
    } catch (error) {
      throw new OperatorError(`Line ${number} cannot be imported: ${reasonOf(error)}`);
    }
  }
  if (!isWhole) throw new OperatorError('The export is not complete: its last line is missing. Export again.');
  await flush();
  return { version, counts };
}

/** Adds rows with the ids that they have. */
async function insert(queries: Queries, table: keyof Tables, rows: readonly Row[]): Promise<void> {
  const names = Object.keys(rows[0] ?? {});
  const [into, columns] = [sql.table(table), sql.join(names.map((name) => sql.ref(name)))];
  const values = sql.join(rows.map((row) => sql`(${sql.join(names.map((name) => row[name] ?? null))})`));
  const overriding = sql.raw(isPostgres(queries) ? 'overriding system value' : '');
  await sql`insert into ${into} (${columns}) ${overriding} values ${values}`.execute(queries);
  if (!isPostgres(queries) || !names.includes('id')) return;
  const sequence = sql`pg_get_serial_sequence(${table}, 'id')`;
  await sql`select setval(${sequence}, (select max(id) from ${into}))`.execute(queries);
}

/** Lines cannot be read or written twice: work that the store begins again after a lost connection fails. */
function onlyOnce(advice: string): () => void {
  let isFirst = true;
  return () => {
    if (!isFirst) throw new OperatorError(`A connection to the database was lost. ${advice}`);
    isFirst = false;
  };
}
