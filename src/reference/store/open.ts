import { join } from 'node:path';
import type { PostgresSettings } from './postgres.ts';
import type { Store } from './store.ts';

export interface StoreLocation {
  /** If set, PostgreSQL is used; else the file `reference.db` in `dataDir`. */
  databaseUrl: string | undefined;
  dataDir: string;
  postgres?: PostgresSettings;
}

/** Opens the store. Only the driver that is needed is loaded. */
export async function openStore({ databaseUrl, dataDir, postgres }: StoreLocation): Promise<Store> {
  if (databaseUrl !== undefined) {
    const { openPostgres } = await import('./postgres.ts');
    return openPostgres(databaseUrl, postgres);
  }
  const { openLibsql } = await import('./libsql.ts');
  return openLibsql(join(dataDir, 'reference.db'));
}
