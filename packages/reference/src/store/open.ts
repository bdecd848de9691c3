import { join } from 'node:path';
import type { ReferenceConfig } from '../config.ts';
import type { PostgresSettings } from './postgres.ts';
import type { Store } from './store.ts';

/** Where the store is: in PostgreSQL with a `databaseUrl`, else in the file `reference.db` in `dataDir`. */
interface StoreLocation extends Pick<ReferenceConfig, 'databaseUrl' | 'dataDir'> {
  database: PostgresSettings;
}

/** Opens the store. Only the driver that is needed is loaded. */
export async function openStore({ databaseUrl, dataDir, database }: StoreLocation): Promise<Store> {
  if (databaseUrl !== undefined) {
    const { openPostgres } = await import('./postgres.ts');
    return openPostgres(databaseUrl, database);
  }
  const { openLibsql } = await import('./libsql.ts');
  return openLibsql(join(dataDir, 'reference.db'));
}
