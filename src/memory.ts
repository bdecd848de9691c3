/* Who uses the memory of this process for large responses, and when there is too little for more. */
import { getHeapStatistics } from 'node:v8';

/** The memory of this process, in bytes: V8's heap limit, or six tenths of a container that is too small for that (as `--check` advises). */
export const MEMORY = Math.min(getHeapStatistics().heap_size_limit, 0.6 * (process.constrainedMemory() || Infinity));

/** How many bytes of large responses the operations of each caller have, by its key. */
const held = new Map<string, number>();

/** Returns what counts the bytes of one large response for a caller; called without a number when its operation is over. */
export function createByteCount(key: string): (bytes?: number) => void {
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
