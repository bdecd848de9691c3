import type { FastifyInstance } from 'fastify';
import { createReferenceApp } from '../src/app.ts';
import { Key } from '../src/keys.ts';
import { loadProgramme, type Programme } from '../src/programme/file.ts';
import type { Service } from '../src/routes/service.ts';
import { openSqlite } from '../src/store/sqlite.ts';
import type { Store } from '../src/store/store.ts';

export interface ReferenceOptions {
  /** Closed with the service. Default: an empty one in memory. */
  store?: Store;
  /** Default: the built-in programme. */
  programme?: Programme;
  /** Default: no limit. */
  landingPerMinute?: number;
  trustProxy?: string[];
  requestTimeoutMs?: number;
  timeoutCheckMs?: number;
  trouble?: (app: FastifyInstance) => void;
  /** The service's clock; default the system's. */
  now?: () => number;
  /** Default: a folder that does not exist. */
  dataDir?: string;
}

export interface RunningReference {
  /** The host part, without `/api/v3.0`. */
  url: string;
  apiKey: string;
  secretKey: string;
  app: FastifyInstance;
  service: Service;
  store: Store;
  close(): Promise<void>;
}

/** The service in this process, on a free port of this machine. */
export async function startReference({
  store,
  programme = loadProgramme(undefined),
  now = Date.now,
  dataDir = '/nonexistent',
  ...options
}: ReferenceOptions = {}): Promise<RunningReference> {
  const [apiKey, secretKey] = ['an-api-key', 'a-secret-key'];
  const opened = store ?? (await openSqlite(':memory:'));
  let url = '';
  const keys = { apiKey: new Key(apiKey), secretKey: new Key(secretKey) };
  const service: Service = { store: opened, programme, keys, dataDir, publicUrl: () => url, now };
  const app = createReferenceApp({ service, ...options });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  const close = async () => {
    await app.close();
    await opened.close();
  };
  return { url, apiKey, secretKey, app, service, store: opened, close };
}
