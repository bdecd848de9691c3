/*
 * Turns of the event loop for large lists. Each list is completed in a turn of its own, so that other work of the process goes on
 * between two of them. Callers take turns: a list waits for one list of each other caller, not for all of them.
 */
export function createTurns(): (caller: string) => Promise<void> {
  /** What waits, by caller; the caller whose turn is next comes first. */
  const waiting = new Map<string, (() => void)[]>();
  function takeNext(): void {
    const [next] = waiting;
    if (!next) return;
    const [caller, resolvers] = next;
    const resolve = resolvers.shift();
    waiting.delete(caller);
    if (resolvers.length > 0) waiting.set(caller, resolvers);
    if (waiting.size > 0) setImmediate(takeNext);
    resolve?.();
  }
  return (caller) =>
    new Promise((resolve) => {
      if (waiting.size === 0) setImmediate(takeNext);
      const resolvers = waiting.get(caller);
      if (resolvers) resolvers.push(resolve);
      else waiting.set(caller, [resolve]);
    });
}
