/*
 * Who runs where. A server that is measured has a core for itself: what its neighbours do to caches and scheduler would
 * be measured too. The REST service and the load take the other cores. That is done with `taskset`, where there is one
 * (on Linux) and more than one core; elsewhere the system places everybody.
 */
import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

const last = availableParallelism() - 1;
const others = `0-${last - 1}`;

/** Moves this process, which makes the load, away from the measured core. Whether that was possible. */
export const pinned = last > 0 && pinSelf();

function pinSelf() {
  try {
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', others, `${process.pid}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** How `fork` starts Node with these arguments: `alone` on the measured core, on the `others`, or `anywhere`. */
export function placed(where, execArgv) {
  if (!pinned) return { execArgv };
  const cores = { alone: `${last}`, others, anywhere: `0-${last}` }[where];
  return { execPath: 'taskset', execArgv: ['--cpu-list', cores, process.execPath, ...execArgv] };
}
