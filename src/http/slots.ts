import type { Caller } from '../access/caller.ts';

/** The largest share of the slots that one caller may hold. */
const CALLER_SHARE = 1 / 8;

/**
 * Bounds the requests in flight of a process, and of each caller. A request takes a slot before its body is read, so the
 * memory of bodies and operations is bounded. Nothing waits: without a free slot the request is refused.
 */
export class Slots {
  readonly #max: number;
  readonly #maxOfCaller: number;
  readonly #byCaller = new Map<string, number>();
  #active = 0;

  constructor(max: number) {
    this.#max = max;
    this.#maxOfCaller = Math.max(1, Math.ceil(max * CALLER_SHARE));
  }

  get active(): number {
    return this.#active;
  }

  /** Takes a slot; false when there is none for this caller. `give` gives it back, once. */
  take({ key }: Caller): boolean {
    const held = this.#byCaller.get(key) ?? 0;
    if (this.#active >= this.#max || held >= this.#maxOfCaller) return false;
    this.#active += 1;
    this.#byCaller.set(key, held + 1);
    return true;
  }

  give({ key }: Caller): void {
    const held = this.#byCaller.get(key) ?? 0;
    this.#active -= 1;
    if (held > 1) this.#byCaller.set(key, held - 1);
    else this.#byCaller.delete(key);
  }
}
