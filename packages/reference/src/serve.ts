import { resolve } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { collectDefaultMetrics } from 'prom-client';
import { createReferenceApp } from './app.ts';
import type { ReferenceConfig } from './config.ts';
import { OperatorError } from './errors.ts';
import { createManagementApp } from './management.ts';
import { createMetrics } from './metrics.ts';
import { loadProgramme } from './programme/load.ts';
import type { Service } from './routes/request.ts';
import { endOnSignals, type Lifecycle } from './shutdown.ts';
import { openStore } from './store/open.ts';

/** Something that is closed when the process ends; the one opened last first. */
interface Resource {
  close(): PromiseLike<unknown>;
  /** Ends what does not finish in time. */
  cut?(): void;
}

/** Runs the service until a signal ends the process. Another process that started it gets a message when it is ready. */
export async function serve(config: ReferenceConfig, isDemo: boolean): Promise<void> {
  // With minLength 0, flush() would not wait for a write that has begun.
  const destination = pino.destination({ fd: 1, sync: false, minLength: 1 });
  const level = config.logLevel ?? (process.send ? 'warn' : 'info');
  const log = pino({ name: 'reference-service', level }, destination);
  const opened: Resource[] = [];
  const lifecycle = endOnSignals(config.shutdown, log, {
    async close() {
      for (const resource of [...opened].reverse()) await resource.close();
    },
    cut() {
      for (const resource of opened) resource.cut?.();
    },
  });
  try {
    const at = await start(config, isDemo, log, lifecycle, opened);
    lifecycle.run();
    announce(config, log, (line) => destination.write(line), at);
  } catch (error) {
    // A signal during the start closes what the start still needs.
    if (lifecycle.phase !== 'draining') throw error;
  }
}

async function start(
  config: ReferenceConfig,
  isDemo: boolean,
  log: Logger,
  lifecycle: Lifecycle,
  opened: Resource[],
): Promise<{ url: string; managementUrl: string; store: string }> {
  const metrics = createMetrics();
  collectDefaultMetrics({ register: metrics.registry });
  const programme = loadProgramme(config.programmeFile);
  const onConnectionError = (error: Error) => {
    metrics.connectionError();
    log.warn({ err: error }, 'a database connection was lost');
  };
  const store = await openStore({ ...config, database: { ...config.database, onConnectionError } });
  opened.push(store);
  let url = `http://127.0.0.1:${config.port}`;
  const publicUrl = () => config.publicUrl ?? url;
  const service: Service = { store, programme, keys: config.keys, metrics, publicUrl, now: Date.now };
  const management = createManagementApp({
    service,
    phase: () => lifecycle.phase,
    healthTimeoutMs: config.database.healthTimeoutMs,
    backupDir: resolve(config.dataDir, 'backups'),
    log,
  });
  opened.push(management);
  const managementUrl = await listen(management, config.management, 'REFERENCE_MANAGEMENT_PORT');

  const app = createReferenceApp({
    service,
    landingLimits: config.landingLimits,
    trustProxy: config.trustProxy,
    isDraining: () => lifecycle.phase === 'draining',
    log,
  });
  opened.push({ close: () => app.close(), cut: () => app.server.closeAllConnections() });
  await app.ready();
  if (isDemo) {
    const { seedDemo } = await import('./demo.ts');
    await seedDemo(service);
  }
  url = await listen(app, config, 'REFERENCE_PORT');
  return { url, managementUrl, store: store.name };
}

async function listen(
  app: FastifyInstance,
  { host, port }: { host: string; port: number },
  variable: string,
): Promise<string> {
  try {
    return await app.listen({ host, port, listenTextResolver: (address) => `listening at ${address} (${variable})` });
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    throw isTaken ? new OperatorError(`Port ${port} of ${host} is taken; set ${variable} to another.`) : error;
  }
}

/** Tells a parent process that the service is ready, or a person where it is. In production stdout has JSON only. */
function announce(
  config: ReferenceConfig,
  log: Logger,
  print: (line: string) => void,
  at: { url: string; managementUrl: string; store: string },
): void {
  // A gateway that starts this service has the same keys.
  if (config.hasDevelopmentKeys && !process.send) {
    log.warn('the development keys are accepted (REST_API_KEY, REST_SECRET_KEY are not set)');
  }
  log.info(at, 'listening');
  if (process.send) return void process.send({ ready: true, url: at.url, managementUrl: at.managementUrl });
  if (config.isProduction) return;
  print(`Reference service: ${at.url}/api/v3.0, management ${at.managementUrl}, data in ${at.store}\n`);
}
