/* The gateway's program. Signals are handled before the rest is loaded, which takes a third of a second. */
import { listenForSignals } from './process/signals.ts';

const signals = listenForSignals();
const { run } = await import('./process/run.ts');
await run(signals);
