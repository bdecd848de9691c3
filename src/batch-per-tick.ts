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
export function batchPerTick(schedule: (run: () => void) => void): (work: () => void) => void {
  const waiting: (() => void)[] = [];
  let scheduled = 0;
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
