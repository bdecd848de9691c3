import cluster from 'node:cluster';
import type { DestinationStream, Logger } from 'pino';
import { type Config, loadConfig } from '../config/config.ts';
import { ConfigError } from '../config/environment.ts';
import { serve } from '../serve.ts';
import { announce } from './announce.ts';
import { createLifecycle, endOnSignal, endOnUncaught, type Lifecycle } from './lifecycle.ts';
import { createLog, flushed, openStdout } from './log.ts';
import { type Status, startManagement } from './management.ts';
import { ReferenceFailed, startReference } from './reference.ts';
import { answerPrimary, WorkerEnded } from './worker-messages.ts';
import { startWorkers } from './workers.ts';

/**
 * The process from start to end. When the start fails, the error is printed on stderr and the exit code is 1.
 * @param setSignalHandler Sets what handles SIGTERM and SIGINT from now on.
 */
export async function run(setSignalHandler: (handler: (signal: NodeJS.Signals) => void) => void): Promise<void> {
  let log: Logger | undefined;
  let draining: AbortSignal | undefined;
  try {
    const config = loadConfig();
    const stdout = openStdout();
    log = createLog(config.logLevel, stdout);
    // Each worker waits for the delay itself. So the primary has no delay, and its grace time includes the workers' delay.
    const isPrimary = config.workers > 1 && cluster.isPrimary;
    const lifecycle = createLifecycle({
      delayMs: isPrimary ? 0 : config.shutdownDelayMs,
      graceMs: config.shutdownGraceMs + (isPrimary ? config.shutdownDelayMs : 0),
      log,
    });
    draining = lifecycle.draining;
    endOnUncaught(lifecycle, log);
    if (cluster.isWorker) {
      setSignalHandler((signal) => lifecycle.end(signal, 0));
      await runWorker(config, lifecycle, log);
    } else {
      setSignalHandler(endOnSignal(lifecycle, log));
      await start(config, lifecycle, log, stdout);
    }
  } catch (error) {
    // A signal came during the start: the process ends when everything that had started has stopped.
    if (draining?.aborted) return;
    if (log) await flushed(log);
    console.error(explain(error));
    process.exit(1);
  }
}

/**
 * Starts the reference service (if no REST service is configured), the management port, and one gateway in this process or
 * several in workers. They are stopped in reverse order.
 */
async function start(config: Config, lifecycle: Lifecycle, log: Logger, stdout: DestinationStream): Promise<void> {
  for (const warning of config.warnings) log.warn(warning);
  const reference = config.rest.baseUrl ? undefined : lifecycle.stopAtEnd(await startReference(lifecycle, log));
  const restUrl = (config.rest.baseUrl ?? reference?.url ?? '').toString();
  const management = lifecycle.stopAtEnd(await startManagement(config.management, lifecycle, log));
  const serving =
    config.workers === 1
      ? lifecycle.stopAtEnd(await serve(config, restUrl, log, { draining: lifecycle.draining }))
      : await startWorkers(config.workers, restUrl, lifecycle, log, stdout);
  management.setSource(serving);
  lifecycle.run();
  log.info({ url: serving.url, management: management.url }, 'ready');
  if (config.production) return;
  await flushed(log);
  process.stdout.write(announce(config, { gateway: serving.url, rest: restUrl, management: management.url }));
}

/** Runs one of several gateways on this machine, started by the primary. When the primary ends, node:cluster ends it. */
async function runWorker(config: Config, lifecycle: Lifecycle, log: Logger): Promise<void> {
  if (!config.rest.baseUrl) throw new Error('The primary sets REST_BASE_URL for its workers.');
  const serving = lifecycle.stopAtEnd(
    await serve(config, config.rest.baseUrl.href, log, { draining: lifecycle.draining }),
  );
  lifecycle.run();
  const status = async (): Promise<Status> =>
    lifecycle.phase === 'running' ? await serving.status() : { reasons: [lifecycle.phase], conditions: [] };
  answerPrimary(serving.url, { status, metrics: () => serving.registry.getMetricsAsJSON() });
}

const EXPLAINED = [ConfigError, ReferenceFailed, WorkerEnded];

/** What is printed of an error that ended the start. Only the stack of an unexpected one: its members can hold secrets. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (EXPLAINED.some((type) => error instanceof type)) return error.message;
  return portInUse(error) ?? error.stack ?? error.message;
}

function portInUse(error: Error): string | undefined {
  if (!('code' in error) || error.code !== 'EADDRINUSE') return undefined;
  const { address, port } = { address: '', port: '', ...error };
  return `${address}:${port} is in use by another program; set PORT or MANAGEMENT_PORT to another port.`;
}
