/* How work shares the turns of the event loop: small work in batches, large work in turns of its own, while there is memory. */
import { getHeapStatistics } from 'node:v8';

/** How many functions run in one part, and how many parts in one turn of the event loop; the rest waits. */
const PART = 16;
const MAX_PARTS = 4;

/**
 * Returns a function that runs the work of one turn together, in its order, in parts of 16; the work must not throw.
 *
 * Requests are begun, sent upstream and answered in such parts. Otherwise JavaScript and system calls alternate for each of
 * them, and the processor's caches contain other code each time: a third more CPU time (docs/decisions/benchmark-notes.md). A
 * request alone does not wait: the event loop runs it as soon as it has read the sockets.
 */
export function batchPerTurn(schedule: (run: () => void) => void): (work: () => void) => void {
  const waiting: (() => void)[] = [];
  let scheduled = 0;
  /** Schedules one more part, unless those that are scheduled run all that waits. */
  const scheduleBy = (when: typeof schedule) => {
    const isEnough = scheduled * PART >= waiting.length;
    if (isEnough || scheduled === MAX_PARTS) return;
    scheduled += 1;
    when(run);
  };
  const run = () => {
    scheduled -= 1;
    for (const work of waiting.splice(0, PART)) work();
    scheduleBy(setImmediate);
  };
  return (work) => {
    waiting.push(work);
    scheduleBy(schedule);
  };
}

/**
 * Turns of their own for large lists and responses. Each list is completed, and each response read, in one, so that other work of
 * the process goes on between two of them. Keys alternate: what has one key waits for one of each other key.
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

/** The share of V8's heap limit that the heap, and the buffers beside it, may take while large work is begun. */
const MAX_MEMORY_SHARE = 0.7;

/** Whether large work is to be refused: what becomes of it stays in memory until its operation is over. */
export function isMemoryShort(): boolean {
  const { used_heap_size: heap, external_memory: buffers, heap_size_limit: limit } = getHeapStatistics();
  return heap + buffers > limit * MAX_MEMORY_SHARE;
}
