/* The gateway's program. It handles signals before it loads the other modules, which takes a third of a second. */
import { listenForSignals } from './process/signals.ts';

const signals = listenForSignals();
const { run } = await import('./process/run.ts');
await run(signals);
