import cluster from 'node:cluster';
import { setFlagsFromString } from 'node:v8';
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
  tuneCollector();
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

/**
 * What V8 assumes about memory does not fit a gateway.
 *
 * - It is one thread's work, and there is one for each core. Helpers that collect young objects beside it would take the
 *   core from it or from another gateway: measured on one core, they cost a tenth of all CPU time on large answers.
 * - Nothing that is made for a request outlives it. V8 takes the objects of requests that happen to be under way whenever it
 *   collects for long-lived ones and from then on makes their like among the old. That befell every second process: such a
 *   process spent twice the time on collecting and grew to 210 MB instead of 140.
 * - What the old hold is small and stays the same. V8 lets it grow to a multiple before it collects it; a quarter on top is
 *   enough, and under full load the old are still collected only every eighteen seconds. Half on top takes 6 MB more.
 * - V8 collects the young when four fifths of their room are taken, or as soon after that as it is let; all that was ever
 *   taken stays in memory, twice. At seven tenths a gateway under full load takes 5 MB less, and collects a seventh more
 *   often.
 *
 * Two things V8 wants to know before the program begins, so `npm start` and the image say them to Node:
 *
 * - `--max-semi-space-size=32`. A round trip makes 170 KB of young objects, and next to nothing of it is left when it is
 *   over. Twice the room for them halves the collections, each with no more to copy: of the 25 µs that they take of a
 *   round trip less than 20 are left. That costs 20 MB where V8 would take 16 for each half of the room, and more in a
 *   container with little memory, where it would take less.
 * - `--v8-pool-size=1`. One helper compiles and marks as well as four do beside one busy thread. Each of them keeps memory
 *   from its work: three fewer take 5 MB less.
 */
function tuneCollector(): void {
  setFlagsFromString('--no-parallel-scavenge');
  setFlagsFromString('--no-allocation-site-pretenuring');
  setFlagsFromString('--heap-growing-percent=25');
  setFlagsFromString('--minor-gc-task-trigger=70');
}

function portInUse(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) return undefined;
  const { address, port } = { address: '', port: '', ...error };
  return `${address}:${port} is in use by another program; set PORT or MANAGEMENT_PORT to another port.`;
}
