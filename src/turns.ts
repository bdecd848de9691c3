/*
 * Turns of the event loop for large lists and responses. Each list is completed, and each response read, in a turn of its own, so
 * that other work of the process goes on between two of them. Owners take turns: what is of one waits for one of each other owner.
 */
export function createTurns<Owner>(): (owner: Owner) => Promise<void> {
  /** What waits, by owner; the owner whose turn is next comes first. */
  const waiting = new Map<Owner, (() => void)[]>();
  function takeNext(): void {
    const [next] = waiting;
    if (!next) return;
    const [owner, resolvers] = next;
    const resolve = resolvers.shift();
    waiting.delete(owner);
    if (resolvers.length > 0) waiting.set(owner, resolvers);
    if (waiting.size > 0) setImmediate(takeNext);
    resolve?.();
  }
  return (owner) =>
    new Promise((resolve) => {
      if (waiting.size === 0) setImmediate(takeNext);
      const resolvers = waiting.get(owner);
      if (resolvers) resolvers.push(resolve);
      else waiting.set(owner, [resolve]);
    });
}
