import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/** What a query can run on: the store itself or one of its transactions. */
export type Queries = Kysely<Tables>;

/** Where players and all that belongs to them are kept, on libsql or on PostgreSQL. */
export interface Store {
  /** How it is named in messages: a file or a database's address without its password. */
  readonly name: string;
  /** Runs queries that see one state of the data, undisturbed by writes that run beside them. */
  read<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  /**
   * Runs everything that one request writes as one transaction. The promise resolves after the commit is durable; when
   * `work` throws, nothing is stored. `work` can run more than once (a deadlock), so it must do nothing but queries.
   */
  write<Result>(work: (queries: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** Waits for what runs, then lets go of the database. */
  close(): Promise<void>;
}
