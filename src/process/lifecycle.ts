import { setTimeout } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import { flushed } from './log.ts';

export interface Stoppable {
  /** Finishes the work in flight and releases its resources. When `forced` aborts, it stops the remaining work at once. */
  stop(forced: AbortSignal): unknown;
}

export type Lifecycle = ReturnType<typeof createLifecycle>;

/** How long `stop` may take after `forced` aborted, and the last lines of the log (see `flushed`), in milliseconds. */
const STOP_WITHIN_MS = 3_500;
/** Signals closer together than this count as one: a terminal signals npm and this process, and npm forwards its signal. */
const SAME_MS = 100;
/** `onSignal` handles SIGTERM and SIGINT. After a fault such as SIGSEGV, the process must not go on. */
const FAULTS: closeWithGrace.Signals[] = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV', 'SIGUSR2'];

/**
 * Drains at a signal, then ends with 0. Drains after an uncaught error too, because the state is unknown; ends with 1.
 * @param delayMs How long requests are still accepted after the process began to drain; not after an error.
 * @param graceMs How long the work in flight may take after that.
 */
export function createLifecycle(delayMs: number, graceMs: number, log: Logger) {
  const state: { phase: 'starting' | 'running' | 'draining' } = { phase: 'starting' };
  const owned: Stoppable[] = [];
  const draining = new AbortController();
  let signalledAt: number | undefined;

  async function drain({ err }: { err?: Error }): Promise<void> {
    if (err) onError(err);
    const wait = state.phase === 'running' && !err ? delayMs : 0;
    state.phase = 'draining';
    draining.abort();
    await setTimeout(wait);
    const forced = AbortSignal.timeout(graceMs);
    for (const one of owned.reverse()) {
      try {
        await one.stop(forced);
      } catch (error) {
        log.error({ err: error }, 'failed to stop cleanly');
      }
    }
    log.info({ cut: forced.aborted, exitCode: err ? 1 : 0 }, 'stopped');
    await flushed(log);
  }

  const onError = (err: unknown) => log.fatal({ err }, 'uncaught error');
  const delay = delayMs + graceMs + STOP_WITHIN_MS;
  const skip: closeWithGrace.Signals[] = ['SIGTERM', 'SIGINT', ...FAULTS];
  const { close } = closeWithGrace({ delay, logger: false, skip, onSecondError: onError }, drain);
  return Object.assign(state, {
    /** Aborts when the process begins to drain. */
    draining: draining.signal,
    /** Stops this before the process ends. Several are stopped in reverse order. */
    stopAtEnd<Owned extends Stoppable>(one: Owned): Owned {
      owned.push(one);
      return one;
    },
    /** Drains at the first signal. A later SIGINT ends the process at once, with 1; some platforms repeat SIGTERM, as Heroku. */
    onSignal(signal: NodeJS.Signals): void {
      const isFirst = signalledAt === undefined;
      signalledAt ??= performance.now();
      if (signal === 'SIGINT' && performance.now() - signalledAt > SAME_MS) process.exit(1);
      if (isFirst) log.info({ signal, delayMs, graceMs }, 'stopping');
      if (isFirst && state.phase !== 'draining') close();
    },
  });
}
