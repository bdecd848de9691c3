/*
 * Who runs where. A server that is measured has a core for itself: what its neighbours do to caches and scheduler would
 * be measured too. The REST service and the load take the other cores. That is done with `taskset`, where there is one
 * (on Linux) and more than one core; elsewhere the system places everybody.
 */
import { execFileSync } from 'node:child_process';

const cores = coresOfThisProcess();
const others = cores.slice(0, -1);

/** Whether the servers have a core for themselves. */
export const pinned = others.length > 0;

// This process makes the load.
if (pinned) taskset('--all-tasks', '--cpu-list', '--pid', others.join(), `${process.pid}`);

/** How `fork` starts Node with these arguments: `alone` on the measured core, on the `others`, or `anywhere`. */
export function placed(where, execArgv) {
  if (!pinned) return { execArgv };
  const list = { alone: cores.slice(-1), others, anywhere: cores }[where];
  return { execPath: 'taskset', execArgv: ['--cpu-list', list.join(), process.execPath, ...execArgv] };
}

/** The numbers of the cores; none where they cannot be known. */
function coresOfThisProcess() {
  try {
    // "pid 1's current affinity list: 0-2,5"
    const [, list] = taskset('--cpu-list', '--pid', `${process.pid}`).trim().split(': ');
    return list.split(',').flatMap((range) => {
      const [first, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
  } catch {
    return [];
  }
}

function taskset(...args) {
  return execFileSync('taskset', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}
