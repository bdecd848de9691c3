import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

interface ShutdownSettings {
  /** How long requests that are being answered may take after the listener is closed, in milliseconds. */
  graceMs: number;
  /** How long the service is reported as draining and still accepts connections, in milliseconds. */
  delayMs: number;
}

export interface Lifecycle {
  readonly phase: 'starting' | 'running' | 'draining';
  /** The start is complete. */
  run(): void;
}

/** npm forwards a signal that the terminal has already sent: signals closer together than this are one. */
const SAME_SIGNAL_MS = 100;
/** How long the store may take to close after all connections were cut. */
const CUT_MS = 1_000;

/**
 * Ends the process on SIGTERM or SIGINT: `/readyz` reports it at once; after the delay the listener is closed, requests
 * are answered, the store is closed, and the process exits with 0. A second signal exits at once with 1.
 *
 * A service that another process started ignores SIGINT: Ctrl-C reaches both, and the parent still needs the service until
 * it has finished itself. It ends without delay on SIGTERM or when the parent disconnects.
 */
export function endOnSignals(
  { graceMs, delayMs }: ShutdownSettings,
  log: Logger,
  { close, cut }: { close(): Promise<void>; cut(): void },
): Lifecycle {
  const isChild = process.send !== undefined;
  let phase: Lifecycle['phase'] = 'starting';
  let firstSignalAt: number | undefined;

  async function drain(): Promise<void> {
    if (!isChild && delayMs > 0) await delay(delayMs);
    setTimeout(cut, graceMs).unref();
    setTimeout(() => process.exit(1), graceMs + CUT_MS).unref();
    await close();
    log.info('stopped');
    log.flush(() => process.exit(0));
  }
  function end(why: string): void {
    firstSignalAt ??= performance.now();
    if (performance.now() - firstSignalAt > SAME_SIGNAL_MS) process.exit(1);
    if (phase === 'draining') return;
    phase = 'draining';
    log.info({ why, graceMs, delayMs: isChild ? 0 : delayMs }, 'stopping');
    drain().catch((error: unknown) => {
      log.fatal({ err: error }, 'the service was not stopped cleanly');
      log.flush(() => process.exit(1));
    });
  }
  process.on('SIGTERM', () => end('SIGTERM'));
  process.on('SIGINT', () => isChild || end('SIGINT'));
  process.on('disconnect', () => end('the parent process disconnected'));
  return {
    get phase() {
      return phase;
    },
    run() {
      if (phase === 'starting') phase = 'running';
    },
  };
}
