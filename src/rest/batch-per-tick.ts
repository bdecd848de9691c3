/*
 * Batching per tick of the event loop.
 *
 * A busy event loop reads one socket after the other. A program that does all its work for one request before it reads the
 * next one alternates between JavaScript and system calls: parse, write a response, resolve, write a request. After each
 * change, the processor's caches contain other data, and each write wakes a peer process that has just begun to sleep.
 * Measured, these changes took a third of a request's CPU time, more than any function.
 *
 * `batchPerTick` collects the same step of many requests and runs it for all of them, one after the other. So the same code
 * runs several times in a row, and the writes follow each other. A turn of the event loop then is:
 *
 *     sockets are read:   requests and responses arrive
 *     setImmediate:       requests begin (begin.ts)      then  process.nextTick: all their calls are sent
 *     setImmediate:       all responses are received     then  process.nextTick: all results are sent, then all are logged
 *
 * A single request does not wait: the loop runs these steps as soon as it has read the request's socket.
 */

/** How many items one turn of the event loop works on; the rest waits for the next turns, between which sockets are read. */
const MAX_ITEMS = 64;

/**
 * A function that takes items and runs `work`, which must not throw, for all items of a tick in their order.
 *
 * @param schedule When `work` runs. With `setImmediate`: after the event loop has read its sockets. With `process.nextTick`:
 * after the current callback.
 */
export function batchPerTick<Item>(
  work: (item: Item) => void,
  schedule: (runAll: () => void) => void,
): (item: Item) => void {
  let batch: Item[] = [];
  const runAll = () => {
    const items = batch;
    batch = items.length > MAX_ITEMS ? items.splice(MAX_ITEMS) : [];
    if (batch.length > 0) setImmediate(runAll);
    for (const item of items) work(item);
  };
  return (item) => {
    if (batch.push(item) === 1) schedule(runAll);
  };
}
