import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { createOperatorApp, createReferenceApp } from './app.ts';
import type { ReferenceConfig } from './config.ts';
import { OperatorError } from './errors.ts';
import { loadProgramme } from './programme/file.ts';
import type { Service } from './routes/service.ts';
import { contactKeyOf, makeContactKey } from './store/contact-key.ts';
import { openStore } from './store/open.ts';
import { reasonOf } from './store/store.ts';

/** How long requests that are being answered may take after the process was told to end. */
const GRACE_MS = 10_000;

/** What is closed when the process ends; the one opened last first. */
type Opened = { close(): PromiseLike<unknown> }[];

/**
 * Runs the service until a signal ends the process: no new connections, requests are answered, the store is closed.
 *
 * A service that another process started ignores SIGINT: Ctrl-C reaches both, and the parent still needs the service
 * until it has finished itself. It ends on SIGTERM or when the parent disconnects.
 */
export async function serve(config: ReferenceConfig, isDemo: boolean): Promise<void> {
  const isChild = process.send !== undefined;
  // Synchronous: the last lines are out when the process exits.
  const log = pino({ name: 'reference-service', level: isChild ? 'warn' : 'info' }, pino.destination({ sync: true }));
  const opened: Opened = [];
  let isEnding = false;
  const grace = closeWithGrace({ delay: GRACE_MS, skip: ['SIGINT'], logger: log }, async ({ err, signal }) => {
    isEnding = true;
    if (err) log.fatal({ err }, 'the service failed');
    else log.info({ signal }, 'stopping');
    for (const resource of opened.splice(0).reverse()) await resource.close();
  });
  // npm forwards a Ctrl-C that the terminal has already sent: the second one is no wish to end at once.
  process.on('SIGINT', () => {
    if (!isChild && !isEnding) grace.close();
  });
  process.once('disconnect', () => {
    if (!isEnding) grace.close();
  });
  try {
    await start(config, isDemo, log, opened);
  } catch (error) {
    // A signal during the start closes what the start still needs.
    if (!isEnding) throw error;
  }
}

/** The service with its store, for a process that serves it and for a command. */
export async function openService(config: ReferenceConfig, log: Logger, { isLimited = true } = {}): Promise<Service> {
  const { keys, backupKeep, port } = config;
  const programme = loadProgramme(config.programmeFile);
  const onStep = (step: object, message: string) => log.warn(step, message);
  const store = await openStore({ ...config, contactHashKey: contactKeyOf(config), isLimited, onStep }, (error) =>
    log.warn({ reason: reasonOf(error) }, 'a database connection was lost'),
  );
  const publicUrl = () => config.publicUrl ?? `http://127.0.0.1:${port}`;
  return { store, programme, keys, backupKeep, publicUrl, now: Date.now };
}

async function start(config: ReferenceConfig, isDemo: boolean, log: Logger, opened: Opened): Promise<void> {
  const { host, port, operatorPort, hasDevelopmentKeys, isProduction } = config;
  makeContactKey(config);
  const service = await openService(config, log);
  opened.push(service.store);
  const trouble = isDemo && !isProduction ? (await import('./demo/states.ts')).troubleDemoPlayers : undefined;
  const app = createReferenceApp({ ...config, service, log, trouble });
  opened.push(app);
  await app.ready();
  if (isDemo) await (await import('./demo/seed.ts')).seedDemo(service);
  let operatorUrl: string | undefined;
  if (operatorPort !== undefined) {
    const operatorApp = createOperatorApp({ service, log });
    opened.push(operatorApp);
    operatorUrl = await listen(operatorApp, '127.0.0.1', operatorPort, 'REFERENCE_OPERATOR_PORT');
  }
  const url = await listen(app, host, port, 'REFERENCE_PORT');
  if (config.publicUrl === undefined) service.publicUrl = () => url;
  log.info({ url, operatorUrl }, 'listening');
  // A parent process is told that the service is ready, or a person where it is. In production stdout has JSON only.
  if (process.send) return void process.send({ ready: true, url, operatorUrl });
  if (hasDevelopmentKeys) log.warn('the development keys are accepted (REST_API_KEY, REST_SECRET_KEY are not set)');
  if (!isProduction) console.log(`Reference service: ${url}/api/v3.0`);
}

/** Returns the URL where the app listens. `setting` is told to a person if the port is taken. */
function listen(app: FastifyInstance, host: string, port: number, setting: string): Promise<string> {
  return app.listen({ host, port }).catch((error: unknown) => {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    throw isTaken ? new OperatorError(`Port ${port} of ${host} is taken; set ${setting} to another.`) : error;
  });
}
