import type { FastifyInstance } from 'fastify';
import { createReferenceApp } from '../../src/reference/app.ts';
import { Key } from '../../src/reference/keys.ts';
import { createManagementApp } from '../../src/reference/management.ts';
import { createMetrics } from '../../src/reference/metrics.ts';
import { loadProgramme } from '../../src/reference/programme/load.ts';
import type { Programme } from '../../src/reference/programme/schema.ts';
import type { LandingLimits } from '../../src/reference/routes/landing.ts';
import type { Service } from '../../src/reference/routes/request.ts';
import { openLibsql } from '../../src/reference/store/libsql.ts';
import type { Store } from '../../src/reference/store/store.ts';

export interface ReferenceOptions {
  /** Closed with the service. Default: an empty one in memory. */
  store?: Store;
  /** Default: the built-in programme. */
  programme?: Programme;
  /** Default: no limits. */
  landingLimits?: LandingLimits;
  trustProxy?: string[];
  /** The service's clock; default the system's. */
  now?: () => number;
  /** Default: a folder that does not exist. */
  backupDir?: string;
}

export interface RunningReference {
  /** The host part, without `/api/v3.0`. */
  url: string;
  /** The management port, with the operator's routes. */
  managementUrl: string;
  apiKey: string;
  secretKey: string;
  app: FastifyInstance;
  service: Service;
  store: Store;
  close(): Promise<void>;
}

/** The reference service in this process, on free ports of this machine. */
export async function startReference({
  store,
  programme = loadProgramme(undefined),
  landingLimits = { perAddress: 0, perLink: 0 },
  trustProxy = [],
  now = Date.now,
  backupDir = '/nonexistent',
}: ReferenceOptions = {}): Promise<RunningReference> {
  const [apiKey, secretKey] = ['an-api-key', 'a-secret-key'];
  const opened = store ?? (await openLibsql(':memory:'));
  let url = '';
  const service: Service = {
    store: opened,
    programme,
    keys: { apiKey: new Key(apiKey), secretKey: new Key(secretKey) },
    metrics: createMetrics(),
    publicUrl: () => url,
    now,
  };
  const app = createReferenceApp({ service, landingLimits, trustProxy });
  const management = createManagementApp({ service, phase: () => 'running', healthTimeoutMs: 2_000, backupDir });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  const managementUrl = await management.listen({ host: '127.0.0.1', port: 0 });
  const close = async () => {
    await app.close();
    await management.close();
    await opened.close();
  };
  return { url, managementUrl, apiKey, secretKey, app, service, store: opened, close };
}
