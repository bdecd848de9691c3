/*
 * Turns of the event loop for large lists and responses. Each list is completed, and each response read, in a turn of its own, so
 * that other work of the process goes on between two of them. Keys alternate: what has one key waits for one of each other key.
 */
export function createTurns(): (key: string) => Promise<void> {
  /** What waits, by key; the key whose turn is next comes first. */
  const waiting = new Map<string, (() => void)[]>();
  function takeNext(): void {
    const [next] = waiting;
    if (!next) return;
    const [key, resolvers] = next;
    const resolve = resolvers.shift();
    waiting.delete(key);
    if (resolvers.length > 0) waiting.set(key, resolvers);
    if (waiting.size > 0) setImmediate(takeNext);
    resolve?.();
  }
  return (key) =>
    new Promise((resolve) => {
      if (waiting.size === 0) setImmediate(takeNext);
      const resolvers = waiting.get(key);
      if (resolvers) resolvers.push(resolve);
      else waiting.set(key, [resolve]);
    });
}

/** The turns of this process. */
export const takeTurn = createTurns();
