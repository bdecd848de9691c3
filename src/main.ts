/* The gateway's program. It handles signals before it loads the other modules, which takes a third of a second. */
import { setFlagsFromString } from 'node:v8';

// Otherwise V8 can create the data of operations in its old generation: it stays until a full collection (docs/decisions/benchmark-notes.md).
setFlagsFromString('--no-allocation-site-pretenuring');
// Without handlers, a process that is PID 1 of a container ignores these signals. Until the modules are
// loaded, a signal ends the process at once.
let handle: (signal: NodeJS.Signals) => void = () => process.exit(0);
process.on('SIGTERM', (signal) => handle(signal));
process.on('SIGINT', (signal) => handle(signal));

const { run } = await import('./process/run.ts');
await run((handler) => {
  handle = handler;
});
