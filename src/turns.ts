/* How work shares the turns of the event loop: small work in batches, large work in turns of its own. */

/** How many functions run in one part, and how many parts in one turn of the event loop; the rest waits. */
const PART = 16;
const MAX_PARTS = 4;

/**
 * Returns a function that runs the work of one turn together, in its order, in parts of 16; the work must not throw.
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
 * Turns of their own for large lists and responses, each of which is completed or read in one. Callers alternate, and so do the
 * players of one caller. Between two turns is an iteration of the event loop without one: what arrived during the first, a request
 * or a response of the service, is continued before the second.
 */
export function createTurns(): (caller: string, player?: string) => Promise<void> {
  /** What waits, by caller and player; those whose turn is next come first. */
  const waiting = new Map<string, Map<string, (() => void)[]>>();
  const schedule = () => setImmediate(setImmediate, takeNext);
  function takeNext(): void {
    const [[caller, ofCaller] = ['', new Map<string, (() => void)[]>()]] = waiting;
    const [[player, resolvers] = ['', []]] = ofCaller;
    const resolve = resolvers.shift();
    ofCaller.delete(player);
    if (resolvers.length > 0) ofCaller.set(player, resolvers);
    waiting.delete(caller);
    if (ofCaller.size > 0) waiting.set(caller, ofCaller);
    if (waiting.size > 0) schedule();
    resolve?.();
  }
  return (caller, player = '') =>
    new Promise((resolve) => {
      if (waiting.size === 0) schedule();
      const ofCaller = waiting.get(caller) ?? new Map<string, (() => void)[]>();
      const resolvers = ofCaller.get(player) ?? [];
      resolvers.push(resolve);
      waiting.set(caller, ofCaller.set(player, resolvers));
    });
}

export const takeTurn = createTurns();
