import type { FastifyBaseLogger } from 'fastify';

/** Something that ends: it finishes what it is doing and lets go of what it holds. */
export interface Closable {
  close(): PromiseLike<unknown>;
}

/**
 * Ends the process on SIGTERM and SIGINT: closes everything in the order given and exits with 0. What hangs longer than
 * `graceMs` is cut, and a second signal ends the process at once.
 */
export function stopOnSignals(closables: readonly Closable[], graceMs: number, log: FastifyBaseLogger): void {
  let stopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), graceMs).unref();
    for (const closable of closables) await closable.close();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
