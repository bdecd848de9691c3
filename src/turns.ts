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
    if (scheduled >= Math.min(waiting.length / PART, MAX_PARTS)) return;
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
 * the process goes on between two of them. Callers alternate, and so do the players of one caller.
 */
export function createTurns(): (caller: string, player?: string) => Promise<void> {
  /** What waits, by caller and player; those whose turn is next come first. */
  const waiting = new Map<string, Map<string, (() => void)[]>>();
  function takeNext(): void {
    const [[caller, ofCaller] = ['', new Map<string, (() => void)[]>()]] = waiting;
    const [[player, resolvers] = ['', []]] = ofCaller;
    const resolve = resolvers.shift();
    ofCaller.delete(player);
    if (resolvers.length > 0) ofCaller.set(player, resolvers);
    waiting.delete(caller);
    if (ofCaller.size > 0) waiting.set(caller, ofCaller);
    if (waiting.size > 0) setImmediate(takeNext);
    resolve?.();
  }
  return (caller, player = '') =>
    new Promise((resolve) => {
      if (waiting.size === 0) setImmediate(takeNext);
      const ofCaller = waiting.get(caller) ?? new Map<string, (() => void)[]>();
      waiting.set(caller, ofCaller.set(player, [...(ofCaller.get(player) ?? []), resolve]));
    });
}

/** The turns of this process. */
export const takeTurn = createTurns();

/** The memory of this process, in bytes: V8's heap limit, or three quarters of a container that is too small for that. */
export const MEMORY = Math.min(getHeapStatistics().heap_size_limit, 0.75 * (process.constrainedMemory() || Infinity));

/** How many bytes of large responses the operations of each caller have, by its key. */
const held = new Map<string, number>();

/** Returns what counts the bytes of one large response for a caller; called without a number when its operation is over. */
export function createHold(key: string): (bytes?: number) => void {
  let counted = 0;
  return (bytes = 0) => {
    const own = (held.get(key) ?? 0) + bytes - counted;
    counted = bytes;
    if (own > 0) held.set(key, own);
    else held.delete(key);
  };
}

/** The shares of the memory above which large work is refused: of callers that hold the average or more, and of all callers. */
const MAX_SHARE = 0.7;
const MAX_SHARE_OF_ALL = 0.85;

/** Whether large work of a caller is to be refused, because the heap and the buffers beside it take too much of the memory. */
export function isMemoryShort(key: string): boolean {
  const { used_heap_size: heap, external_memory: buffers } = getHeapStatistics();
  const share = (heap + buffers) / MEMORY;
  if (share <= MAX_SHARE || share > MAX_SHARE_OF_ALL) return share > MAX_SHARE;
  const average = [...held.values()].reduce((sum, bytes) => sum + bytes, 0) / Math.max(1, held.size);
  return (held.get(key) ?? 0) >= average;
}
