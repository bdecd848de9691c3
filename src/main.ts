/* The gateway's program. It handles signals before it loads the other modules, which takes a third of a second. */
import cluster from 'node:cluster';

// Without handlers, a process that is PID 1 of a container ignores these signals. Until the modules are
// loaded, a signal ends the process at once.
let handle: (signal: NodeJS.Signals) => void = () => process.exit(0);
function onSignal(signal: NodeJS.Signals): void {
  // Ctrl-C at a terminal sends SIGINT to the primary and the workers. Workers end only when the primary sends SIGTERM.
  if (signal === 'SIGTERM' || !cluster.isWorker) handle(signal);
}
process.on('SIGTERM', onSignal);
process.on('SIGINT', onSignal);

const { run } = await import('./process/run.ts');
await run((handler) => {
  handle = handler;
});
