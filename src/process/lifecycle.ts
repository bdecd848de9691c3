import type { Logger } from 'pino';

/** Something that ends before the process does. */
export interface Stoppable {
  /** Finishes what is under way and lets go of what it holds; once `hurry` aborts, whatever is left is cut. */
  stop(hurry: AbortSignal): PromiseLike<unknown>;
}

/** A process from its start to its end. */
export interface Lifecycle {
  readonly phase: 'starting' | 'running' | 'draining';
  /** Takes care of something from now on: at the end, what was taken last is stopped first. */
  own<Owned extends Stoppable>(owned: Owned): Owned;
  /** The start is over. */
  run(): void;
  /** Drains and then ends the process. The first exit code given stands, unless a later one tells of a failure. */
  end(why: string, exitCode: number): void;
}

/** How long what was cut may take to let go, in milliseconds, before the process ends around it. */
const CUT_MS = 1_000;

/** @param graceMs How long all that is under way may take to finish, in milliseconds. */
export function createLifecycle(graceMs: number, log: Logger): Lifecycle {
  const owned: Stoppable[] = [];
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
        log.error({ err: error }, 'could not be stopped in order');
      }
    }
    log.info({ ms: Math.round(performance.now() - started), cut: hurry.signal.aborted, exitCode: code }, 'stopped');
    log.flush(() => process.exit(code));
  }

  return {
    get phase() {
      return phase;
    },
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
      phase = 'draining';
      log.info({ why, graceMs }, 'stopping');
      void drain();
    },
  };
}

/** Signals closer together than this are one: npm passes on to us what the terminal has sent to us already. */
const SAME_MS = 100;

/** SIGTERM and SIGINT end the process in order; a second one ends it at once. */
export function endOnSignals(lifecycle: Lifecycle): void {
  let first: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    first ??= now;
    if (now - first > SAME_MS) process.exit(1);
    lifecycle.end(signal, 0);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/**
 * An error that nobody caught, thrown or rejected, leaves the process in a state nobody knows: it is told, what is under
 * way is finished, and the process ends with 1.
 */
export function endOnUncaught(lifecycle: Lifecycle, log: Logger): void {
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ err: error }, origin);
    lifecycle.end(origin, 1);
  });
}
