/*
 * Work in stages.
 *
 * A busy event loop reads one socket after the other, and a program that does everything for one request before it looks at
 * the next one jumps back and forth: some JavaScript, a system call that writes an answer, other JavaScript, a system call
 * that writes a request. Each jump finds the processor's caches filled with something else, and each write wakes a peer that
 * has just gone to sleep. Of a request's processor time these jumps were a quarter to a third, more than any function.
 *
 * A stage collects instead what arrives while the loop reads its sockets, and works on all of it as soon as they are read:
 * first all requests that came, then all replies, then all answers. The same code runs for one after the other, writes stand
 * together, and a peer is woken once. Where nothing else is to be done nothing waits: the loop gets to its stages at once.
 *
 * The stages of a request: it arrives (gateway/server.ts), its calls are sent and their replies taken (rest/transport.ts),
 * its answer is sent (gateway/http.ts).
 */

/** Makes a stage: it takes items and does `work` for each of them, in their order, when the event loop has read its sockets. */
export function stage<Item>(work: (item: Item) => void): (item: Item) => void {
  let waiting: Item[] = [];
  const workOnAll = () => {
    const items = waiting;
    waiting = [];
    for (const item of items) work(item);
  };
  return (item) => {
    if (waiting.push(item) === 1) setImmediate(workOnAll);
  };
}
