/* Imports no other module of the gateway, so that main.ts can handle signals before it loads them. */
import cluster from 'node:cluster';

type Handler = (signal: NodeJS.Signals) => void;

/**
 * Handles SIGTERM and SIGINT from now on. Until `handle` is called, a signal ends the process at once. Without handlers, a
 * process that is PID 1 of a container ignores these signals.
 */
export function listenForSignals(): { handle(handler: Handler): void } {
  let handler: Handler = () => process.exit(0);
  const onSignal = (signal: NodeJS.Signals) => {
    // Ctrl-C at a terminal sends SIGINT to the primary and the workers. Workers end only when the primary sends SIGTERM.
    if (signal === 'SIGTERM' || !cluster.isWorker) handler(signal);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return {
    handle(next) {
      handler = next;
    },
  };
}
