import type { Caller } from '../access/caller.ts';

/** The largest share of the slots that one caller may hold. */
const CALLER_SHARE = 1 / 8;
/** How many bytes of responses may wait to be sent, of all callers and of one. */
const MAX_BYTES = 64 * 1_024 * 1_024;
const MAX_BYTES_OF_CALLER = 16 * 1_024 * 1_024;

interface Held {
  requests: number;
  bytes: number;
}

/**
 * Bounds the requests in flight of a process, and of each caller, and the bytes of their responses. A request takes a slot
 * before its body is read, so the memory of bodies and operations is bounded. Nothing waits: without a free slot the request
 * is refused.
 */
export class Slots {
  readonly #max: number;
  readonly #maxOfCaller: number;
  readonly #byCaller = new Map<string, Held>();
  readonly #all: Held = { requests: 0, bytes: 0 };

  constructor(max: number) {
    this.#max = max;
    this.#maxOfCaller = Math.max(1, Math.ceil(max * CALLER_SHARE));
  }

  get active(): number {
    return this.#all.requests;
  }

  /** Takes a slot; undefined when there is none for this caller. */
  take({ key }: Caller): Slot | undefined {
    const own = this.#byCaller.get(key) ?? { requests: 0, bytes: 0 };
    if (this.#all.requests >= this.#max || own.requests >= this.#maxOfCaller) return undefined;
    this.#byCaller.set(key, own);
    const holders = [this.#all, own];
    for (const holder of holders) holder.requests += 1;
    let held = 0;
    return {
      fits: (bytes) => {
        if (this.#all.bytes + bytes > MAX_BYTES || own.bytes + bytes > MAX_BYTES_OF_CALLER) return false;
        for (const holder of holders) holder.bytes += bytes;
        held += bytes;
        return true;
      },
      give: () => {
        for (const holder of holders) {
          holder.requests -= 1;
          holder.bytes -= held;
        }
        if (own.requests === 0) this.#byCaller.delete(key);
      },
    };
  }
}

/** The place of one request in flight. */
export interface Slot {
  /** Counts a response that waits to be sent; false when there are too many bytes already. */
  fits(bytes: number): boolean;
  /** Gives the slot back. Called once. */
  give(): void;
}
