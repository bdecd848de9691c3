import { afterEach, jest } from '@jest/globals';

/** A timer of this many milliseconds or more is the end of an attempt, not a pause. */
const ATTEMPT_MS = 15_000;

/**
 * From now on, no test of the file waits for a pause: shorter timers end at once. Returns the pauses of the test that runs, in
 * milliseconds, as they were asked for.
 */
export function skipPauses(): number[] {
  const { setTimeout: later } = globalThis;
  const pauses: number[] = [];
  const skip = (run: () => void, milliseconds = 0) => {
    // Without `unref`, that of an attempt that never ends would keep the process alive.
    if (milliseconds >= ATTEMPT_MS) return later(run, milliseconds).unref();
    pauses.push(milliseconds);
    return later(run, 0);
  };
  globalThis.setTimeout = Object.assign(skip, later);
  afterEach(() => {
    pauses.splice(0);
    // A test can have a clock of its own.
    jest.useRealTimers();
  });
  return pauses;
}

/** A pause of at least so many milliseconds, with a random share of up to a half on top. */
export const pauseOf = (least: number) => ({
  asymmetricMatch: (pause: unknown) => Number(pause) >= least && Number(pause) < least * 1.5,
  toString: () => `a pause of ${least} to ${least * 1.5} ms`,
});
