/* Imports nothing of the gateway, so that main.ts can handle signals before the rest is loaded. */
import cluster from 'node:cluster';

type Handler = (signal: NodeJS.Signals) => void;

/**
 * Handles SIGTERM and SIGINT from now on: until `handle` is called, by ending the process at once. As PID 1 of a container a
 * process without handlers would ignore them.
 */
export function listenForSignals(): { handle(handler: Handler): void } {
  let handler: Handler = () => process.exit(0);
  const onSignal = (signal: NodeJS.Signals) => {
    // Ctrl-C at a terminal reaches primary and workers; the primary tells the workers when to end.
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
