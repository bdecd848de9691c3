import cluster from 'node:cluster';
import { loadConfig } from './config/config.ts';
import { ConfigError } from './config/environment.ts';
import { announce } from './process/announce.ts';
import { createLifecycle, endOnSignals, endOnUncaught } from './process/lifecycle.ts';
import { createLog, stdout } from './process/log.ts';
import { startManagement } from './process/management.ts';
import { startReference } from './process/reference.ts';
import { runWorker } from './process/worker.ts';
import { startWorkers } from './process/workers.ts';
import { serve } from './serve.ts';

/**
 * The process from start to end: configuration, the REST service if none is named, management, and one gateway here or
 * several in workers. What starts last is stopped first.
 */
async function main(): Promise<void> {
  const config = loadConfig();
  // Workers write to this stdout too, and so does the reference service.
  const log = createLog(config.logLevel, stdout(config.workers > 1 || !config.rest.baseUrl));
  const lifecycle = createLifecycle(config.shutdownGraceMs, log);
  endOnUncaught(lifecycle, log);
  if (cluster.isWorker) return await runWorker(config, lifecycle, log);

  endOnSignals(lifecycle);
  const reference = config.rest.baseUrl ? undefined : lifecycle.own(await startReference(lifecycle, log));
  const restUrl = (config.rest.baseUrl ?? reference?.url ?? '').toString();
  const management = lifecycle.own(await startManagement(config.management, lifecycle, log));
  const serving =
    config.workers === 1 ? await serve(config, restUrl, log) : await startWorkers(config.workers, restUrl, log);
  management.show(lifecycle.own(serving));
  lifecycle.run();
  // A terminal that is gone, or a full disk, is no reason to end.
  process.stdout.on('error', () => {});
  // What the log has told so far stands before it.
  log.flush(() =>
    announce(config, { gateway: serving.url, rest: restUrl, management: management.url }, (text) =>
      process.stdout.write(text),
    ),
  );
}

main().catch((error: unknown) => {
  console.error(error instanceof ConfigError ? error.message : (portInUse(error) ?? error));
  process.exit(1);
});

function portInUse(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) return undefined;
  const { address, port } = { address: '', port: '', ...error };
  return `${address}:${port} is in use by another program; set PORT or MANAGEMENT_PORT to another port.`;
}
