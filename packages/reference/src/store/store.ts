import { type ControlledTransactionBuilder, type Kysely, PostgresAdapter } from 'kysely';
import type { Tables } from './tables.ts';

/** What a query can run on: the store itself, one connection, or a transaction. */
export type Queries = Kysely<Tables>;

export const isPostgres = (queries: Queries): boolean => queries.getExecutor().adapter instanceof PostgresAdapter;

/** The databases allow a bounded number of parameters in one statement. */
export function slicesOf<Row>(rows: readonly Row[], length: number): Row[][] {
  const count = Math.ceil(rows.length / length);
  return Array.from({ length: count }, (_, index) => rows.slice(index * length, (index + 1) * length));
}

/** Persistent storage of players and everything that belongs to them, on SQLite or on PostgreSQL. */
export interface Store {
  /** Runs queries on one consistent snapshot of the data. May run `work` more than once. */
  read<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  /**
   * Runs `work` in one transaction and resolves after the commit is durable. If `work` throws, nothing is stored.
   * `work` may run more than once (after a deadlock or a lost connection), so it must do nothing but queries. Throws a
   * StoreUnavailable if the database cannot be reached.
   */
  write<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  /**
   * Like `write`, for work that deletes personal data. On SQLite, neither the file nor its log has the deleted values
   * when it resolves. PostgreSQL keeps them in its files until VACUUM FULL.
   */
  erase<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  /** The keyed hash of a contact or of another value that must not be read in the database, see `contactHash`. */
  readonly hashOf: (named: { kind: string; value: string }) => string;
  /**
   * Writes a consistent copy of the database to a new file, whose path is returned, and removes all but the newest
   * `keep`. Undefined where the database has a tool of its own.
   */
  readonly backup: ((keep: number, now: number) => Promise<string>) | undefined;
  /** Waits for running work, then closes the database. */
  close(): Promise<void>;
}

/** The database cannot be used or did not answer in time. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** False if the connection was lost during the commit: the write is then stored or not, as a whole. */
  readonly nothingStored: boolean;

  constructor(nothingStored: boolean, cause: unknown) {
    super(`The database cannot be used: ${reasonOf(cause)}`, { cause });
    this.nothingStored = nothingStored;
  }
}

/**
 * Work that fails is rolled back. What fails after it is the commit: whether it is stored is then not known, unless the
 * database has refused it.
 */
export async function inTransaction<Result>(
  begin: ControlledTransactionBuilder<Tables>,
  work: (queries: Queries) => Promise<Result>,
  isRefused: (error: unknown) => boolean = () => false,
): Promise<Result> {
  const transaction = await begin.execute();
  let isDone = false;
  try {
    const result = await work(transaction);
    isDone = true;
    await transaction.commit().execute();
    return result;
  } catch (error) {
    // Gives the connection back. Where it is lost or the disk is full, the rollback fails: it was done already.
    await Promise.allSettled([transaction.rollback().execute()]);
    throw isDone && !isRefused(error) ? new StoreUnavailable(false, error) : error;
  }
}

/** The message of an error, or of all errors of an AggregateError. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
