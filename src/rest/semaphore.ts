import { NotTried } from './errors.ts';

/** So many requests may be on their way at once. Others wait for their turn, first come, first served, up to a number. */
export class Semaphore {
  readonly #max: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(max: number, maxWaiting: number) {
    this.#max = max;
    this.#maxWaiting = maxWaiting;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Takes a slot: at once, or when the promise resolves. Throws a `NotTried` when too many wait already. */
  take(): Promise<void> | undefined {
    if (this.#taken < this.#max) {
      this.#taken += 1;
      return undefined;
    }
    if (this.#waiting.length >= this.#maxWaiting) throw new NotTried('too many calls wait already');
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Hands the slot on to whoever has waited longest, or gives it back. */
  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#taken -= 1;
  }
}
