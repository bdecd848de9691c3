/*
 * One listener on each operation's signal, however many calls of the operation wait: Node warns of a leak from the
 * eleventh listener on, and adding and removing them is what a healthy call would spend most on.
 */

/** Who wants to know when an operation's signal is aborted. */
export interface Departing {
  /** @param late Whether it is known that the operation's time is over. */
  depart(late?: boolean): void;
}

const waiting = new WeakMap<AbortSignal, Set<Departing>>();

/** Has `depart` called when the signal is aborted; in a moment when it is already. */
export function watch(signal: AbortSignal, one: Departing): void {
  if (signal.aborted) queueMicrotask(() => one.depart());
  else (waiting.get(signal) ?? listen(signal)).add(one);
}

export function unwatch(signal: AbortSignal, one: Departing): void {
  waiting.get(signal)?.delete(one);
}

function listen(signal: AbortSignal): Set<Departing> {
  const all = new Set<Departing>();
  waiting.set(signal, all);
  signal.addEventListener('abort', () => {
    for (const one of all) one.depart();
  });
  return all;
}
