import type { Logger } from 'pino';
import { flushed } from './log.ts';

/** Something that is stopped before the process ends. */
export interface Stoppable {
  /** Finishes the work in flight and releases its resources. When `forced` aborts, it stops the remaining work at once. */
  stop(forced: AbortSignal): PromiseLike<unknown>;
}

/** A process from its start to its end. */
export interface Lifecycle {
  readonly phase: 'starting' | 'running' | 'draining';
  /** Aborts when the process begins to drain. */
  readonly draining: AbortSignal;
  /** Stops this before the process ends. Several are stopped in reverse order. */
  stopAtEnd<Owned extends Stoppable>(owned: Owned): Owned;
  /** Marks the end of the start. */
  run(): void;
  /** Drains and then ends the process. The first exit code other than 0 is kept. */
  end(why: string, exitCode: number): void;
}

interface LifecycleOptions {
  /** How long requests are still accepted after the process began to drain, in milliseconds; not after a failure. */
  delayMs: number;
  /** How long the work in flight may take after that, in milliseconds. */
  graceMs: number;
  log: Logger;
}

/** How long to wait for `stop` after `forced` aborted, in milliseconds. */
const STOP_WITHIN_MS = 1_000;

export function createLifecycle({ delayMs, graceMs, log }: LifecycleOptions): Lifecycle {
  const owned: Stoppable[] = [];
  const draining = new AbortController();
  let phase: Lifecycle['phase'] = 'starting';
  let code = 0;

  async function drain(): Promise<void> {
    const started = performance.now();
    const forced = new AbortController();
    setTimeout(() => forced.abort(), graceMs);
    setTimeout(() => process.exit(code), graceMs + STOP_WITHIN_MS);
    for (const one of owned.reverse()) {
      try {
        await one.stop(forced.signal);
      } catch (error) {
        log.error({ err: error }, 'failed to stop cleanly');
      }
    }
    log.info({ ms: Math.round(performance.now() - started), cut: forced.signal.aborted, exitCode: code }, 'stopped');
    await flushed(log);
    process.exit(code);
  }

  return {
    get phase() {
      return phase;
    },
    draining: draining.signal,
    stopAtEnd(one) {
      owned.push(one);
      return one;
    },
    run() {
      if (phase === 'starting') phase = 'running';
    },
    end(why, exitCode) {
      code ||= exitCode;
      if (phase === 'draining') return;
      const wait = phase === 'running' && exitCode === 0 ? delayMs : 0;
      phase = 'draining';
      draining.abort();
      log.info({ why, delayMs: wait, graceMs }, 'stopping');
      if (wait > 0) setTimeout(() => void drain(), wait);
      else void drain();
    },
  };
}

/** Signals closer together than this count as one: a terminal signals npm and this process, and npm forwards its signal. */
const SAME_MS = 100;

/** Drains and ends the process at the first signal; ends it at once at a second one. */
export function endOnSignal(lifecycle: Lifecycle, log: Logger): (signal: NodeJS.Signals) => void {
  let first: number | undefined;
  return (signal) => {
    const now = performance.now();
    first ??= now;
    if (now - first > SAME_MS) void flushed(log).then(() => process.exit(1));
    else lifecycle.end(signal, 0);
  };
}

/**
 * After an uncaught error or an unhandled rejection, the state of the process is unknown. The error is logged, the work in
 * flight is finished, and the process ends with exit code 1.
 */
export function endOnUncaught(lifecycle: Lifecycle, log: Logger): void {
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error }, origin);
    lifecycle.end(origin, 1);
  });
}
