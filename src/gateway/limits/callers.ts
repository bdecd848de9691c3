import { LRUCache } from 'lru-cache';

/** How many callers are remembered. Whoever is forgotten for want of room has not been here for longer than the others. */
const MAX_CALLERS = 50_000;

/** What is remembered of callers, by key. Bounded by size, each being one: by number it would take the room for all at once. */
export const createCallers = <Remembered extends object>() =>
  new LRUCache<string, Remembered>({ maxSize: MAX_CALLERS, sizeCalculation: () => 1 });
