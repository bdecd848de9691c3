import type { Logger } from 'pino';
import { flushed } from './log.ts';

/** Something that is stopped before the process ends. */
export interface Stoppable {
  /** Finishes what is in flight and releases what it holds; once `hurry` aborts, what is left is cut. */
  stop(hurry: AbortSignal): PromiseLike<unknown>;
}

/** A process from its start to its end. */
export interface Lifecycle {
  readonly phase: 'starting' | 'running' | 'draining';
  /** Aborts when the process begins to drain. */
  readonly draining: AbortSignal;
  /** Stops this before the process ends. What was given last is stopped first. */
  own<Owned extends Stoppable>(owned: Owned): Owned;
  /** The start is over. */
  run(): void;
  /** Drains and then ends the process. The first exit code is kept, unless a later one tells of a failure. */
  end(why: string, exitCode: number): void;
}

export interface LifecycleOptions {
  /** How long requests are still accepted after the process began to drain, in milliseconds; not after a failure. */
  delayMs: number;
  /** How long what is in flight may take after that, in milliseconds. */
  graceMs: number;
  log: Logger;
}

/** How long what was cut may take to close, in milliseconds. */
const CUT_MS = 1_000;

export function createLifecycle({ delayMs, graceMs, log }: LifecycleOptions): Lifecycle {
  const owned: Stoppable[] = [];
  const draining = new AbortController();
  let phase: Lifecycle['phase'] = 'starting';
  let code = 0;

  async function drain(): Promise<void> {
    const started = performance.now();
    const hurry = new AbortController();
    setTimeout(() => hurry.abort(), graceMs);
    setTimeout(() => process.exit(code), graceMs + CUT_MS);
    for (const one of owned.reverse()) {
      try {
        await one.stop(hurry.signal);
      } catch (error) {
        log.error({ err: error }, 'failed to stop cleanly');
      }
    }
    log.info({ ms: Math.round(performance.now() - started), cut: hurry.signal.aborted, exitCode: code }, 'stopped');
    await flushed(log);
    process.exit(code);
  }

  return {
    get phase() {
      return phase;
    },
    draining: draining.signal,
    own(one) {
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

/** Signals closer together than this are one: npm passes on what the terminal has sent to us already. */
const SAME_MS = 100;

/** Ends the process in order at the first signal, and at once at a second one. */
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
 * After an error that nobody caught, thrown or rejected, the state of the process is unknown: the error is logged, what is in
 * flight is finished, and the process ends with 1.
 */
export function endOnUncaught(lifecycle: Lifecycle, log: Logger): void {
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error }, origin);
    lifecycle.end(origin, 1);
  });
}
