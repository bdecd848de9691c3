/*
 * Work in stages.
 *
 * A busy event loop reads one socket after the other, and a program that does everything for one request before it looks at
 * the next one jumps back and forth: some JavaScript, a system call that writes an answer, other JavaScript, a system call
 * that writes a request. Each jump finds the processor's caches filled with something else, and each write wakes a peer that
 * has just gone to sleep. These jumps took a third of a request's processor time, more than any function did.
 *
 * A stage collects instead what many requests want, and does it for all of them in one go: the same code runs for one after
 * the other, writes stand together, a peer is woken once. A turn of the event loop then looks like this:
 *
 *     sockets are read:   requests arrive, replies arrive
 *     setImmediate:       all requests begin            then  process.nextTick: all their calls are sent
 *     setImmediate:       all replies are taken         then  process.nextTick: all answers are sent, then all are logged
 *
 * Where there is one request alone nothing waits, since the loop comes to its stages as soon as it has read that one.
 */

/** How many items one turn of the event loop works on; the rest waits for the next turns, between which sockets are read. */
const MAX_ITEMS = 64;

/**
 * Makes a stage: it takes items and does `work`, which must not throw, for each of them in their order.
 *
 * @param schedule When that is: with `setImmediate`, once the event loop has read its sockets; with `process.nextTick`, once
 * everything that is going on at the moment has come to rest, promises included.
 */
export function batchPerTick<Item>(
  work: (item: Item) => void,
  schedule: (workOnAll: () => void) => void,
): (item: Item) => void {
  let waiting: Item[] = [];
  const workOnAll = () => {
    const items = waiting;
    waiting = items.length > MAX_ITEMS ? items.splice(MAX_ITEMS) : [];
    if (waiting.length > 0) setImmediate(workOnAll);
    for (const item of items) work(item);
  };
  return (item) => {
    if (waiting.push(item) === 1) schedule(workOnAll);
  };
}
