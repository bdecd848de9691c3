import type { FastifyInstance } from 'fastify';
import { createReferenceApp } from '../../src/reference/app.ts';
import { Key } from '../../src/reference/keys.ts';
import { loadProgramme } from '../../src/reference/programme/load.ts';
import type { Programme } from '../../src/reference/programme/schema.ts';
import { openLibsql } from '../../src/reference/store/libsql.ts';
import type { Store } from '../../src/reference/store/store.ts';

export interface ReferenceOptions {
  /** Closed with the service. Default: an empty one in memory. */
  store?: Store;
  /** Default: the built-in programme. */
  programme?: Programme;
  /** The service's clock; default the system's. */
  now?: () => number;
}

export interface RunningReference {
  /** The host part, without `/api/v3.0`. */
  url: string;
  apiKey: string;
  secretKey: string;
  app: FastifyInstance;
  store: Store;
  close(): Promise<void>;
}

/** The reference service in this process, on a free port of this machine. */
export async function startReference({
  store,
  programme = loadProgramme(undefined),
  now = Date.now,
}: ReferenceOptions = {}): Promise<RunningReference> {
  const [apiKey, secretKey] = ['an-api-key', 'a-secret-key'];
  const held = store ?? (await openLibsql(':memory:'));
  let url = '';
  const app = createReferenceApp({
    store: held,
    programme,
    keys: { apiKey: new Key(apiKey), secretKey: new Key(secretKey) },
    publicUrl: () => url,
    now,
  });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  const close = async () => {
    await app.close();
    await held.close();
  };
  return { url, apiKey, secretKey, app, store: held, close };
}
