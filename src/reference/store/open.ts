import { join } from 'node:path';
import type { Store } from './store.ts';

/** Opens PostgreSQL when a URL is given, else the file in `dataDir`. Only the driver that is needed is loaded. */
export async function openStore(at: { databaseUrl: string | undefined; dataDir: string }): Promise<Store> {
  if (at.databaseUrl !== undefined) {
    const { openPostgres } = await import('./postgres.ts');
    return openPostgres(at.databaseUrl);
  }
  const { openLibsql } = await import('./libsql.ts');
  return openLibsql(join(at.dataDir, 'reference.db'));
}
