import { join } from 'node:path';
import type { ReferenceConfig } from '../config.ts';
import type { PostgresOptions } from './postgres.ts';
import type { Store } from './store.ts';

/**
 * Opens the store: PostgreSQL with a `databaseUrl`, else the file `reference.db` in `dataDir`. Only the driver that is
 * needed is loaded.
 */
export async function openStore(
  { databaseUrl, dataDir, ...options }: Pick<ReferenceConfig, 'databaseUrl' | 'dataDir'> & PostgresOptions,
  onConnectionError: (error: Error) => void,
): Promise<Store> {
  if (databaseUrl !== undefined) {
    const { openPostgres } = await import('./postgres.ts');
    return openPostgres(databaseUrl, options, onConnectionError);
  }
  const { openSqlite } = await import('./sqlite.ts');
  return openSqlite(join(dataDir, 'reference.db'), options);
}
